-- Keeps what the owners know of, with the audit line and the notices of what is new in
-- it: all of them or none, and once, whoever else looks at the same.
-- KEYS: settings, audit, dirty, wake, notice...
-- ARGV: name, value as it was read, new value, audit line ('' for none), retention, then for each notice:
--       id, chat, notice
-- Returns ok | again
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 'again' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if ARGV[4] ~= '' then
  redis.call('RPUSH', KEYS[2], ARGV[4])
end
for i = 5, #KEYS do
  local at = 3 * (i - 5) + 6
  redis.call('HSET', KEYS[i], 'notice', ARGV[at + 2], 'chat', ARGV[at + 1])
  redis.call('PEXPIRE', KEYS[i], ARGV[5])
  mark(KEYS[3], KEYS[4], 'n:' .. ARGV[at], now_ms())
end
return 'ok'
