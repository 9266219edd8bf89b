-- Drops the oldest entries of the audit's chain, and keeps where it begins since. An
-- entry goes only when the next is too old as well, so that the first that is left
-- shows that those before it were.
-- KEYS: chain, head
-- ARGV: before (Unix ms), at most
-- Returns how many
local old = redis.call('XRANGE', KEYS[1], '-', '(' .. ARGV[1] .. '-0', 'COUNT', tonumber(ARGV[2]) + 1)
if #old < 2 then return 0 end
local base = {}
local fields = old[#old - 1][2]
for i = 1, #fields, 2 do base[fields[i]] = fields[i + 1] end
redis.call('HSET', KEYS[2], 'base_seq', base.seq, 'base_hash', base.hash)
redis.call('XTRIM', KEYS[1], 'MINID', old[#old][1])
return #old - 1
