-- Marks an approval as to be looked at, though its row has not changed. The marks are
-- counted, so that whoever has looked before does not take this one off.
-- KEYS: row, dirty, wake
-- ARGV: id, when ('': now)
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'marks', 1) end
mark(KEYS[2], KEYS[3], 'a:' .. ARGV[1], tonumber(ARGV[2]) or now_ms())
return 1
