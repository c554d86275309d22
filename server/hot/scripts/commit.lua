-- ARGV: session owner rev turn_key mode state record receipt n_events event... (field vector)...
-- mode: turn (answers the pending answer), keep (a command; the pending answer stays), drop (gives it up).
local owner, rev, key, mode, state = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local record, receipt, n_events = ARGV[7], ARGV[8], tonumber(ARGV[9])
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
local slot = (mode == 'turn' and 't:' or 'c:') .. key
local done = redis.call('HGET', RECEIPTS, slot)
if done then return {'COMMITTED', done} end -- guard:turn_key
if meta.owner ~= owner then return {'NOT_OWNER', meta.owner or ''} end -- guard:owner
if meta.rev ~= rev then return {'CONFLICT', meta.rev} end -- guard:rev
if mode == 'turn' and meta.p_key ~= key then return {'CONFLICT', meta.rev} end -- guard:turn_key
if mode == 'turn' and meta.p_failed == '1' then return {'CONFLICT', meta.rev} end -- guard:failed

local digest, turn, attempt = '-', '', '0'
if mode == 'turn' then digest, turn, attempt = meta.p_digest or '-', meta.p_turn or '', meta.p_attempt or '1' end
if mode == 'drop' and meta.p_key and meta.p_key ~= '' then
  redis.call('HSET', RECEIPTS, 's:' .. meta.p_key, meta.p_digest)
  journal('superseded', 'rev', rev, 'key', meta.p_key, 'digest', meta.p_digest, 'turn', meta.p_turn,
    'attempt', meta.p_attempt, 'payload', meta.p_payload)
end
local new_rev = string.format('%d', tonumber(rev) + 1)
local first = redis.call('LLEN', EVENTS) + 1
for i = 10, 9 + n_events do append(ARGV[i]) end
for i = 10 + n_events, #ARGV, 200 do
  redis.call('HSET', EMBEDDINGS, unpack(ARGV, i, math.min(i + 199, #ARGV)))
end
redis.call('SET', STATE, state)
local id = journal('commit', 'rev', new_rev, 'key', key, 'mode', mode, 'digest', digest, 'turn', turn,
  'attempt', attempt, 'state', state, 'data', record, 'receipt', receipt)
redis.call('HSET', META, 'rev', new_rev, 'jid', id)
if mode ~= 'keep' then redis.call('HDEL', META, 'p_key', 'p_payload', 'p_digest', 'p_attempt', 'p_failed', 'p_turn') end
local head = string.format('%s %s %d %d %s\n', digest, new_rev, first, n_events, id)
redis.call('HSET', RECEIPTS, slot, head .. receipt)
persist()
return {'COMMITTED', head .. receipt}
