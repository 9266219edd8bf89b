-- Makes a card of an approval for one chat, or finds the one that stands there.
-- KEYS: row, cards, card, lease, dirty, wake
-- ARGV: prefix, id, card id, chat, thread, lease number, reader (0 | 1), again (0 | 1: retire the older ones),
--       call timeout where it is about to be sent, else ''
-- Returns {the card's id, what came of the intent}; the id is '' where the row is gone or the lease is another's.
local prefix, id, cid, chat = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function stands(card)
  if ARGV[9] == '' then return {card, ''} end
  return {card, intend(prefix .. 'bot:card:' .. card, KEYS[4], 'message', ARGV[6], tonumber(ARGV[9]))}
end
-- A row that is open has no end, one that is answered has.
local ttl = redis.call('PTTL', KEYS[1])
if ttl == -2 then return {'', 'stale'} end
local cards = redis.call('SMEMBERS', KEYS[2])
-- The reply to this very command was lost, and the client sends it again.
for _, have in ipairs(cards) do
  if have == cid then return stands(cid) end
end
if ARGV[6] ~= '' and deposed(KEYS[4], ARGV[6]) then return {'', 'stale'} end
for _, have in ipairs(cards) do
  local key = prefix .. 'bot:card:' .. have
  local c = redis.call('HMGET', key, 'chat', 'retired', 'reader', 'thread')
  if c[1] == chat and not c[2] and (c[3] or '0') == ARGV[7] then
    if ARGV[8] == '0' and c[4] == ARGV[5] then return stands(have) end
    if ARGV[8] ~= '0' and ARGV[7] == '0' then redis.call('HSET', key, 'retired', '1') end
  end
end
redis.call('SADD', KEYS[2], cid)
redis.call('HSET', KEYS[3], 'approval', id, 'chat', chat, 'thread', ARGV[5], 'reader', ARGV[7])
if ttl > 0 then
  redis.call('PEXPIRE', KEYS[2], ttl)
  redis.call('PEXPIRE', KEYS[3], ttl)
end
if ARGV[8] ~= '0' then
  redis.call('HINCRBY', KEYS[1], 'rev', 1)
  mark(KEYS[5], KEYS[6], 'a:' .. id, URGENT)
end
return stands(cid)
