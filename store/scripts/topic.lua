-- Records that a card's topic is gone or closed.
-- KEYS: card, lease
-- ARGV: lease number, where what is sent goes now
-- Returns ok, also where the card is gone, or stale where the lease is another's: by
-- then the card may stand in another chat.
if deposed(KEYS[2], ARGV[1]) then return 'stale' end
if redis.call('EXISTS', KEYS[1]) == 0 then return 'ok' end
redis.call('HSET', KEYS[1], 'topicless', ARGV[2])
return 'ok'
