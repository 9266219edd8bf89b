-- The one way out of open: an answer, or a vote under a quorum (to = open).
-- KEYS: row, memory, deadlines, reminders, dirty, wake, audit, answers, answer, signing, updates
-- ARGV: prefix, id, rev, to, guard, user, card, step rev, dwell, window,
--       counted voters (comma list), answer or vote, event id, time, audit,
--       retention, quiet chats (JSON or ''), stream, shared notices that speak for it (comma list of ids),
--       what the seal covers as it was read, keys (comma list of ids, '' without), the update that it comes by
--       where nobody has asked whether that is new ('' else), the time that the answer was made for, how far off
--       that may be, notices of a seal that does not hold (id, chat, notice)...
-- Guards: step (Yes by button), asked (typed yes), both of one step alone, tap (a halt's one tap), owner
--   (reject), operator, due (the sweeper), runtime (withdrawn), unreachable, seal (it does not hold).
-- Returns {status, reading}, of an answer {ok} alone. A status other than ok changed nothing.
local prefix, id, to, guard, user = ARGV[1], ARGV[2], ARGV[4], ARGV[5], ARGV[6]
local row, memory = KEYS[1], KEYS[2]
local now = now_ms()
local function no(status) return {status, reading(prefix, id)} end

if redis.call('ZSCORE', KEYS[11], ARGV[22]) then return no('handled') end
local r = redis.call('HMGET', row, 'state', 'rev', 'expires_at', 'owners', 'quorum', 'kind', 'stream')
local broken = guard == 'seal'
if not r[1] and not broken then return no('unknown') end
if not broken and r[1] ~= 'open' then return no('not_open') end
-- What was answered stays so, whatever somebody made of the row.
if redis.call('EXISTS', KEYS[9]) == 1 then return no('not_open') end
if guard == 'runtime' and r[7] ~= ARGV[18] then return no('wrong_stream') end
local expires = tonumber(r[3])
if guard == 'due' then
  if now < expires then return no('early') end
elseif not broken and now >= expires then
  return no('late')
end
local rev = r[2] or ''
if rev ~= ARGV[3] or meddled(row, ARGV[20]) then return no('again') end
if math.abs(now - tonumber(ARGV[23])) > tonumber(ARGV[24]) then return no('again') end
if unsigned(KEYS[10], ARGV[21]) then return no('unsigned') end
if broken then
  -- Who lacks the key that signs by now cannot tell.
  local key = redis.call('HGET', KEYS[10], 'key')
  if key and not string.find(',' .. ARGV[21] .. ',', ',' .. key .. ',', 1, true) then return no('strange_key') end
end

-- What each guard may decide; nothing unknown decides anything.
local may = {
  step = 'approved open', asked = 'approved open', tap = 'approved open', owner = 'rejected',
  operator = 'approved rejected', due = 'lapsed', runtime = 'withdrawn', unreachable = 'refused', seal = 'refused',
}
if not may[guard] or not string.find(' ' .. may[guard] .. ' ', ' ' .. to .. ' ', 1, true) then return no('forbidden') end
local approving = to == 'approved' or to == 'open'
local person = guard == 'step' or guard == 'asked' or guard == 'tap' or guard == 'owner'
if person and not owns(r[4], user) then return no('not_owner') end
if guard == 'tap' and r[6] ~= 'halt' then return no('forbidden') end

if guard == 'step' or guard == 'asked' then
  local s = redis.call('HMGET', memory, 'step_by', 'step_rev', 'step_card', 'step_at', 'step_shown', 'step_question', 'step_asked_chat')
  if not s[1] then return no('no_step') end
  if now > tonumber(s[4]) + tonumber(ARGV[10]) then return no('window_over') end
  if s[1] ~= user then return no('other_person') end
  if s[2] ~= ARGV[8] then return no('old_step') end
  if guard == 'step' then
    if s[3] ~= ARGV[7] then return no('old_step') end
    if not s[5] then return no('not_shown') end
    if now < tonumber(s[5]) + tonumber(ARGV[9]) then return no('too_soon') end
  elseif not s[5] and not s[6] then
    return no('not_shown')
  end
end

if approving and person then
  -- Voting again counts only where it makes the answer: see step.lua.
  if to == 'open' and redis.call('HEXISTS', memory, 'vote:' .. user) == 1 then return no('voted') end
  local votes = 1
  for voter in string.gmatch(ARGV[11], '[^,]+') do
    if voter == user or redis.call('HEXISTS', memory, 'vote:' .. voter) == 0 then return no('again') end
    votes = votes + 1
  end
  if (votes < tonumber(r[5])) ~= (to == 'open') then return no('again') end
end

-- The revision of such a row may be anything; the time is above any of ours.
if broken then redis.call('HSET', row, 'rev', text(now)) end
redis.call('HINCRBY', row, 'rev', 1)
redis.call('RPUSH', KEYS[7], ARGV[15])
if to == 'open' then
  redis.call('HSET', memory, 'vote:' .. user, ARGV[12])
  redis.call('HDEL', memory, 'step_by', 'step_name', 'step_rev', 'step_at', 'step_chat', 'step_card', 'step_shown', 'step_question', 'step_asked_chat')
else
  redis.call('HSET', row, 'state', to, 'answer', ARGV[12], 'answered_at', text(now))
  if ARGV[17] ~= '' then redis.call('HSET', row, 'quiet', ARGV[17]) end
  for nid in string.gmatch(ARGV[19], '[^,]+') do
    local told = prefix .. 'bot:told:' .. nid
    redis.call('RPUSH', told, id)
    redis.call('PEXPIRE', told, ARGV[16])
  end
  stands_closed(prefix, id, now)
  redis.call('DEL', memory)
  redis.call('ZREM', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
  if to == 'lapsed' then redis.call('ZADD', prefix .. 'bot:lapsed', text(now), id) end
  publish(KEYS[8], KEYS[9], 'approval.answered', ARGV[13], id, ARGV[14], ARGV[12])
  retire(prefix, id, now + tonumber(ARGV[16]))
end
for i = 25, #ARGV, 3 do
  local notice = prefix .. 'bot:notice:' .. ARGV[i]
  redis.call('HSET', notice, 'notice', ARGV[i + 2], 'chat', ARGV[i + 1])
  redis.call('PEXPIRE', notice, ARGV[16])
  mark(KEYS[5], KEYS[6], 'n:' .. ARGV[i], now)
end
mark(KEYS[5], KEYS[6], 'a:' .. id, (person or guard == 'operator') and URGENT or now)
if to == 'open' then return {'ok', reading(prefix, id)} end
return {'ok'} -- few want to read it, and until the script ends nobody can read the answer
