-- Opens a confirm step for one owner, or cancels one.
-- KEYS: row, memory, dirty, wake, card (the one the step is opened on)
-- ARGV: prefix, id, what (open | cancel), user, name, window, chat, card, step rev (cancel; '' for any),
--       page that this person has in front of them on the card ('' for none, or known to be seen)
-- Returns {status, reading}. already: this person's step is open, nothing changed.
local prefix, id, what, user = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local row, memory = KEYS[1], KEYS[2]
local now = now_ms()
local function no(status) return {status, reading(prefix, id)} end

local r = redis.call('HMGET', row, 'state', 'expires_at', 'owners', 'quorum')
if not r[1] then return no('unknown') end
if r[1] ~= 'open' then return no('not_open') end
if now >= tonumber(r[2]) then return no('late') end
if not owns(r[3], user) then return no('not_owner') end
local s = redis.call('HMGET', memory, 'step_by', 'step_at', 'step_rev')
local open = s[1] and now <= tonumber(s[2]) + tonumber(ARGV[6])

if what == 'cancel' then
  if not s[1] then return no('no_step') end
  if ARGV[9] ~= '' and s[3] ~= ARGV[9] then return no('old_step') end
  redis.call('HDEL', memory, 'step_by', 'step_name', 'step_rev', 'step_at', 'step_chat', 'step_card', 'step_shown', 'step_question', 'step_asked_chat')
  redis.call('HINCRBY', row, 'rev', 1)
else
  -- All votes may be there without an answer, where one did not count when the
  -- last was cast: then a voter confirms again.
  local votes = 0
  for _, field in ipairs(redis.call('HKEYS', memory)) do
    if string.sub(field, 1, 5) == 'vote:' then votes = votes + 1 end
  end
  if redis.call('HEXISTS', memory, 'vote:' .. user) == 1 and votes < tonumber(r[4]) then return no('voted') end
  if open and s[1] == user then return no('already') end
  if open then return no('other_person') end
  local rev = redis.call('HINCRBY', row, 'rev', 1)
  local seen = redis.call('HGET', KEYS[5], 'seen:' .. user) or ''
  if ARGV[10] ~= '' and not string.find(',' .. seen .. ',', ',' .. ARGV[10] .. ',', 1, true) then
    redis.call('HSET', KEYS[5], 'seen:' .. user, seen == '' and ARGV[10] or seen .. ',' .. ARGV[10])
  end
  redis.call('HDEL', memory, 'step_shown', 'step_question', 'step_asked_chat')
  redis.call('HSET', memory, 'step_by', user, 'step_name', ARGV[5], 'step_rev', text(rev),
    'step_at', text(now), 'step_chat', ARGV[7], 'step_card', ARGV[8])
end
mark(KEYS[3], KEYS[4], 'a:' .. id, URGENT)
return {'ok', reading(prefix, id)}
