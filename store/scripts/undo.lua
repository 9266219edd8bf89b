-- An owner asks for the undo, once.
-- KEYS: row, dirty, wake, audit, answers, answer, signing
-- ARGV: prefix, id, rev, user, by (JSON), event data, event id, time, audit, retention, what the seal covers as it was read, signer
-- Returns {status, reading}
local prefix, id = ARGV[1], ARGV[2]
local now = now_ms()
local function no(status) return {status, reading(prefix, id)} end
local r = redis.call('HMGET', KEYS[1], 'state', 'rev', 'owners', 'undo_until', 'undo')
if not r[1] then return no('unknown') end
if not owns(r[3], ARGV[4]) then return no('not_owner') end
if r[5] then return no('undo_asked') end
if r[1] ~= 'executed' and r[1] ~= 'partial' then return no('no_undo') end
if (r[4] or '0') == '0' then return no('no_undo') end
if now >= tonumber(r[4]) then return no('undo_over') end
if r[2] ~= ARGV[3] or meddled(KEYS[1], ARGV[11]) then return no('again') end
if unsigned(KEYS[7], ARGV[12]) then return no('unsigned') end
redis.call('HSET', KEYS[1], 'undo', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'rev', 1)
redis.call('RPUSH', KEYS[4], ARGV[9])
publish(KEYS[5], KEYS[6], 'approval.undo_requested', ARGV[7], id, ARGV[8], ARGV[6])
retire(prefix, id, tonumber(r[4]) + tonumber(ARGV[10]))
mark(KEYS[2], KEYS[3], 'a:' .. id, URGENT)
return {'ok', reading(prefix, id)}
