-- ARGV: session owner ttl_ms. Whoever uses a session keeps it from expiring; without an expiry, or with nearly all of
-- it left, there is nothing to do.
local owner = redis.call('HGET', META, 'owner')
if redis.call('EXISTS', META) == 0 then return {'NOT_FOUND'} end
if owner ~= ARGV[2] then return {'OK', 0} end
local left = redis.call('PTTL', META)
if left >= 0 and (left < 0.9 * ARGV[3] or left > tonumber(ARGV[3])) then expire(ARGV[3]) end
return {'OK', 1}
