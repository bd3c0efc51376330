#!/usr/bin/env bats
# alibi: the paper's slopes, bias matrices, refusals.

load helper

@test "golden: eight heads have the paper's slopes 1/2 ... 1/256" {
	run -0 alibi -H 8
	assert_output 0.5,0.25,0.125,0.0625,0.03125,0.015625,0.0078125,0.00390625
}

@test "golden: other counts take every other slope of the next power of two" {
	run -0 alibi -H 1
	assert_output 0.00390625
	run -0 alibi -H 6
	assert_output 0.25,0.0625,0.015625,0.00390625,0.5,0.125
}

@test "golden: sixteen heads go down by the square root of a half, correctly rounded" {
	run -0 alibi -H 16
	assert_output --regexp '^0.7071067811865476,0.5,0.3535533905932738,0.25,'
	run -0 alibi -H 16 -t csv:f32
	assert_output --regexp '^0.70710677,0.5,0.35355338,0.25,'
	run -0 alibi -H 16 -t csv:bf16
	assert_output --regexp '^0.707,0.5,0.354,0.25,'
}

@test "law: the first heads of any count are those of the power of two below" {
	for heads in 3 5 12 100; do
		below=1
		while ((2 * below <= heads)); do ((below *= 2)); done
		run -0 bash -c "alibi -H $heads | cut -d, -f1-$below"
		assert_output "$(alibi -H $below)"
	done
}

@test "golden: the three forms of a bias" {
	run -0 alibi -H 1 --max-bias 1 -n 2x3
	assert_output $'0,-0.5,-1\n-0.5,0,-0.5'
	run -0 alibi -H 1 --max-bias 1 -n 2x3 --form row
	assert_output $'0,0.5,1\n0,0.5,1'
	run -0 alibi -H 1 --max-bias 1 -n 2x3 -c
	assert_output $'0,-inf,-inf\n-0.5,0,-inf'
	run -0 alibi -H 1 --max-bias 1 -n 2x3 -c --query-start end
	assert_output $'-0.5,0,-inf\n-1,-0.5,0'
}

@test "law: biases are the slope times the distance, one stack per head" {
	alibi -H 5 -n 4 | awk 'NR % 4 == 2' | cut -d, -f1 | tr -d - >"$BATS_TEST_TMPDIR/bias"
	alibi -H 5 | tr , '\n' >"$BATS_TEST_TMPDIR/slopes"
	cmp "$BATS_TEST_TMPDIR/bias" "$BATS_TEST_TMPDIR/slopes"
}

@test "law: a bias sharded by query rows is the whole one, byte for byte" {
	for form in symmetric causal; do
		alibi -H 1 -n 50x70 --form $form -t f32 >"$BATS_TEST_TMPDIR/whole"
		{
			alibi -H 1 -n 20x70 --form $form -t f32
			alibi -H 1 -n 30x70 --form $form --query-start 20 -t f32
		} | cmp - "$BATS_TEST_TMPDIR/whole"
	done
}

@test "limit: more rows than one vector by offset serves" {
	run -0 bash -c "alibi -H 1 -n 70000x2 --max-bias 1 | tail -n 1"
	assert_output "-34999.5,-34999"
}

@test "error: a bias that overflows its element is refused" {
	refused 1 "alibi: offset -131040, head 0: bias overflows f16" alibi -H 1 --max-bias 1 -n 1x2 --query-start 131040 -t csv:f16
	run -0 alibi -H 1 --max-bias 1 -n 1x2 --query-start 131039 -t csv:f16
}

@test "usage: what is missing or has no effect is refused" {
	refused 2 "alibi: -H: must be given (see --help)" alibi
	refused 2 "alibi: -H: must be positive: '0'" alibi -H 0
	refused 2 "alibi: --max-bias: must be positive: '0'" alibi -H 2 --max-bias 0
	refused 2 "alibi: --form: has no effect without -n" alibi -H 2 --form row
	refused 2 "alibi: -c: has no effect without -n" alibi -H 2 -c
	refused 2 "alibi: --query-start: has no effect without -n" alibi -H 2 --query-start 1
	refused 2 "alibi: --query-start: has no effect beside --form row" alibi -H 2 -n 2 --form row --query-start 1
	refused 2 "alibi: --form: must be one of symmetric, row, causal: 'x'" alibi -H 2 -n 2 --form x
	refused 2 "alibi: extra operand: 'x'" alibi -H 2 x
}
