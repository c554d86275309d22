-- ARGV: session nonce owner turn_key event record
local nonce, owner, key, event, record = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
local before = repeated(meta, nonce)
if before then return before end
if meta.owner ~= owner then return {'NOT_OWNER', meta.owner or ''} end -- guard:owner
if meta.p_key ~= key or meta.p_failed == '1' then return {'CONFLICT', meta.rev} end -- guard:turn_key
local event_id = append(event)
local id = journal('fail', 'rev', meta.rev, 'key', key, 'digest', meta.p_digest, 'turn', meta.p_turn,
  'attempt', meta.p_attempt, 'payload', meta.p_payload, 'data', record)
redis.call('HSET', META, 'p_failed', '1', 'jid', id)
persist()
return remember(nonce, {'OK', event_id, id})
