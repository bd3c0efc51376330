#!/usr/bin/env bats
# Every script of tests/examples runs and draws its picture; the set-up script says what it would do.
load helper

@test "law: every example script ends with status 0 and leaves a PNG of its own name" {
	needs gnuplot
	local script name
	for script in "$ROOT"/tests/examples/*.sh; do
		name=$(basename "$script" .sh)
		run -0 "$script" "$BATS_TEST_TMPDIR"
		assert_output "$BATS_TEST_TMPDIR/$name.png"
		[ "$(head -c 4 "$BATS_TEST_TMPDIR/$name.png" | tail -c 3)" = PNG ]
	done
}

@test "law: the demo runs and its experiments come out as it says" {
	needs gnuplot
	run -0 "$ROOT/tests/demo/demo.sh" "$BATS_TEST_TMPDIR"
	assert_line --partial "relattn:"
	assert_line --regexp "relattn: .*each word gets the same$"
	assert_line --regexp "relattn -c: .*each word gets not the same$"
	assert_line --regexp "pe-table --add .*each word gets not the same$"
}
