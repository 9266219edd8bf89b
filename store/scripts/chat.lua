-- What became of the bot in one chat, for all cards there.
-- KEYS: dirty, wake, lease
-- ARGV: prefix, chat, what, why, retention, approval that was in doubt ('' for none: it
--       may have been answered since, and then it is no longer among what is open),
--       lease number ('' for what anybody may say)
--   doubt: it may be out; what is open there is to be asked about
--   out:   it is out; the cards in doubt fail
--   fine:  it is in; they do not
--   back:  it may write again; failed cards come back to life, those of finished
--          approvals only where a message of them stands there
-- Returns how many approvals changed, or stale where the lease is another's.
if ARGV[7] ~= '' and deposed(KEYS[3], ARGV[7]) then return 'stale' end
local prefix, chat, what = ARGV[1], ARGV[2], ARGV[3]
local bot = prefix .. 'bot:'

local turn = {
  doubt = function(card, c)
    if c[2] then return false end
    redis.call('HSET', card, 'doubt', ARGV[4])
    return true
  end,
  out = function(card, c)
    if not c[3] then return false end
    redis.call('HDEL', card, 'doubt')
    fail(prefix, card, ARGV[4], ARGV[5])
    return true
  end,
  fine = function(card) return redis.call('HDEL', card, 'doubt') == 1 end,
  back = function(card, c, state)
    if state ~= 'open' and not c[4] then return false end
    return redis.call('HDEL', card, 'failed', 'doubt') > 0
  end,
}

local ids
if what == 'back' then
  ids = redis.call('SUNION', bot .. 'failed:' .. chat)
  redis.call('DEL', bot .. 'failed:' .. chat)
else
  ids = redis.call('ZRANGE', bot .. 'open:' .. chat, 0, -1)
  ids[#ids + 1] = ARGV[6]
end
local n = 0
for _, id in ipairs(ids) do
  local state = redis.call('HGET', prefix .. 'row:' .. id, 'state')
  local changed = false
  for _, cid in ipairs(redis.call('SMEMBERS', bot .. 'cards:' .. id)) do
    local card = bot .. 'card:' .. cid
    local c = redis.call('HMGET', card, 'chat', 'failed', 'doubt', 'message')
    if c[1] == chat and turn[what](card, c, state) then changed = true end
  end
  if changed then
    touch(prefix, id, KEYS[1], KEYS[2])
    n = n + 1
  end
end
return n
