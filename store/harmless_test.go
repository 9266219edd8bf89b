//go:build !race

package store_test

// harmless are the faults that no check can find, with the reason.
func harmless() map[string]string {
	return map[string]string{
		"open: if have[1] == 'refused' and redis.call('HEXISTS', row, 'request') == 0 then return {'refused'} end: " +
			"have[1] == 'refused' and redis.call('HEXISTS', row, 'request') == 0 becomes redis.call('HEXISTS', row, 'request') == 0": "only a refused row lacks its request",
		"view: if changed then: changed is always true": "a message that is known is kept once more, as it is",
		"undo: if r[1] ~= 'executed' and r[1] ~= 'partial' then return no('no_undo') end: " +
			"r[1] ~= 'executed' and r[1] ~= 'partial' is never true": "no other state has an end of undo",
		"read: if ARGV[4] == '1' then: ARGV[4] == '1' is always true":                  "more is said than is asked for",
		"card: if ttl > 0 then: > becomes >= ":                                         "a row in its last instant",
		"sent: if not open then inherit(prefix, id, key) end: not open is always true": "a row that is open has no end",
		"undo: retire(prefix, id, tonumber(r[4]) + tonumber(ARGV[10])): left out":      "the report has set the same time",
		"lib: if now[1] and rev ~= '' and (now[1] ~= rev or (now[2] or '') ~= marks) then return false end: " +
			"now[1] and rev ~= '' and (now[1] ~= rev or (now[2] or '') ~= marks) becomes now[1] and (now[1] ~= rev or (now[2] or '') ~= marks)": "a notice has no revision",
		"claimed: if not claim[1] or claim[1] ~= r[3] then return 'no_claim' end: " +
			"not claim[1] or claim[1] ~= r[3] becomes claim[1] ~= r[3]": "no pin differs from the row's",
		"sent: if (what == 'edit' or what == 'message') and ARGV[8] ~= '' then: " +
			"(what == 'edit' or what == 'message') and ARGV[8] ~= '' becomes (what == 'edit' or what == 'message')": "no step has that revision",
		"decide: if voter == user or redis.call('HEXISTS', memory, 'vote:' .. voter) == 0 then return no('again') end: " +
			"voter == user or redis.call('HEXISTS', memory, 'vote:' .. voter) == 0 becomes redis.call('HEXISTS', memory, 'vote:' .. voter) == 0": "who has voted was turned away above",
		"lib: redis.call('PEXPIREAT', bot .. 'approval:' .. id, until_ms): left out":                         "an answered approval has no memory",
		"lib: if ref then redis.call('PEXPIREAT', bot .. 'ref:' .. ref, until_ms) end: ref is always true":   "every row has a reference",
		"lib: if place[1] and place[i] then: place[1] and place[i] becomes place[i]":                         "every card has a chat",
		"lib: if string.sub(field, 1, 5) == 'copy:' then: string.sub(field, 1, 5) == 'copy:' is always true": "no key has such a name",
		"lib: if ttl > 0 then redis.call('PEXPIRE', key, ttl) end: > becomes >= ":                            "a row in its last instant",
	}
}
