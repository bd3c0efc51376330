#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2059  # scripts in single quotes, text in printf escapes, a file read twice
# pe-cmp: its line, its limits, its statuses.
load helper

# compares STATUS LINE A B [OPTION...]: A and B are the cells, in printf escapes.
compares() {
	local status_due=$1 line=$2 a=$3 b=$4
	shift 4
	printf -- "$a\n" >"$BATS_TEST_TMPDIR/a.csv"
	printf -- "$b\n" >"$BATS_TEST_TMPDIR/b.csv"
	run "-$status_due" --separate-stderr pe-cmp "$@" "$BATS_TEST_TMPDIR/a.csv" "$BATS_TEST_TMPDIR/b.csv"
	assert_output "$line"
	assert_equal "$stderr" ""
}

@test "golden: limits in ulps, absolute, and nan" {
	cd "$DATA/golden" || return
	run -0 bash -c 'pe-cmp --ulp 1 extra_cmp_ulp.a.csv extra_cmp_ulp.b.csv; echo "status $?"'
	assert_output "$(cat extra_cmp_ulp.txt)"
	run -0 bash -c 'pe-cmp --abs 0.125 extra_cmp_abs.a.csv extra_cmp_abs.b.csv; echo "status $?"'
	assert_output "$(cat extra_cmp_abs.txt)"
	run -0 bash -c 'pe-cmp --nan-equal <(printf "nan,1\n2,inf\n") <(printf "NAN,1\n2,inf\n"); echo "status $?"'
	assert_output "$(cat extra_cmp_nan_equal.txt)"
}

@test "identity: a matrix equals itself, and -0 equals 0" {
	compares 0 "rows=2 cols=2 max_abs=0 max_rel=0 max_ulp=0 first=- worst=-" '1,-0\ninf,-inf' '1,0\ninf,-inf'
}

@test "law: the first cell that differs and the worst one, rows and columns from 0" {
	compares 1 "rows=2 cols=3 max_abs=2 max_rel=0.5 max_ulp=4503599627370496 first=0,1:2:1 worst=1,2:6:4" \
		'1,2,3\n4,5,6' '1,1,3\n4,5,4'
}

@test "law: the worst is of all cells, the first of those that differ" {
	compares 1 "rows=1 cols=2 max_abs=8 max_rel=1 max_ulp=4503599627370496 first=0,0:1:2 worst=0,1:1000:1008" \
		'1,1000' '2,1008' --rel 0.01
}

@test "law: any one limit is enough" {
	local line="rows=1 cols=2 max_abs=0.5 max_rel=0.5"
	compares 0 "$line max_ulp=2251799813685248 first=- worst=-" '1,1e3' '1.5,1000.5' --abs 0.5
	compares 1 "$line max_ulp=2251799813685248 first=0,0:1:1.5 worst=0,0:1:1.5" '1,1e3' '1.5,1000.5' --abs 0.49
	compares 0 "$line max_ulp=2251799813685248 first=- worst=-" '1,1e3' '1.5,1000.5' --rel 0.5
	compares 1 "$line max_ulp=2251799813685248 first=0,0:1:1.5 worst=0,0:1:1.5" '1,1e3' '1.5,1000.5' --rel 0.4 --abs 0.3
	compares 0 "$line max_ulp=2251799813685248 first=- worst=-" '1,1e3' '1.5,1000.5' --ulp 2251799813685248
	compares 1 "$line max_ulp=2251799813685248 first=0,0:1:1.5 worst=0,0:1:1.5" '1,1e3' '1.5,1000.5' --ulp 2251799813685247
}

@test "law: relative means to A" {
	compares 0 "rows=1 cols=1 max_abs=1 max_rel=0.5 max_ulp=2251799813685248 first=- worst=-" 2 3 --rel 0.5
	compares 1 "rows=1 cols=1 max_abs=1 max_rel=0.3333333333333333 max_ulp=2251799813685248 first=0,0:3:2 worst=0,0:3:2" 3 2 --rel 0.3
	compares 1 "rows=1 cols=1 max_abs=0.25 max_rel=inf max_ulp=4598175219545276416 first=0,0:0:0.25 worst=0,0:0:0.25" 0 0.25 --rel 1
}

@test "law: nan and infinities are infinitely far from anything else, whatever the limits" {
	local far="max_abs=inf max_rel=inf max_ulp=inf"
	for limit in "--abs 1e308" "--rel 1e308" "--ulp 1099511627776"; do
		# shellcheck disable=SC2086  # words
		compares 1 "rows=1 cols=1 $far first=0,0:nan:1 worst=0,0:nan:1" nan 1 $limit --nan-equal
		# shellcheck disable=SC2086  # words
		compares 1 "rows=1 cols=1 $far first=0,0:inf:-inf worst=0,0:inf:-inf" inf -inf $limit
		# shellcheck disable=SC2086  # words
		compares 1 "rows=1 cols=1 $far first=0,0:1:inf worst=0,0:1:inf" 1 inf $limit
	done
	compares 1 "rows=1 cols=1 $far first=0,0:nan:nan worst=0,0:nan:nan" nan nan
	compares 0 "rows=1 cols=1 max_abs=0 max_rel=0 max_ulp=0 first=- worst=-" nan -nan --nan-equal
}

@test "law: ulps count across zero, and are those of the element" {
	compares 1 "rows=1 cols=1 max_abs=1e-323 max_rel=2 max_ulp=2 first=0,0:5e-324:-5e-324 worst=0,0:5e-324:-5e-324" 4.9e-324 -4.9e-324
	compares 1 "rows=1 cols=1 max_abs=1.1920928955078125e-07 max_rel=1.1920928955078125e-07 max_ulp=1 first=0,0:1:1.0000001 worst=0,0:1:1.0000001" \
		1 1.0000001192092896 --as f32
	compares 1 "rows=1 cols=1 max_abs=0.0009765625 max_rel=0.0009765625 max_ulp=1 first=0,0:1:1.001 worst=0,0:1:1.001" 1 1.0009765625 --as f16
	compares 1 "rows=1 cols=1 max_abs=0.0078125 max_rel=0.0078125 max_ulp=1 first=0,0:1:1.01 worst=0,0:1:1.01" 1 1.0078125 --as bf16
	compares 0 "rows=1 cols=1 max_abs=0 max_rel=0 max_ulp=0 first=- worst=-" 1 1.0000000001 --as f32
}

@test "law: whole numbers are compared exactly" {
	compares 1 "rows=1 cols=1 max_abs=1 max_rel=1.1102230246251565e-16 max_ulp=0 first=0,0:9007199254740992:9007199254740993 worst=0,0:9007199254740992:9007199254740993" \
		9007199254740992 9007199254740993 -f csv:i64
	compares 1 "rows=1 cols=1 max_abs=1.8446744073709552e+19 max_rel=2 max_ulp=9781818390648717312 first=0,0:-9223372036854775808:9223372036854775807 worst=0,0:-9223372036854775808:9223372036854775807" \
		-9223372036854775808 9223372036854775807 -f csv:i64
}

@test "law: other shapes are told, and differ" {
	compares 1 "rows=2:1 cols=2:2" '1,2\n3,4' '1,2'
	compares 1 "rows=1:2 cols=2:2" '1,2' '1,2\n3,4'
	compares 1 "rows=1:1 cols=2:3" '1,2' '1,2,3'
	compares 1 "rows=1:3 cols=3:1" '1,2,3' '1\n2\n3'
}

@test "law: formats may differ, one side may be standard input, -q prints nothing" {
	printf '1,2\n3,4\n' >"$BATS_TEST_TMPDIR/x.csv"
	pe-cat -o "$BATS_TEST_TMPDIR/x.npy" "$BATS_TEST_TMPDIR/x.csv"
	run -0 pe-cmp "$BATS_TEST_TMPDIR/x.npy" - <"$BATS_TEST_TMPDIR/x.csv"
	assert_output "rows=2 cols=2 max_abs=0 max_rel=0 max_ulp=0 first=- worst=-"
	run -0 pe-cmp -q "$BATS_TEST_TMPDIR/x.npy" - <"$BATS_TEST_TMPDIR/x.csv"
	assert_output ""
	run -1 pe-cmp --quiet "$BATS_TEST_TMPDIR/x.npy" - <<<"1,2"
	assert_output ""
}

@test "law: long matrices are compared to their ends in constant memory" {
	under_sanitizer && skip "a sanitizer wants its own address space"
	run -1 bash -c 'ulimit -v 30000; pe-cmp <(seq 1000000) <(seq 999999; echo 7)'
	assert_output --partial "first=999999,0:1000000:7"
}

@test "error: what cannot be read or written is status 2" {
	cd "$BATS_TEST_TMPDIR" || return
	echo 1 >x.csv
	refused 2 "pe-cmp: none: No such file or directory" pe-cmp x.csv none
	echo 1, >y.csv
	refused 2 "pe-cmp: y.csv: line 1, column 2: empty field (trailing comma?)" pe-cmp x.csv y.csv
	refused 2 "pe-cmp: x.csv: line 1, column 1: overflows f16: '70000'" bash -c 'echo 70000 >x.csv; exec pe-cmp --as f16 x.csv x.csv'
	[ -c /dev/full ] || skip "no full device"
	run -2 --separate-stderr bash -c 'echo 1 >x.csv; exec pe-cmp x.csv x.csv >/dev/full'
	assert_equal "$stderr" "pe-cmp: <stdout>: No space left on device"
}

@test "usage: operands and limits that are none" {
	refused 2 "pe-cmp: two matrices must be named (see --help)" pe-cmp
	refused 2 "pe-cmp: two matrices must be named (see --help)" pe-cmp a
	refused 2 "pe-cmp: extra operand: 'c'" pe-cmp a b c
	refused 2 "pe-cmp: standard input is named twice: '-'" pe-cmp - - </dev/null
	refused 2 "pe-cmp: --abs: must not be negative: '-1'" pe-cmp --abs -1 a b
	refused 2 "pe-cmp: --rel: must not be negative: '-0.5'" pe-cmp --rel -0.5 a b
	refused 2 "pe-cmp: --abs: must be finite: 'nan'" pe-cmp --abs nan a b
	refused 2 "pe-cmp: --ulp: must not be negative: '-1'" pe-cmp --ulp -1 a b
	refused 2 "pe-cmp: --ulp: not an integer: '1.5'" pe-cmp --ulp 1.5 a b
	refused 2 "pe-cmp: --as: must be one of f32, f16, bf16: 'f64'" pe-cmp --as f64 a b
}
