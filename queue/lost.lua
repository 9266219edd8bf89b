-- Finds entries that were trimmed before the group had read them, and tells of them
-- once, whoever asks. Where no entry that was read is left, the stream holds just what
-- is unread, and the lag beyond that is gone. Redis 7.0 keeps what is gone in the lag,
-- newer ones forget it with the next read: what was told is therefore remembered, and
-- never more than the lag. A server that tells no lag, or may not, loses in silence.
-- KEYS: inbound stream, what was told (hash)
-- ARGV: group
-- Returns how many are newly known to be gone.
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
local length = redis.pcall('XLEN', KEYS[1])
if groups.err or type(length) ~= 'number' then return 0 end
local lag, last
for _, flat in ipairs(groups) do
  local g = {}
  for i = 1, #flat, 2 do g[flat[i]] = flat[i + 1] end
  if g.name == ARGV[1] then lag, last = tonumber(g.lag or ''), g['last-delivered-id'] end
end
local told = tonumber(redis.call('HGET', KEYS[2], KEYS[1]) or '0')
local gone = 0
if lag and lag > length then
  local first = redis.pcall('XRANGE', KEYS[1], '-', '+', 'COUNT', '1')
  if first.err then return 0 end
  if first[1] then
    local ms, seq = string.match(first[1][1], '(%d+)-(%d+)')
    local read_ms, read_seq = string.match(last, '(%d+)-(%d+)')
    ms, seq, read_ms, read_seq = tonumber(ms), tonumber(seq), tonumber(read_ms), tonumber(read_seq)
    if ms < read_ms or (ms == read_ms and seq <= read_seq) then return 0 end
  end
  gone = lag - length
else
  gone = math.min(told, lag or 0)
end
if gone > 0 then
  redis.call('HSET', KEYS[2], KEYS[1], string.format('%.0f', gone))
elseif told > 0 then
  redis.call('HDEL', KEYS[2], KEYS[1])
end
return math.max(gone - told, 0)
