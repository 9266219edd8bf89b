-- Records that a card can never be shown where it was meant to be, as far as
-- anybody knows now.
-- KEYS: card
-- ARGV: prefix, why, retention
-- Returns 1, or 0 where the card is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[1], 'doubt')
fail(ARGV[1], KEYS[1], ARGV[2], ARGV[3])
return 1
