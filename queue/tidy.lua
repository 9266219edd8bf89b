-- Deletes consumers that read nothing for long and hold nothing: the pending
-- count is looked at in the same step, since deleting a consumer would take
-- its pending entries with it.
-- KEYS: inbound stream
-- ARGV: group, idle ms, the consumer to keep
-- Returns how many were deleted.
local deleted = 0
for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local c = {}
  for i = 1, #flat, 2 do c[flat[i]] = flat[i + 1] end
  if c.name ~= ARGV[3] and c.pending == 0 and c.idle > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], c.name)
    deleted = deleted + 1
  end
end
return deleted
