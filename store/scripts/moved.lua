-- Records that a group goes on under another id, and has what is open there
-- looked at. The latest word holds: what would lead back is forgotten.
-- KEYS: moved, dirty, wake
-- ARGV: prefix, old chat, new chat, retention
-- Returns 1 where that is news.
local prefix, old, new = ARGV[1], ARGV[2], ARGV[3]
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if redis.call('HGET', KEYS[1], old) == new then return 0 end
redis.call('HDEL', KEYS[1], old)
if home(prefix, new) == old then redis.call('HDEL', KEYS[1], new) end
redis.call('HSET', KEYS[1], old, new)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'bot:open:' .. old, 0, -1)) do
  touch(prefix, id, KEYS[2], KEYS[3])
end
return 1
