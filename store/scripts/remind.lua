-- Makes the reminders of one approval due, once, while it is open.
-- KEYS: row, memory, reminders, dirty, wake
-- ARGV: id
local state = redis.call('HGET', KEYS[1], 'state')
redis.call('ZREM', KEYS[3], ARGV[1])
if state ~= 'open' then return 0 end
if redis.call('HSETNX', KEYS[2], 'remind', '1') == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'rev', 1)
mark(KEYS[4], KEYS[5], 'a:' .. ARGV[1], now_ms())
return 1
