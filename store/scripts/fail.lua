-- Records that a card can never be shown where it was meant to be, as far as
-- anybody knows now.
-- KEYS: card, lease
-- ARGV: prefix, why, retention, lease number
-- Returns ok, also where the card is gone, or stale where the lease is another's.
if deposed(KEYS[2], ARGV[4]) then return 'stale' end
if redis.call('EXISTS', KEYS[1]) == 0 then return 'ok' end
redis.call('HDEL', KEYS[1], 'doubt')
fail(ARGV[1], KEYS[1], ARGV[2], ARGV[3])
return 'ok'
