-- ARGV: session nonce owner record
-- For the record alone: state, revision and pending answer stay. Whoever writes it names an owner, or nobody ('').
local nonce, owner, record = ARGV[2], ARGV[3], ARGV[4]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
if not meta.rev then return {'NOT_FOUND'} end
if meta.note == nonce then return {'OK', meta.note_id} end -- guard:nonce
if owner ~= '' and meta.owner ~= owner then return {'NOT_OWNER', meta.owner or ''} end -- guard:owner
local id = journal('note', 'rev', meta.rev, 'data', record)
-- Not by `remember`: an accept or a fail whose answer was lost may still be asked again.
redis.call('HSET', META, 'note', nonce, 'note_id', id, 'jid', id)
persist()
return {'OK', id}
