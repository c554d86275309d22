-- ARGV: session nonce epoch rev state record token event...
local nonce, epoch, rev, state, record = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local token = ARGV[7]
if redis.call('EXISTS', TOMBSTONE) == 1 then return {'ERASED'} end -- guard:tombstone
local meta = load_meta()
local before = repeated(meta, nonce)
if before then return before end
if meta.rev then return {'EXISTS'} end -- guard:exists
redis.call('SET', STATE, state)
for i = 8, #ARGV do append(ARGV[i]) end
local id = journal('create', 'rev', rev, 'state', state, 'data', record)
redis.call('HSET', META, 'rev', rev, 'epoch', epoch, 'owner', '', 'jid', id, 'token', token)
return remember(nonce, {'OK', epoch, #ARGV - 7, id})
