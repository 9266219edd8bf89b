#!/bin/sh
# Delete files and folders, but only if the owner says so: rm -rf behind a card.
#
#   examples/rm-if-approved.sh PATH...
#
# The queue is that of COUNTERSIGN_CONFIG, or of REDIS_URL and NAMESPACE. The exit code is
# rm's, or that of the answer: 1 rejected, 3 nobody answered in time, 4 refused, 5 withdrawn,
# 69 nobody there to ask; 2 for what cannot be asked. 70: deleted, but not reported. Stopped
# while it waits (Ctrl-C, a terminal that closes), it withdraws its request: 130, 129 or 143.
#
# What the card shows are absolute paths, and these very bytes are pinned and given to rm,
# never a pattern and never read again from anywhere. What a folder holds is not pinned: what
# is in it when rm runs goes with it.
#
# Needed on the PATH: countersign (go build -o countersign ./cmd/bot) and jq.
set -eu

die() { code=$1; shift; printf '%s: %s\n' "${0##*/}" "$*" >&2; exit "$code"; }

queue() {
	verb=$1
	shift
	if [ -n "${REDIS_URL:-}" ]; then
		# Not by flags, which every user of the machine can read.
		COUNTERSIGN_CONFIG='' COUNTERSIGN_REDIS_URL=$REDIS_URL COUNTERSIGN_REDIS_NAMESPACE=${NAMESPACE:-approvals} \
			countersign "$verb" "$@"
	else
		countersign "$verb" "$@"
	fi
}

# What is still asked when this ends is asked no more. The bot may not have read it yet.
stopped() {
	[ -n "$asked" ] || exit "$1"
	id=$asked asked=''
	for _ in 1 2 3; do
		queue withdraw --reason "the command was stopped" "$id" >&2 && break
		sleep 1
	done
	die "$1" "stopped: nothing is deleted"
}

[ $# -gt 0 ] || die 2 "which paths?"
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
asked='' # the request that nobody has answered yet
trap 'stopped 129' HUP
trap 'stopped 130' INT
trap 'stopped 143' TERM

# 1. The command, as it would run. The x keeps a newline at the end of the folder's name.
cwd=$(pwd -P; echo x)
cwd=${cwd%?x}
for path; do
	case $path in
	'') die 2 "an empty path" ;;
	/*) ;;
	*) path=${cwd%/}/$path ;;
	esac
	[ -e "$path" ] || [ -L "$path" ] || die 2 "there is no $path"
	set -- "$@" "$path"
	shift
done
set -- rm -rf -- "$@"

# 2. The request. Lines and arguments are made from the same bytes; a name that JSON cannot
# carry as it is (not UTF-8) is not asked for.
printf '%s\0' "$@" >"$dir/argv"
id=rm-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
jq -Rs --arg id "$id" --arg seconds "${EXPIRES_IN:-3600}" '
	split("\u0000") | map(select(. != "")) as $argv | ($argv | length - 3) as $n | {
		approval_id: $id, runtime: "shell", tool: "rm", arguments: {argv: $argv}, effect: "destructive",
		expires_in: ($seconds | tonumber),
		card: {title: "Delete \($n) path\(if $n > 1 then "s" else "" end)", action: "Delete", lines: $argv[3:]}
	}' "$dir/argv" >"$dir/request.json"
jq -j '.arguments.argv[] | ., "\u0000"' "$dir/request.json" | cmp -s - "$dir/argv" ||
	die 2 "a name that is not UTF-8 cannot be shown on a card"

# 3. Ask, and claim what was approved. request believes no answer but the one to this very
# file, so the pin of its answer is the pin of this command.
code=0
asked=$id
queue request --wait -f "$dir/request.json" >"$dir/answer.json" || code=$?
asked=''
[ "$code" = 0 ] || die "$code" "nothing is deleted"
queue claim --pin "$(jq -r .pin "$dir/answer.json")" --by "$(id -un)/$$" "$id" >&2 ||
	die $? "not claimed: nothing is deleted"

# 4. Run it, once, after the claim and after nothing else.
code=0
"$@" 2>"$dir/errors" || code=$?
cat "$dir/errors" >&2

# 5. Say what happened, line by line.
shift 3
for path; do
	if [ -e "$path" ] || [ -L "$path" ]; then echo false; else echo true; fi
done >"$dir/gone"
jq -s --rawfile errors "$dir/errors" '{
	outcome: (if all then "executed" elif any then "partial" else "failed" end),
	results: [to_entries[] | {line: (.key + 1), ok: .value}], message: $errors[:2000]
}' "$dir/gone" >"$dir/report.json"
for _ in 1 2 3 4 5; do
	queue report -f "$dir/report.json" "$id" >&2 && exit "$code"
	sleep 1
done
die 70 "it ran (rm ended with $code), but $id could not be reported"
