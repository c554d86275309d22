-- ARGV: session
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
return view(meta)
