#!/bin/sh
# Trash three emails, but only if the owner says so.
#
#   examples/trash-3-emails.sh --redis URL --namespace NS    as the demo prints them
#   examples/trash-3-emails.sh                               by COUNTERSIGN_CONFIG
#
# This is what an agent's runtime does around a call that deletes: it asks, waits for
# the answer, claims what was approved, runs it, and says what happened. Then it stays
# until the owner wants it undone, or the time for that is over. Nothing is deleted
# here: run and undo only print.
#
# Needed on the PATH: countersign (go build -o countersign ./cmd/bot).
set -eu

queue=$*                              # --redis URL --namespace NS, or nothing
id=trash-$(date +%s)-$$               # one per call that is asked for
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# field NAME FILE prints a text or word of one line of JSON.
field() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" "$2"; }

run() { echo "running: trash_email m1 m2 m3"; }
undo() { echo "running: restore_email m1 m2 m3"; }

# 1. Ask. The arguments are what will run, exactly; the card is what the owner reads.
cat >"$dir/request.json" <<EOF
{
  "approval_id": "$id",
  "runtime": "mail-script",
  "tool": "trash_email",
  "arguments": {"ids": ["m1", "m2", "m3"]},
  "effect": "destructive",
  "card": {
    "title": "Trash 3 emails",
    "lines": [
      "Big sale, 70% off everything (shop@example.com)",
      "Last chance for your coupon (coupons@example.com)",
      "We miss you (hello@example.com)"
    ],
    "request": "Can you delete my promo emails?",
    "undo_tool": "restore_email",
    "undo_window_days": 30
  },
  "expires_in": 3600
}
EOF

# 2. Wait for the answer. The exit code says which it is.
echo "asking as $id; the answer is given in the chat"
code=0
# $queue is two flags with their values, so it is not quoted.
# shellcheck disable=SC2086
countersign request --wait -f "$dir/request.json" $queue >"$dir/answer.json" || code=$?
case $code in
0) echo "approved by $(field name "$dir/answer.json")" ;;
1) echo "rejected: nothing is done"; exit 1 ;;
3) echo "nobody answered in time: nothing is done"; exit 3 ;;
*) echo "not approved (exit code $code): nothing is done"; exit "$code" ;;
esac

# 3. Claim. Only one runner can, and only the call with this pin.
# shellcheck disable=SC2086
countersign claim "$id" --pin "$(field pin "$dir/answer.json")" --by "mail-script" $queue

# 4. Run, and say what happened. The card shows it, with an Undo button.
if run; then
	cat >"$dir/report.json" <<-'EOF'
		{"outcome": "executed", "message": "3 emails are in the bin",
		 "results": [{"line": 1, "ok": true}, {"line": 2, "ok": true}, {"line": 3, "ok": true}]}
	EOF
else
	echo '{"outcome": "failed", "message": "the mail server said no"}' >"$dir/report.json"
fi
# shellcheck disable=SC2086
countersign report "$id" -f "$dir/report.json" $queue

# 5. Stay, in case the owner wants it undone. The row is there for as long as that can be.
echo "staying, in case it is to be undone; Ctrl-C ends this"
# shellcheck disable=SC2086
while countersign show "$id" --json $queue >"$dir/row.json"; do
	if grep -q '"undo":' "$dir/row.json"; then
		undo
		echo '{"outcome": "undone"}' >"$dir/report.json"
		countersign report "$id" -f "$dir/report.json" $queue
		exit 0
	fi
	sleep 1
done
