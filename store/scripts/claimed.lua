-- A claim's own event: approved becomes claimed, if the claim is really there.
-- KEYS: row, claim, dirty, wake, audit
-- ARGV: prefix, id, stream, audit, retention
-- Returns ok | past | unknown | wrong_stream | no_claim
local prefix, id = ARGV[1], ARGV[2]
local r = redis.call('HMGET', KEYS[1], 'state', 'stream', 'pin', 'undo_until')
if not r[1] then return 'unknown' end
if r[2] ~= ARGV[3] then return 'wrong_stream' end
local claim = redis.call('HMGET', KEYS[2], 'pin', 'by', 'at')
if not claim[1] or claim[1] ~= r[3] then return 'no_claim' end
if r[1] ~= 'approved' then
  if r[1] == 'open' or r[1] == 'rejected' or r[1] == 'lapsed' or r[1] == 'withdrawn' or r[1] == 'refused' then
    return 'no_claim'
  end
  return 'past'
end
local now = now_ms()
redis.call('HSET', KEYS[1], 'state', 'claimed', 'claimed_by', claim[2] or '', 'claimed_at', claim[3] or text(now))
redis.call('HINCRBY', KEYS[1], 'rev', 1)
redis.call('RPUSH', KEYS[5], ARGV[4])
retire(prefix, id, now + tonumber(ARGV[5]))
mark(KEYS[3], KEYS[4], 'a:' .. id, now)
return 'ok'
