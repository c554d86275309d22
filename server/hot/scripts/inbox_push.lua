-- ARGV: session item limit ttl_ms
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
if redis.call('LPOS', INBOX, ARGV[2]) == false then
  if redis.call('LLEN', INBOX) >= tonumber(ARGV[3]) then return {'INBOX_FULL'} end
  redis.call('RPUSH', INBOX, ARGV[2])
end
redis.call('PEXPIRE', INBOX, ARGV[4])
local owner = redis.call('HGET', META, 'owner') or ''
wake('inbox', owner)
return {'OK', owner}
