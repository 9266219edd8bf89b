-- Takes or keeps the lease for polling and sending. Decided by a stored time,
-- never by a key's absence.
-- KEYS: lease
-- ARGV: holder, time to live (0 gives it up)
-- Returns {number, ms left}; number is 0 where another holds it.
local now = now_ms()
local l = redis.call('HMGET', KEYS[1], 'holder', 'until', 'number')
local ttl = tonumber(ARGV[2])
local held = l[2] and tonumber(l[2]) > now
if ttl == 0 then
  if l[1] == ARGV[1] and held then redis.call('HSET', KEYS[1], 'until', '0') end
  return {'0', '0'}
end
if held and l[1] ~= ARGV[1] then return {'0', text(tonumber(l[2]) - now)} end
local number = l[3] or '0'
if not held then number = text(redis.call('HINCRBY', KEYS[1], 'number', 1)) end
redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', text(now + ttl))
return {number, text(ttl)}
