-- ARGV: session owner ttl_ms. Whoever uses a session keeps it from expiring; without an expiry there is nothing to do.
local owner = redis.call('HGET', META, 'owner')
if redis.call('EXISTS', META) == 0 then return {'NOT_FOUND'} end
if owner ~= ARGV[2] then return {'OK', 0} end
if redis.call('PTTL', META) >= 0 then expire(ARGV[3]) end
return {'OK', 1}
