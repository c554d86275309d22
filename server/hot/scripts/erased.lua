-- ARGV: session journal_id tombstone_ttl_ms. The writer confirms that nothing is left.
if redis.call('EXISTS', META) == 1 then return {'OK', 0} end
redis.call('SET', TOMBSTONE, 'erased ' .. ARGV[2], 'PX', ARGV[3])
return {'OK', 1}
