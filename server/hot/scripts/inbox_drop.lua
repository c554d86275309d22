-- ARGV: session item
return {'OK', redis.call('LREM', INBOX, 1, ARGV[2])}
