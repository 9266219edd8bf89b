-- Moves the stored times of a namespace back, and shortens its times to live.
-- ARGV: prefix, ms
local prefix, back = ARGV[1], tonumber(ARGV[2])

local function text(n) return string.format('%.0f', n) end

-- The fields of a hash that hold a time, by how its key begins; * is all.
local times = {
  ['row:'] = {'opened_at', 'expires_at', 'answered_at', 'claimed_at', 'reported_at', 'undo_until'},
  ['claim:'] = {'at'},
  ['bot:approval:'] = {'step_at', 'step_shown'},
  ['bot:card:'] = {'message_at', 'message_until', 'notice_at', 'notice_until', 'reminder_at', 'reminder_until'},
  ['bot:notice:'] = {'message_until'},
  ['bot:lease'] = {'until'},
  ['bot:alarms'] = {'*'},
}

-- The sorted sets whose scores are times.
local sorted = {deadlines = true, ['bot:dirty'] = true, ['bot:reminders'] = true, ['bot:lapsed'] = true, ['bot:updates'] = true}

local function move_field(key, field)
  local at = tonumber(redis.call('HGET', key, field) or '')
  if at and at > 0 then redis.call('HSET', key, field, text(math.max(at - back, 1))) end
end

local function move_hash(key, fields)
  if fields[1] == '*' then fields = redis.call('HKEYS', key) end
  for _, field in ipairs(fields) do move_field(key, field) end
end

local function move_scores(key)
  local members = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #members, 2 do
    redis.call('ZADD', key, text(math.max(tonumber(members[i + 1]) - back, 0)), members[i])
  end
end

local function move_key(key)
  local name = string.sub(key, #prefix + 1)
  for start, fields in pairs(times) do
    if string.sub(name, 1, #start) == start then move_hash(key, fields) end
  end
  if sorted[name] or string.sub(name, 1, 11) == 'bot:closed:' then move_scores(key) end
  local ttl = redis.call('PTTL', key)
  if ttl > 0 then redis.call('PEXPIRE', key, text(ttl - back)) end
end

local cursor = '0'
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', '1000')
  cursor = page[1]
  for _, key in ipairs(page[2]) do move_key(key) end
until cursor == '0'
return 1
