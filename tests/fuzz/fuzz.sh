#!/usr/bin/env bash
# fuzz.sh TARGET...: each target under libFuzzer for SECONDS_EACH seconds, from its corpus in tests/fuzz/corpus;
# what reaches new code is kept in BUILD/new/TARGET, a crash in BUILD/crash-TARGET-*; TAP on stdout.
# `make fuzz` builds and calls it. Committed inputs grow by: TARGET -merge=1 tests/fuzz/corpus/TARGET BUILD/new/TARGET
set -u
cd "$(dirname "$0")/../.." || exit
build=${BUILD:-build/fuzzing}
failed=0

for target; do
	mkdir -p "$build/new/$target"
	log=$build/$target.log
	if "$build/fuzz/$target" -max_total_time="${SECONDS_EACH:-60}" -max_len=2048 -print_final_stats=1 -timeout=10 \
		-rss_limit_mb=1024 -artifact_prefix="$build/crash-$target-" -dict=tests/fuzz/words.dict \
		"$build/new/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
		echo "ok fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
	else
		failed=1
		echo "not ok fuzz: $target"
		grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse)' "$log" | tail -n 40 | sed 's/^/# /'
	fi
done
rm -f /dev/shm/posenc-fuzz-* /tmp/posenc-fuzz-*
exit "$failed"
