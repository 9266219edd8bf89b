-- Says that a message is about to be sent: the Bot API has no idempotency key,
-- so the intent comes before the send and the message id after it.
-- KEYS: hash (a card or a notice), lease
-- ARGV: what (message | notice | reminder), lease number, call timeout
-- Returns ok | sent | busy | stale
local what = ARGV[1]
local now = now_ms()
if redis.call('EXISTS', KEYS[1]) == 0 then return 'stale' end
local l = redis.call('HMGET', KEYS[2], 'number', 'until')
if l[1] ~= ARGV[2] or tonumber(l[2]) - now < tonumber(ARGV[3]) then return 'stale' end
local h = redis.call('HMGET', KEYS[1], what, what .. '_until', what .. '_lease')
if h[1] then return 'sent' end
if h[2] and tonumber(h[2]) > now and h[3] ~= ARGV[2] then return 'busy' end
redis.call('HSET', KEYS[1], what .. '_until', text(now + tonumber(ARGV[3])), what .. '_lease', ARGV[2])
return 'ok'
