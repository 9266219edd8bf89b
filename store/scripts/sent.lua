-- Records what Telegram took: a new message, or an edit of one.
-- KEYS: card, lease, row, memory, dirty, wake
-- ARGV: prefix, id, card id, lease number, what (message | notice | reminder | edit), message, drawn, step rev,
--       where nothing is left to do after it, else '' and nothing more: ms to look again after (-1: not at all),
--       the time that this counts from, and the row's rev and marks as they were read
-- Returns ok, settled where the approval was taken off the changes feed as well, or stale where
-- the lease is another's: then the card is to be drawn again by whoever holds it.
local prefix, id, what, message = ARGV[1], ARGV[2], ARGV[5], ARGV[6]
local now = now_ms()
if redis.call('HGET', KEYS[2], 'number') ~= ARGV[4] then
  -- The edit may have gone over one of the new holder's: nobody knows which stands.
  if redis.call('EXISTS', KEYS[3]) == 1 then
    local field = redis.call('HGET', KEYS[1], 'message') == message and 'drawn' or 'copy:' .. message
    -- Once is enough: a new revision is tried at once, also by who has yet to find that the lease is gone.
    if (redis.call('HGET', KEYS[1], field) or '') ~= '' then
      redis.call('HSET', KEYS[1], field, '')
      redis.call('HINCRBY', KEYS[3], 'rev', 1)
    end
  end
  mark(KEYS[5], KEYS[6], 'a:' .. id, now)
  return 'stale'
end
local card = redis.call('HMGET', KEYS[1], 'chat', 'message')
if not card[1] then return 'ok' end
if what == 'edit' then
  redis.call('HSET', KEYS[1], card[2] == message and 'drawn' or 'copy:' .. message, ARGV[7])
else
  redis.call('HSET', KEYS[1], what, message, what .. '_at', text(now))
  redis.call('HDEL', KEYS[1], what .. '_until', what .. '_lease')
  local key = prefix .. 'bot:message:' .. card[1] .. ':' .. message
  redis.call('SET', key, ARGV[3])
  local open = redis.call('HGET', KEYS[3], 'state') == 'open'
  if not open then inherit(prefix, id, key) end
  if what == 'message' then
    redis.call('HSET', KEYS[1], 'drawn', ARGV[7])
    if open then stands_open(prefix, id, card[1], message) end
  end
end
if (what == 'edit' or what == 'message') and ARGV[8] ~= '' then
  local s = redis.call('HMGET', KEYS[4], 'step_rev', 'step_card', 'step_shown')
  if s[1] == ARGV[8] and s[2] == ARGV[3] and not s[3] then
    redis.call('HSET', KEYS[4], 'step_shown', text(now))
  end
end
if ARGV[9] == '' then return 'ok' end
return settle(KEYS[5], 'a:' .. id, KEYS[3], ARGV[11], ARGV[12], tonumber(ARGV[9]), tonumber(ARGV[10])) and 'settled' or 'ok'
