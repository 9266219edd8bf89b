-- Records the message that asks for a typed yes, so that a reply to it counts.
-- KEYS: row, memory
-- ARGV: prefix, id, step rev, chat, message, card ('' if none stands in the chat), retention
-- Returns 1, or 0 where that step is no longer the open one.
local prefix, id = ARGV[1], ARGV[2]
if redis.call('HGET', KEYS[2], 'step_rev') ~= ARGV[3] then return 0 end
-- asked: outlives the step, so that the chat is known when the approval closes.
redis.call('HSET', KEYS[2], 'step_question', ARGV[5], 'step_asked_chat', ARGV[4], 'asked:' .. ARGV[4], '1')
local key = prefix .. 'bot:message:' .. ARGV[4] .. ':' .. ARGV[5]
redis.call('SET', key, ARGV[6] ~= '' and ARGV[6] or '=' .. id, 'PX', ARGV[7])
if ARGV[6] ~= '' then redis.call('HSET', prefix .. 'bot:card:' .. ARGV[6], 'question', ARGV[5]) end
stands_open(prefix, id, ARGV[4], ARGV[5])
return 1
