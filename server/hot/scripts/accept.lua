-- ARGV: session nonce owner rev turn_key digest rerun turn_number payload journal_limit event first_event...
-- first_event: appended before `event`, by the first attempt of this answer only.
local nonce, owner, rev, key, digest = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local rerun, turn, payload, limit, event = ARGV[7] == '1', ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
local before = repeated(meta, nonce)
if before then return before end

local function committed(done)
  if string.sub(done, 1, #digest + 1) ~= digest .. ' ' then return {'KEY_REUSED'} end
  return {'COMMITTED', done}
end

local done = redis.call('HGET', RECEIPTS, 't:' .. key)
if done then return committed(done) end -- guard:turn_key
if redis.call('HEXISTS', RECEIPTS, 's:' .. key) == 1 then return {'SUPERSEDED'} end -- guard:superseded
if meta.owner ~= owner then return {'NOT_OWNER', meta.owner or ''} end -- guard:owner
if meta.rev ~= rev then return {'CONFLICT', meta.rev} end -- guard:rev

local attempt, superseded = 1, ''
if meta.p_key and meta.p_key ~= '' then
  local same, failed = meta.p_key == key, meta.p_failed == '1'
  if same and meta.p_digest ~= digest then return {'KEY_REUSED'} end -- guard:digest
  if not same and not failed then return {'IN_PROGRESS', meta.p_key} end -- guard:pending
  if same and not failed and not rerun then return {'PENDING', tonumber(meta.p_attempt)} end
  if same then attempt = tonumber(meta.p_attempt) + 1 else superseded = meta.p_key end
end
if redis.call('XLEN', JOURNAL) >= limit then return {'FULL'} end -- guard:journal_bound

if superseded ~= '' then
  redis.call('HSET', RECEIPTS, 's:' .. superseded, meta.p_digest)
  journal('superseded', 'rev', rev, 'key', superseded, 'digest', meta.p_digest, 'turn', meta.p_turn,
    'attempt', meta.p_attempt, 'payload', meta.p_payload)
end
local first_id = redis.call('LLEN', EVENTS) + 1
local last = #ARGV
if attempt > 1 then last = 11 end -- guard:first_attempt
for i = 12, last do append(ARGV[i]) end
local event_id = append(event, string.format('"attempt":%d,', attempt))
local id = journal('accept', 'rev', rev, 'key', key, 'digest', digest, 'turn', turn,
  'attempt', tostring(attempt), 'payload', payload)
redis.call('HSET', META, 'p_key', key, 'p_payload', payload, 'p_digest', digest, 'p_attempt', tostring(attempt),
  'p_failed', '0', 'p_turn', turn, 'jid', id)
persist()
return remember(nonce, {'ACCEPTED', attempt, event_id, id, superseded, first_id})
