-- Records that a group goes on under another id, and has what is open there
-- looked at. What would lead in a circle is nonsense and changes nothing.
-- KEYS: moved, dirty, wake
-- ARGV: prefix, old chat, new chat, retention
-- Returns 1 where that is news, 0 where it is known, -1 where it is nonsense.
local prefix, old, new = ARGV[1], ARGV[2], ARGV[3]
local at = new
for _ = 1, 8 do
  if at == old then return -1 end
  at = redis.call('HGET', KEYS[1], at) or ''
end
local known = redis.call('HGET', KEYS[1], old)
redis.call('HSET', KEYS[1], old, new)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if known == new then return 0 end
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'bot:open:' .. old, 0, -1)) do
  touch(prefix, id, KEYS[2], KEYS[3])
end
return 1
