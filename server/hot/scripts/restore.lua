-- ARGV: session nonce epoch rev ttl_ms state p_key p_payload p_digest p_attempt p_failed p_turn token (field value)...
local nonce, epoch, rev = ARGV[2], ARGV[3], ARGV[4]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
local before = repeated(meta, nonce)
if before then return before end
if meta.rev then return {'EXISTS'} end -- guard:exists
redis.call('DEL', EVENTS, EMBEDDINGS, RECEIPTS)
redis.call('SET', STATE, ARGV[6])
redis.call('HSET', META, 'rev', rev, 'epoch', epoch, 'owner', '', 'jid', '', 'token', ARGV[13])
if ARGV[7] ~= '' then
  redis.call('HSET', META, 'p_key', ARGV[7], 'p_payload', ARGV[8], 'p_digest', ARGV[9], 'p_attempt', ARGV[10],
    'p_failed', ARGV[11], 'p_turn', ARGV[12])
end
for i = 14, #ARGV, 2 do redis.call('HSET', RECEIPTS, ARGV[i], ARGV[i + 1]) end
local result = remember(nonce, {'OK', epoch})
expire(ARGV[5])
return result
