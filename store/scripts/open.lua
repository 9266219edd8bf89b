-- Opens a row, once. The same id with the same terms is the same approval;
-- with other terms it changes nothing.
-- KEYS: row, deadlines, reminders, dirty, wake, audit, answers, answer, withdrawn, signing, ref...
-- ARGV: prefix, id, terms, state, expires_at, remind_at (0: none), retention,
--       answer ('' while open), event id, time, opened_at, signer, stream, number of audit entries,
--       audit..., refs of the ref keys..., then the row's further fields and values
-- Returns {ok, ref} | {same} | {differs} | {refused} | {withdrawn, reason} | {late} | {refs} | {unsigned}
-- ok: written. refused: the id was refused before, or its row is gone, and stays so. withdrawn, late:
-- nothing was written, the caller must come again with that answer, be it that the
-- row was to be open or that a policy approves it. refs: all
-- references offered are taken.
local prefix, id, terms, state = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local expires, remind, retention = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local row = KEYS[1]
local now = now_ms()

local have = redis.call('HMGET', row, 'state', 'terms')
if have[1] then
  if have[1] == 'refused' and redis.call('HEXISTS', row, 'request') == 0 then return {'refused'} end
  if have[2] == terms then return {'same'} end
  return {'differs'}
end
-- Answered, and the row was taken away: an id is answered once.
if redis.call('EXISTS', KEYS[8]) == 1 then return {'refused'} end
if state == 'open' or state == 'approved' then
  local gone = redis.call('HGET', KEYS[9], ARGV[13])
  if gone then return {'withdrawn', gone} end
  if expires - now < 1000 then return {'late'} end
end

if unsigned(KEYS[10], ARGV[12]) then return {'unsigned'} end

local audits = tonumber(ARGV[14])
local at = 15 + audits
local refs = #KEYS - 10
local ref
for i = 1, refs do
  if redis.call('SET', KEYS[10 + i], id, 'NX') then
    ref = ARGV[at + i - 1]
    break
  end
end
if not ref then return {'refs'} end

local fields = {}
for i = at + refs, #ARGV do fields[#fields + 1] = ARGV[i] end
redis.call('HSET', row, 'state', state, 'terms', terms, 'ref', ref, 'rev', '1',
  'opened_at', ARGV[11], 'expires_at', text(expires), 'stream', ARGV[13], unpack(fields))
for i = 15, 14 + audits do redis.call('RPUSH', KEYS[6], ARGV[i]) end
if state == 'open' then
  redis.call('ZADD', KEYS[2], text(expires), id)
  if remind > 0 then redis.call('ZADD', KEYS[3], text(remind), id) end
else
  redis.call('HSET', row, 'answer', ARGV[8], 'answered_at', ARGV[11])
  if state == 'lapsed' then redis.call('ZADD', prefix .. 'bot:lapsed', text(now), id) end
  publish(KEYS[7], KEYS[8], 'approval.answered', ARGV[9], id, ARGV[10], ARGV[8])
  retire(prefix, id, now + retention)
end
redis.call('DEL', KEYS[9])
mark(KEYS[4], KEYS[5], 'a:' .. id, now)
return {'ok', ref}
