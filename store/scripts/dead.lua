-- Sets an entry aside and acknowledges it, in one step, once: a command whose reply
-- was lost comes again.
-- KEYS: dead, inbound stream
-- ARGV: group, entry, reason, fields (JSON)
-- Returns 1, or 0 where the group does not hold the entry (any more).
local held = redis.pcall('XPENDING', KEYS[2], ARGV[1], ARGV[2], ARGV[2], 1)
if #held == 0 then return 0 end -- an error has no length either
redis.call('XADD', KEYS[1], 'MAXLEN', '10000', '*', 'reason', ARGV[3], 'stream', KEYS[2],
  'entry', ARGV[2], 'fields', ARGV[4])
redis.call('XACK', KEYS[2], ARGV[1], ARGV[2])
return 1
