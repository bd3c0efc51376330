#!/usr/bin/env bash
# check.sh [REGEX]: runs every test, or the stages that match, and closes with one line, "N passed, N failed[, N skipped]". `make check` calls it
# after building. Logs stand in BUILD/check; what failed is shown.
#
# BUILD (default build) holds the commands. Their sanitized twin in BUILD/asan goes through all of it too; further
# builds that TWINS names (another compiler) go through the goldens and the examples. LONG=1 adds what takes minutes: faults
# injected at every call, fuzzing, random command lines.
set -u
cd "$(dirname "$0")/.." || exit
build=${BUILD:-build}
logs=$build/check
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
only=${1:-.*}
# What surrounds the commands is tested once, not through every twin.
shopt -s extglob nullglob
around=(tests/@(layers|help|install|gallery|setup).bats)
commands=(tests/!(layers|help|install|gallery|setup).bats)
passed=0 failed=0 skipped=0
rm -rf "$logs" && mkdir -p "$logs" || exit

count() { # count REGEX FILE
	grep -cE "$1" "$2"
}

# stage NAME COMMAND...: runs COMMAND, which prints TAP, and adds up what it says.
stage() {
	local name=$1 log=$logs/$1.tap status=0 ok not skip began=$SECONDS
	[[ $name =~ ^($only)$ ]] || return 0
	shift
	"$@" >"$log" 2>"$log.err" </dev/null || status=$?
	skip=$(count '^ok .*# (skip|SKIP)' "$log")
	ok=$(($(count '^ok ' "$log") - skip))
	not=$(count '^not ok ' "$log")
	if [ "$status" -ne 0 ] && [ "$not" -eq 0 ]; then
		not=1 # it broke off: no line of its own says so
		echo "not ok $name: ended with status $status" | tee -a "$log"
		tail -n 20 "$log.err"
	fi
	passed=$((passed + ok)) failed=$((failed + not)) skipped=$((skipped + skip))
	printf '%-16s %4d passed  %3d failed  %3d skipped  %4d s\n' "$name" "$ok" "$not" "$skip" $((SECONDS - began))
	[ "$not" -eq 0 ] || awk '/^(ok|1\.\.)/ { show = 0 } /^not ok/ { show = 1 } show' "$log"
}

# suite FILE...: bats, in parallel where GNU parallel is there.
suite() {
	local options=(--formatter tap)
	if parallel --version 2>/dev/null | grep -q GNU; then
		options+=(--jobs "$jobs")
	fi
	[ $# -eq 0 ] || bats "${options[@]}" "$@"
}

unit_tests() {
	if ! CC=${CC:-cc} tests/setup.sh -n unit 2>/dev/null; then
		echo "ok 1 unit # skip needs cmocka.h"
		[ "${CI:-}" != true ]
		return
	fi
	${MAKE:-make} -s check-unit BUILD="$build"
}

# The committed inputs of the fuzz targets, through the sanitized twin.
corpus() {
	local target status=0
	for target in "$build"/asan/fuzz/*; do
		[ -x "$target" ] || continue
		if "$target" "tests/fuzz/corpus/${target##*/}"/*; then
			echo "ok corpus: ${target##*/}"
		else
			echo "not ok corpus: ${target##*/}"
			status=1
		fi
	done
	rm -f /dev/shm/posenc-fuzz-* /tmp/posenc-fuzz-*
	return "$status"
}

# What the commands in the folder BIN do: prefix is for the stage's name.
behaviour() { # BIN PREFIX
	POSENC_BIN=$PWD/$1
	export POSENC_BIN
	stage "${2}golden" tests/golden.sh
	stage "${2}examples" tests/examples.sh
}

stage unit unit_tests
stage around suite "${around[@]}"
behaviour "$build/bin" ''
stage bats suite "${commands[@]}"
for twin in "$build/asan" ${TWINS:-}; do
	[ ! -d "$twin/bin" ] || behaviour "$twin/bin" "${twin##*/}-"
done
POSENC_BIN=$PWD/$build/asan/bin stage asan-bats suite "${commands[@]}"
POSENC_BIN=$PWD/$build/bin # what follows is of the build itself
stage corpus corpus
if [ -n "${LONG:-}" ]; then
	stage torture "${MAKE:-make}" -s check-torture BUILD="$build"
	stage fuzz "${MAKE:-make}" -s fuzz BUILD="$build" FUZZ_SECONDS=12
	stage valgrind tests/valgrind.sh '@(sin_d4|shift_k3|attn_t5_c|attn_rope_h|t5_buckets_std.|rope_half_d|extra_cat_t|extra_sim_row|nerf|alibi_slopes)*'
	stage options tests/fuzz/options.sh 60
fi
stage lint tests/lint.sh

summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary+=", $skipped skipped"
echo "$summary" | tee "$logs/summary"
[ "$failed" -eq 0 ]
