-- Takes audit lines off the list and puts them at the end of the chain, if the
-- chain still ends where they were linked to and the list still begins with them.
-- KEYS: list, chain, head, signing
-- ARGV: seq and hash of the chain's end, then for each line: the line, its canonical data, hash, sig ('' without a key)
-- Returns ok | again
local seq, prev = tonumber(ARGV[1]), ARGV[2]
local head = redis.call('HMGET', KEYS[3], 'seq', 'hash')
if (head[1] or '0') ~= ARGV[1] or (head[2] or prev) ~= prev then return 'again' end
local lines = (#ARGV - 2) / 4
local there = redis.call('LRANGE', KEYS[1], 0, lines - 1)
for i = 1, lines do
  if there[i] ~= ARGV[4 * i - 1] then return 'again' end
end
for i = 1, lines do
  local data, hash, sig = ARGV[4 * i], ARGV[4 * i + 1], ARGV[4 * i + 2]
  seq = seq + 1
  local entry = {'seq', text(seq), 'prev', prev, 'hash', hash, 'data', data}
  if sig ~= '' then
    entry[9], entry[10] = 'sig', sig
    redis.call('HSETNX', KEYS[4], 'audit_from', text(seq))
  end
  redis.call('XADD', KEYS[2], '*', unpack(entry))
  prev = hash
end
redis.call('LTRIM', KEYS[1], lines, -1)
redis.call('HSET', KEYS[3], 'seq', text(seq), 'hash', prev)
return 'ok'
