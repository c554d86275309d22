-- ARGV: session tombstone_ttl_ms
local before = redis.call('GET', TOMBSTONE)
if before then return {'OK', before} end
local id = journal('erase', 'rev', redis.call('HGET', META, 'rev') or '0')
redis.call('DEL', META, STATE, EVENTS, EMBEDDINGS, RECEIPTS, INBOX)
redis.call('SET', TOMBSTONE, 'erasing ' .. id, 'PX', ARGV[2])
wake('erased', '-')
return {'OK', 'erasing ' .. id}
