-- Sets an entry aside and acknowledges it, in one step.
-- KEYS: dead, inbound stream
-- ARGV: group, entry, reason, fields (JSON)
redis.call('XADD', KEYS[1], 'MAXLEN', '10000', '*', 'reason', ARGV[3], 'stream', KEYS[2],
  'entry', ARGV[2], 'fields', ARGV[4])
return redis.call('XACK', KEYS[2], ARGV[1], ARGV[2])
