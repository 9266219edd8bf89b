-- Decides whether a call that ran unapproved is told to the owners: once per
-- approval, and at most once in a while per runtime. The entry that was told is
-- told again if it comes again: a kill may have come before the telling.
-- KEYS: alarms, alarmed
-- ARGV: runtime, ms of quiet per runtime, ms to remember the approval, entry
-- Returns 1 to tell, 0 not to.
local told = redis.call('GET', KEYS[2])
if told then return told == ARGV[4] and 1 or 0 end
local now = now_ms()
local last = redis.call('HGET', KEYS[1], ARGV[1])
if last and now - tonumber(last) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], '', 'PX', ARGV[3])
  return 0
end
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], text(now))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
