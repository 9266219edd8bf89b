-- Reads one approval, found by what is at hand.
-- KEYS: dirty
-- ARGV: prefix, how (id | card | ref | message), what, whether rows are sealed (0 | 1)
-- Returns a reading (see lib.lua), with an empty row where nothing was found;
-- a sixth element names the card by which it was found, an eighth is when it is to be looked at, '' for
-- never. A ninth, where rows are sealed, says what else is known of the row where who may write rows
-- writes nothing: whose its reference is, and whether it was answered.
local prefix, how, what = ARGV[1], ARGV[2], ARGV[3]
local bot = prefix .. 'bot:'
local id, cid = what, ''
if how == 'message' then
  cid = redis.call('GET', bot .. 'message:' .. what) or ''
  if string.sub(cid, 1, 1) == '=' then -- a question asked where no card stands
    id, cid = string.sub(cid, 2), ''
  else
    id = cid ~= '' and redis.call('HGET', bot .. 'card:' .. cid, 'approval') or ''
  end
elseif how == 'card' then
  cid = what
  id = redis.call('HGET', bot .. 'card:' .. what, 'approval') or ''
elseif how == 'ref' then
  id = redis.call('GET', bot .. 'ref:' .. what) or ''
end
local r = reading(prefix, id)
r[6] = cid
local due = redis.call('ZSCORE', KEYS[1], 'a:' .. id)
r[8] = due and text(tonumber(due)) or ''
if ARGV[4] == '1' then
  local ref = redis.call('HGET', prefix .. 'row:' .. id, 'ref') or ''
  r[9] = {redis.call('GET', bot .. 'ref:' .. ref) or '', redis.call('EXISTS', prefix .. 'answer:' .. id)}
end
return r
