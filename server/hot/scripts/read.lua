-- ARGV: session
if redis.call('EXISTS', GONE) == 1 then return {'GONE'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
return view(meta)
