-- Says that a message is about to be sent.
-- KEYS: hash (a card or a notice), lease
-- ARGV: what (message | notice | reminder), lease number, call timeout
-- Returns ok | sent | busy | stale
return intend(KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3]))
