-- Moves the cards of an approval to where their chats are now. Message ids do
-- not carry over: what stands in the old chat can no longer be edited, so each
-- card is to be sent again. A reply there still finds it for a while.
-- KEYS: row, cards, memory, lease
-- ARGV: prefix, id, how long old messages still lead to their card, lease number
-- Returns how many cards moved, or stale where the lease is another's: that one may
-- be sending to the old chat, and would record it under the new one.
if deposed(KEYS[4], ARGV[4]) then return 'stale' end
local prefix, id = ARGV[1], ARGV[2]
local bot = prefix .. 'bot:'
local n = 0
local cards = redis.call('SMEMBERS', KEYS[2])
table.sort(cards)
-- Two ids in one route may come to the same chat: one card stands there.
local function stands(chat, c)
  for _, cid in ipairs(cards) do
    local o = redis.call('HMGET', bot .. 'card:' .. cid, 'chat', 'thread', 'reader', 'retired')
    if o[1] == chat and o[2] == c[2] and o[3] == c[3] and not o[4] then return true end
  end
  return false
end
for _, cid in ipairs(cards) do
  local card = bot .. 'card:' .. cid
  local c = redis.call('HMGET', card, 'chat', 'thread', 'reader')
  local new = home(prefix, c[1])
  if new ~= c[1] then
    if stands(new, c) then redis.call('HSET', card, 'retired', '1') end
    for _, field in ipairs(redis.call('HKEYS', card)) do
      local message = string.match(field, '^copy:(.+)')
      if field == 'message' or field == 'notice' or field == 'reminder' or field == 'question' then
        message = redis.call('HGET', card, field)
      end
      if message then redis.call('PEXPIRE', bot .. 'message:' .. c[1] .. ':' .. message, ARGV[3]) end
      if string.sub(field, 1, 7) == 'message' or string.sub(field, 1, 5) == 'copy:' then redis.call('HDEL', card, field) end
    end
    redis.call('HDEL', card, 'drawn', 'failed', 'doubt', 'topicless', 'question')
    redis.call('HSET', card, 'chat', new)
    redis.call('ZREM', bot .. 'open:' .. c[1], id)
    -- What was shown stands where nobody looks any more: the step is shown anew.
    if redis.call('HGET', KEYS[3], 'step_card') == cid then redis.call('HDEL', KEYS[3], 'step_shown') end
    n = n + 1
  end
end
if n > 0 then redis.call('HINCRBY', KEYS[1], 'rev', 1) end
return n
