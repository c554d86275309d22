-- ARGV: session journal_id ttl_ms. The session's keys may expire once its last record is in the store.
local id = redis.call('HGET', META, 'jid')
if id ~= ARGV[2] then return {'OK', 0} end -- guard:stored
expire(ARGV[3])
return {'OK', 1}
