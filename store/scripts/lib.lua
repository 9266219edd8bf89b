-- Put before the scripts that use it, paragraph by paragraph. Keeps to what Redis 7.0 and the embedded server share.
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Lua would write large numbers in scientific form.
local function text(n)
  return string.format('%.0f', n)
end

-- Whether the lease is another's than it was under a number. What a deposed leader
-- has yet to write is not for it to write: it knows no more what is so.
local function deposed(lease, number)
  return redis.call('HGET', lease, 'number') ~= number
end

-- The time of a mark that comes before everything else: a person waits.
local URGENT = 1

-- Marks something as to be looked at again at a time, or at an earlier one that
-- stands already, and wakes whoever waits.
local function mark(dirty, wake, member, at)
  redis.call('ZADD', dirty, 'LT', text(at), member)
  redis.call('XADD', wake, 'MAXLEN', '~', '64', '*', 'm', member)
end

-- Takes something off the changes feed (wait: -1), or puts it off for so many ms from a
-- time, unless its row has changed or was marked since it was read. Returns whether it did.
local function settle(dirty, member, row, rev, marks, wait, from)
  local now = redis.call('HMGET', row, 'rev', 'marks')
  if now[1] and rev ~= '' and (now[1] ~= rev or (now[2] or '') ~= marks) then return false end
  if wait == -1 then
    redis.call('ZREM', dirty, member)
  else
    redis.call('ZADD', dirty, text(from + wait), member)
  end
  return true
end

-- Says that a message of a card or a notice is about to be sent, if it may be: the Bot
-- API has no idempotency key, so the intent comes before the send and the message id
-- after it. At least timeout ms of the lease must be left.
-- Returns ok | sent | busy | stale
local function intend(hash, lease, what, number, timeout)
  local now = now_ms()
  local l = redis.call('HMGET', lease, 'number', 'until')
  if l[1] ~= number or tonumber(l[2]) - now < timeout then return 'stale' end
  local h = redis.call('HMGET', hash, what, what .. '_until', what .. '_lease', 'chat')
  if not h[4] then return 'stale' end
  if h[1] then return 'sent' end
  if h[2] and tonumber(h[2]) > now and h[3] ~= number then return 'busy' end
  redis.call('HSET', hash, what .. '_until', text(now + timeout), what .. '_lease', number)
  return 'ok'
end

-- Publishes one event on the stream of all answers and on the approval's own.
local function publish(answers, answer, kind, event, id, time, data)
  for _, key in ipairs({answers, answer}) do
    redis.call('XADD', key, '*', 'type', kind, 'id', event, 'source', 'countersign',
      'subject', id, 'time', time, 'specversion', '1.0', 'datacontenttype', 'application/json', 'data', data)
  end
end

-- What a row's seal covers, and the seal, as the row holds them now. Whoever may
-- write rows raises no revision, so what was read is compared itself; '' where no
-- key is configured.
local function meddled(row, read)
  if read == '' then return false end
  local parts = {}
  for i, v in ipairs(redis.call('HMGET', row, 'terms', 'pin', 'opened_at', 'expires_at', 'stream', 'owners', 'quorum', 'seal', 'request')) do
    parts[i] = #(v or '') .. ':' .. (v or '')
  end
  return table.concat(parts) ~= read
end

-- Whether an event would bear no signature in a namespace that signs.
local function unsigned(signing, signer)
  return signer == '' and redis.call('EXISTS', signing) == 1
end

-- Makes row, claim, answer stream and the memory of the cards expire together.
-- prefix is the namespace's, so all keys lie in the row's slot.
local function retire(prefix, id, at)
  local bot = prefix .. 'bot:'
  local until_ms = text(at)
  redis.call('PEXPIREAT', prefix .. 'row:' .. id, until_ms)
  redis.call('PEXPIREAT', prefix .. 'claim:' .. id, until_ms)
  redis.call('PEXPIREAT', prefix .. 'answer:' .. id, until_ms)
  redis.call('PEXPIREAT', bot .. 'approval:' .. id, until_ms)
  local ref = redis.call('HGET', prefix .. 'row:' .. id, 'ref')
  if ref then redis.call('PEXPIREAT', bot .. 'ref:' .. ref, until_ms) end
  local cards = bot .. 'cards:' .. id
  for _, cid in ipairs(redis.call('SMEMBERS', cards)) do
    local card = bot .. 'card:' .. cid
    local place = redis.call('HMGET', card, 'chat', 'message', 'notice', 'reminder', 'question')
    for i = 2, 5 do
      if place[1] and place[i] then
        redis.call('PEXPIREAT', bot .. 'message:' .. place[1] .. ':' .. place[i], until_ms)
      end
    end
    for _, field in ipairs(redis.call('HKEYS', card)) do
      if string.sub(field, 1, 5) == 'copy:' then
        redis.call('PEXPIREAT', bot .. 'message:' .. place[1] .. ':' .. string.sub(field, 6), until_ms)
      end
    end
    redis.call('PEXPIREAT', card, until_ms)
  end
  redis.call('PEXPIREAT', cards, until_ms)
end

-- Gives a key made later the time to live that its row already has.
local function inherit(prefix, id, key)
  local ttl = redis.call('PTTL', prefix .. 'row:' .. id)
  if ttl > 0 then redis.call('PEXPIRE', key, ttl) end
end

-- Where a chat is now: a group that became a supergroup goes on under another
-- id. Telegram says so once in a group's life; a longer chain is followed, and
-- moved.lua keeps it from being a circle.
local function home(prefix, chat)
  for _ = 1, 8 do
    local to = redis.call('HGET', prefix .. 'bot:moved', chat)
    if not to then break end
    chat = to
  end
  return chat
end

-- Raises an approval's revision and marks it: what its cards need has changed.
local function touch(prefix, id, dirty, wake)
  redis.call('HINCRBY', prefix .. 'row:' .. id, 'rev', 1)
  mark(dirty, wake, 'a:' .. id, now_ms())
end

-- Fails a card, and remembers for its chat that there is one to bring back.
local function fail(prefix, card, why, retention)
  local c = redis.call('HMGET', card, 'approval', 'chat')
  redis.call('HSET', card, 'failed', why)
  local failed = prefix .. 'bot:failed:' .. c[2]
  redis.call('SADD', failed, c[1])
  redis.call('PEXPIRE', failed, retention)
end

-- One reading: the time, the row, its step and votes, its cards, the card by
-- which it was found (read.lua), and which chats go on under another id.
local function reading(prefix, id)
  local bot = prefix .. 'bot:'
  local cards = {}
  for _, cid in ipairs(redis.call('SMEMBERS', bot .. 'cards:' .. id)) do
    cards[#cards + 1] = {cid, redis.call('HGETALL', bot .. 'card:' .. cid)}
  end
  return {text(now_ms()), id, redis.call('HGETALL', prefix .. 'row:' .. id),
    redis.call('HGETALL', bot .. 'approval:' .. id), cards, '', redis.call('HGETALL', bot .. 'moved')}
end

local function owns(owners, user)
  return owners and string.find(owners, ',' .. user .. ',', 1, true) ~= nil
end

-- The approvals that are open in a chat, by their card's message id, so that a
-- plain word there can be understood. What was answered is remembered for an
-- hour, since a word may be handled late.
local function stands_open(prefix, id, chat, message)
  redis.call('ZADD', prefix .. 'bot:open:' .. chat, 'NX', message, id)
end

local function stands_closed(prefix, id, now)
  local chats = {}
  for _, field in ipairs(redis.call('HKEYS', prefix .. 'bot:approval:' .. id)) do
    if string.sub(field, 1, 6) == 'asked:' then chats[#chats + 1] = string.sub(field, 7) end
  end
  for _, cid in ipairs(redis.call('SMEMBERS', prefix .. 'bot:cards:' .. id)) do
    chats[#chats + 1] = redis.call('HGET', prefix .. 'bot:card:' .. cid, 'chat') or nil
  end
  for _, chat in ipairs(chats) do
    redis.call('ZREM', prefix .. 'bot:open:' .. chat, id)
    local closed = prefix .. 'bot:closed:' .. chat
    redis.call('ZREMRANGEBYSCORE', closed, '-inf', text(now - 3600000))
    redis.call('ZADD', closed, text(now), id)
    redis.call('PEXPIRE', closed, 3600000)
  end
end
