-- What of a sorted set is due.
-- KEYS: sorted set
-- ARGV: limit
-- Returns {now, ms until the next one or -1, how many are urgent, members...}
local now = now_ms()
local r = {text(now), '-1', redis.call('ZCOUNT', KEYS[1], '-inf', URGENT)}
for _, m in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'LIMIT', 0, ARGV[1])) do
  r[#r + 1] = m
end
local later = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if later[2] then r[2] = text(tonumber(later[2]) - now) end
return r
