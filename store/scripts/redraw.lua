-- Forgets how an approval's cards were drawn, so that all of them are drawn anew.
-- KEYS: cards, dirty, wake, row
-- ARGV: prefix, id
for _, cid in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local card = ARGV[1] .. 'bot:card:' .. cid
  for _, field in ipairs(redis.call('HKEYS', card)) do
    if field == 'drawn' or string.sub(field, 1, 5) == 'copy:' then redis.call('HSET', card, field, '') end
  end
end
if redis.call('EXISTS', KEYS[4]) == 1 then redis.call('HINCRBY', KEYS[4], 'marks', 1) end -- see touch.lua
mark(KEYS[2], KEYS[3], 'a:' .. ARGV[2], now_ms())
return 1
