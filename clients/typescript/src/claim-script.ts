/** The script by which a call is claimed, for whoever claims by EVAL. A copy of queue/claim.lua. */
export const claimScript = `-- Claims an approved call, once, with the caller's own rights: nothing here
-- deletes, overwrites or expires anything. The row and its stream are arguments,
-- since a declared key would need more than the right to read the one and to
-- write the other. The claim's fields are set last, so that a refused write to
-- the stream leaves no claim; its time is the entry's, by Redis's clock.
-- KEYS: claim
-- ARGV: row, pin, by, event id, event data, the caller's streams... (none: any)
-- Returns ok | unknown | wrong_stream | pin_mismatch | not_approved | already_claimed
local row = redis.call('HMGET', ARGV[1], 'state', 'stream', 'pin')
local state, stream, pin = row[1], row[2], row[3]
if not state or not stream then return 'unknown' end
local mine = #ARGV == 5
for i = 6, #ARGV do mine = mine or ARGV[i] == stream end
if not mine then return 'wrong_stream' end
if pin ~= ARGV[2] then return 'pin_mismatch' end
local spent = {claimed = true, executed = true, failed = true, partial = true, undone = true}
if state ~= 'approved' and not spent[state] then return 'not_approved' end
if spent[state] or redis.call('HEXISTS', KEYS[1], 'pin') == 1 then return 'already_claimed' end

local entry = redis.call('XADD', stream, '*', 'specversion', '1.0', 'type', 'approval.claimed',
  'id', ARGV[4], 'source', 'countersign-client', 'data', ARGV[5])
redis.call('HSETNX', KEYS[1], 'by', ARGV[3])
redis.call('HSETNX', KEYS[1], 'at', string.match(entry, '^%d+'))
redis.call('HSETNX', KEYS[1], 'pin', ARGV[2])
return 'ok'
`;
