#!/usr/bin/env bash
# golden.sh [GLOB]: runs the golden cases whose expected file (first column) matches GLOB; TAP on stdout.
#
# tests/data/golden/{CASES,EXTRA}.tsv: expected, tolerance, kind, command. The command runs in that folder
# with the commands under test first on PATH, TMP a fresh folder, stdin empty. Kinds:
#   abs, rel  stdout is the matrix of the expected file within the tolerance (0: the same values)
#   bytes     stdout is the expected file, byte for byte
#   status    refused: the status stands in the second column, nothing on stdout, one line on stderr
# POSENC_BIN names the folder of the commands (default build/bin).
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$(cd "${POSENC_BIN:-$root/build/bin}" && pwd):$PATH || exit
export LC_ALL=C TMP
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out err=$scratch/err
limit=(); command -v timeout >/dev/null && limit=(timeout 60)

# judge EXPECTED TOLERANCE KIND STATUS: says what is wrong; nothing where all is well.
judge() {
	local expected=$1 tolerance=$2 kind=$3 status=$4 report

	if [ "$kind" = status ]; then
		[ "$status" -eq "$tolerance" ] || echo "status $status, wanted $tolerance"
		[ ! -s "$out" ] || echo "stdout is not empty"
		[ "$(wc -l <"$err")" -eq 1 ] || echo "stderr is not one line"
		return
	fi
	[ "$status" -eq 0 ] || { echo "status $status"; return; }
	case $kind in
	abs | rel)
		report=$(pe-cmp "--$kind" "$tolerance" --nan-equal -f csv "$expected" "$out" 2>&1) ||
			echo "differs by more than $tolerance: $report" ;;
	bytes) cmp "$expected" "$out" 2>&1 ;;
	*) echo "unknown kind: $kind" ;;
	esac
}

# run_case EXPECTED TOLERANCE KIND COMMAND: status 1, and what is wrong on stdout, where the case fails.
run_case() {
	local why

	TMP=$(mktemp -d "$scratch/XXXXXX")
	${limit[@]+"${limit[@]}"} bash -o pipefail -c "$4" </dev/null >"$out" 2>"$err"
	why=$(judge "$1" "$2" "$3" $?)
	[ -n "$why" ] || return 0
	printf '%s\n' "$4" "$why" "$(head -n 3 "$err")" | sed 's/^/# /'
	return 1
}

cd "$root/tests/data/golden" || exit
number=0 failures=0
while IFS=$'\t' read -r expected tolerance kind command; do
	# shellcheck disable=SC2053  # a glob is meant
	[[ $expected == ${1:-*} ]] || continue
	number=$((number + 1))
	if detail=$(run_case "$expected" "$tolerance" "$kind" "$command"); then
		echo "ok $number golden: $expected"
	else
		echo "not ok $number golden: $expected"
		echo "$detail"
		failures=$((failures + 1))
	fi
done < <(tail -q -n +2 CASES.tsv EXTRA.tsv)
echo "1..$number"
[ "$failures" -eq 0 ]
