#!/usr/bin/env bash
# loud.sh COMMAND... runs `go test -v …` and shows what `go test` would: a line a
# package, all of it when something fails. Unlike it, it ends with what was skipped.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log" | grep --line-buffered -E '^(ok|FAIL|panic:|---? FAIL|WARNING: DATA RACE)[[:space:]:]?'
status=${PIPESTATUS[0]}
if (( status != 0 )); then
	printf '\n== the whole output\n'
	cat "$log"
fi
if grep -q 'SKIPPED, NOT TESTED' "$log"; then
	printf '\n!! SKIPPED, NOT TESTED HERE\n'
	grep -oE 'SKIPPED, NOT TESTED: .*' "$log" | sort | uniq -c | sed 's/SKIPPED, NOT TESTED: //'
fi >&2
exit "$status"
