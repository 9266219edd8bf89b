-- Changes how one card is looked at, and what was seen there.
-- KEYS: row, card, dirty, wake
-- ARGV: prefix, id, user ('' for nobody), pages this person has now seen (comma list, or all),
--       message ('' or the one tapped, to be adopted if unknown), its chat, then fields and values
-- Returns {status, reading}
local prefix, id, user = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 0 then
  return {'unknown', reading(prefix, id)}
end
local changed = false
if user ~= '' and ARGV[4] ~= '' then
  local field = 'seen:' .. user
  local seen = redis.call('HGET', KEYS[2], field) or ''
  for page in string.gmatch(ARGV[4], '[^,]+') do
    if not string.find(',' .. seen .. ',', ',' .. page .. ',', 1, true) then
      seen = seen == '' and page or seen .. ',' .. page
      changed = true
    end
  end
  redis.call('HSET', KEYS[2], field, seen)
end
-- A chat may have moved since: the numbers of one mean nothing in another.
if ARGV[5] ~= '' and redis.call('HGET', KEYS[2], 'chat') == ARGV[6] then
  -- Whoever taps can be reached, whatever was thought of the chat before.
  if redis.call('HDEL', KEYS[2], 'failed') == 1 then changed = true end
  local have = redis.call('HGET', KEYS[2], 'message')
  local new = false
  if not have then
    redis.call('HSET', KEYS[2], 'message', ARGV[5], 'drawn', '')
    new = true
  elseif have ~= ARGV[5] and redis.call('HEXISTS', KEYS[2], 'copy:' .. ARGV[5]) == 0 then
    redis.call('HSET', KEYS[2], 'copy:' .. ARGV[5], '')
    new = true
  end
  if new then
    changed = true
    local key = prefix .. 'bot:message:' .. redis.call('HGET', KEYS[2], 'chat') .. ':' .. ARGV[5]
    local cid = string.sub(KEYS[2], #prefix + #'bot:card:' + 1)
    redis.call('SET', key, cid)
    inherit(prefix, id, key)
    if redis.call('HGET', KEYS[1], 'state') == 'open' then
      stands_open(prefix, id, redis.call('HGET', KEYS[2], 'chat'), ARGV[5])
    end
  end
end
for i = 7, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[i]) ~= ARGV[i + 1] then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
    changed = true
  end
end
if changed then
  redis.call('HINCRBY', KEYS[1], 'rev', 1)
  mark(KEYS[3], KEYS[4], 'a:' .. id, URGENT)
end
return {'ok', reading(prefix, id)}
