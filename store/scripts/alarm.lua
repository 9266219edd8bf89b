-- Decides whether a call that ran unapproved is told to the owners: once per
-- approval, and at most once in a while per runtime.
-- KEYS: alarms, alarmed
-- ARGV: runtime, ms of quiet per runtime, ms to remember the approval
-- Returns 1 to tell, 0 not to.
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
local now = now_ms()
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
local last = redis.call('HGET', KEYS[1], ARGV[1])
if last and now - tonumber(last) < tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], text(now))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
