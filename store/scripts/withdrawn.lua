-- Remembers a withdrawal whose request has not come yet, by the stream it came by:
-- what another stream withdraws changes nothing.
-- KEYS: row, withdrawn
-- ARGV: stream, reason, ms to remember
-- Returns 1, or 0 where the row is there already.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
