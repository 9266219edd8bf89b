-- Takes something off the changes feed, or puts it off, unless it has changed
-- since it was read.
-- KEYS: dirty, row (of an approval; else the notice), lease
-- ARGV: member, rev ('' for a notice), ms to look again after (-1: not at all),
--       the time in ms that this counts from ('': now), the row's marks as they were read,
--       lease number ('' for whoever puts a notice off without leading)
-- Returns 1 where settled, 0 where it is to be looked at again now, stale where
-- the lease is another's: that one may know of more to do since, which raises no revision.
if ARGV[6] ~= '' and deposed(KEYS[3], ARGV[6]) then return 'stale' end
local done = settle(KEYS[1], ARGV[1], KEYS[2], ARGV[2], ARGV[5], tonumber(ARGV[3]), tonumber(ARGV[4]) or now_ms())
return done and 1 or 0
