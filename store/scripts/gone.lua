-- Forgets a message of a card, because it is gone or cannot be edited any more: where
-- it was the card's own, a new one is to be sent.
-- KEYS: card, lease
-- ARGV: prefix, lease number, message
-- Returns ok, or stale where the lease is another's: by then another message may be
-- the card's.
if deposed(KEYS[2], ARGV[2]) then return 'stale' end
local message = ARGV[3]
local c = redis.call('HMGET', KEYS[1], 'chat', 'message')
if not c[1] then return 'ok' end
if c[2] == message then
  redis.call('HDEL', KEYS[1], 'message', 'drawn')
else
  redis.call('HDEL', KEYS[1], 'copy:' .. message)
end
redis.call('DEL', ARGV[1] .. 'bot:message:' .. c[1] .. ':' .. message)
return 'ok'
