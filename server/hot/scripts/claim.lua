-- ARGV: session owner ttl_ms
local owner, ttl_ms = ARGV[2], ARGV[3]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
local previous = meta.owner or ''
redis.call('HSET', META, 'owner', owner)
if redis.call('PTTL', META) >= 0 then expire(ttl_ms) end
if previous ~= '' and previous ~= owner then wake('claimed', owner) end
meta.owner = owner
return view(meta)
