-- What happened to an approved call. The last report shows; undone is final.
-- KEYS: row, dirty, wake, audit
-- ARGV: prefix, id, stream, outcome, report, entry ms, entry seq, undo_until (0: none), audit, retention,
--       the state that the audit line says it comes from
-- Returns ok | old | final | unknown | wrong_stream | not_approved | again
local prefix, id, outcome = ARGV[1], ARGV[2], ARGV[4]
local r = redis.call('HMGET', KEYS[1], 'state', 'stream', 'report_ms', 'report_seq', 'undo_until')
if not r[1] then return 'unknown' end
if r[2] ~= ARGV[3] then return 'wrong_stream' end
local state = r[1]
if state == 'open' or state == 'rejected' or state == 'lapsed' or state == 'withdrawn' or state == 'refused' then
  return 'not_approved'
end
local ms, seq = tonumber(ARGV[6]), tonumber(ARGV[7])
if r[3] then
  local lms, lseq = tonumber(r[3]), tonumber(r[4])
  if ms < lms or (ms == lms and seq <= lseq) then return 'old' end
end
if state == 'undone' then return 'final' end
if state ~= ARGV[11] then return 'again' end
local now = now_ms()
local undo = tonumber(ARGV[8])
redis.call('HSET', KEYS[1], 'state', outcome, 'report', ARGV[5], 'report_ms', ARGV[6], 'report_seq', ARGV[7],
  'reported_at', text(now), 'undo_until', text(undo))
redis.call('HINCRBY', KEYS[1], 'rev', 1)
redis.call('RPUSH', KEYS[4], ARGV[9])
retire(prefix, id, math.max(now, undo) + tonumber(ARGV[10]))
mark(KEYS[2], KEYS[3], 'a:' .. id, now)
return 'ok'
