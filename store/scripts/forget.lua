-- Takes an answered approval's text away: its request, and all but the bare facts of its
-- answer and its last report. What is left still says that the id was asked and answered.
-- KEYS: row, answer, withdrawn, dirty, wake, audit, signing
-- ARGV: prefix, id, rev, answer and report without their text ('' for none), event id, time, audit, what the
--       seal covers as it was read, signer
-- Returns ok | open | again | unsigned
local row, id = KEYS[1], ARGV[2]
local r = redis.call('HMGET', row, 'state', 'rev')
if r[1] == 'open' then return 'open' end
if r[2] ~= ARGV[3] or meddled(row, ARGV[9]) then return 'again' end
if unsigned(KEYS[7], ARGV[10]) then return 'unsigned' end
local now = now_ms()
redis.call('HDEL', row, 'request', 'answer', 'report')
redis.call('XTRIM', KEYS[2], 'MAXLEN', 0)
if ARGV[4] ~= '' then
  redis.call('HSET', row, 'answer', ARGV[4])
  redis.call('XADD', KEYS[2], '*', 'type', 'approval.answered', 'id', ARGV[6], 'source', 'countersign',
    'subject', id, 'time', ARGV[7], 'specversion', '1.0', 'datacontenttype', 'application/json', 'data', ARGV[4])
  inherit(ARGV[1], id, KEYS[2])
end
if ARGV[5] ~= '' then redis.call('HSET', row, 'report', ARGV[5]) end
redis.call('HSET', row, 'forgotten_at', text(now))
redis.call('HINCRBY', row, 'rev', 1)
redis.call('DEL', KEYS[3])
redis.call('RPUSH', KEYS[6], ARGV[8])
mark(KEYS[4], KEYS[5], 'a:' .. id, now)
return 'ok'
