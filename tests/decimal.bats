#!/usr/bin/env bats
# Numbers as text, where a command shows them; every value is tested in tests/unit/decimal.c.
load helper

# round FORMAT: what comes back from the text of standard input, as text of FORMAT.
round() {
	pe-cat -f csv -t "$1"
}

@test "law: the table of powers of ten is what its generator makes" {
	needs python3
	run -0 diff "$ROOT/lib/decimal_powers.h" <(python3 "$ROOT/tests/generate/decimal_powers.py")
}

@test "golden: shortest digits of each element, laid out as Python's repr does" {
	run -0 round csv <<<'0.1,1e-4,1e-5,1e15,1e16,-0.0,5e-324,1.7976931348623157e308,9007199254740993'
	assert_output '0.1,0.0001,1e-05,1000000000000000,1e+16,-0,5e-324,1.7976931348623157e+308,9007199254740992'
	run -0 round csv:f32 <<<'0.1,16777217,3.4028234663852886e38,1e-45,0.33333333333333331'
	assert_output '0.1,16777216,3.4028235e+38,1e-45,0.33333334'
	run -0 round csv:f16 <<<'0.1,65504,6e-8,0.33333333333333331'
	assert_output '0.1,65500,6e-08,0.3333'
	run -0 round csv:bf16 <<<'0.1,3.3895313892515355e38,0.33333333333333331'
	assert_output '0.1,3.39e+38,0.334'
}

@test "golden: -p rounds ties to even and drops zeros" {
	run -0 pe-cat -f csv -p 2 <<<'0.125,0.375,2.5,12345,999,1e22,-0.0,nan,-inf'
	assert_output '0.12,0.38,2.5,12000,1000,1e+22,-0,nan,-inf'
	run -0 pe-cat -f csv -p 17 <<<'0.1,1e22,1e23'
	assert_output '0.10000000000000001,1e+22,9.9999999999999992e+22'
}

@test "reverse: a number of ten thousand digits is read to its last one" {
	local zeros
	zeros=$(printf '%010000d' 0)
	run -0 round csv <<<"9007199254740993.$zeros,9007199254740993.${zeros}1,0.${zeros}5e10001"
	assert_output '9007199254740992,9007199254740994,5'
}

@test "limit: exponents of any length" {
	run -0 round csv <<<'0e99999999999999999999,1e-99999999999999999999'
	assert_output '0,0'
	run -1 --separate-stderr round csv <<<'1e99999999999999999999'
	# shellcheck disable=SC2154  # bats sets stderr
	assert_regex "$stderr" "overflows f64: '1e99999999999999999999'"
}
