#!/usr/bin/env bats
# t5-bucket: published buckets, laws that hold for every setting, refusals.

load helper

@test "golden: an encoder's 32 buckets up to 128 have the published edges" {
	run -0 t5-bucket --edges
	assert_line --index 0 "0,0,0"
	assert_line --index 8 "8,-11,-8"
	assert_line --index 9 "9,-15,-12"
	assert_line --index 10 "10,-22,-16"
	assert_line --index 11 "11,-31,-23"
	assert_line --index 12 "12,-45,-32"
	assert_line --index 13 "13,-63,-46"
	assert_line --index 14 "14,-90,-64"
	assert_line --index 15 "15,-inf,-91"
	assert_line --index 16 "17,1,1"
	assert_line --index 30 "31,91,inf"
	assert_equal "${#lines[@]}" 31
}

@test "golden: a decoder's 32 buckets up to 128 have the published edges" {
	local edges="0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 19 21 24 27 31 35 40 46 52 59 67 77 87 99 113"
	run -0 bash -c "t5-bucket --edges -c | cut -d, -f3 | tail -n +2 | tr -d - | paste -sd' '"
	assert_output "${edges#0 }"
}

# Settings at which a floating-point logarithm is one bucket low.
@test "golden: distances that lie exactly on an edge reach it" {
	while read -r setting offset bucket; do
		# shellcheck disable=SC2086  # a setting is several words
		run -0 t5-bucket ${setting//_/ } <<<"$offset"
		assert_output "$bucket"
	done <<-'END'
		--num-buckets_20_--max-distance_160 -10 6
		--num-buckets_20_--max-distance_160 -20 7
		--num-buckets_20_--max-distance_160 -40 8
		--num-buckets_20_--max-distance_160 -80 9
		--num-buckets_40_--max-distance_320 -20 12
		--num-buckets_40_--max-distance_320 40 34
		-c_--num-buckets_10_--max-distance_160 -10 6
		-c_--num-buckets_10_--max-distance_160 -20 7
		-c_--num-buckets_10_--max-distance_160 -40 8
		-c_--num-buckets_10_--max-distance_160 -80 9
	END
}

@test "law: buckets do not decrease with the distance, on either side, and end in the last" {
	for setting in "" "-c" "--num-buckets 7" "--num-buckets 100 --max-distance 64" "-c --num-buckets 2 --max-distance 2"; do
		run -0 bash -c "t5-bucket $setting --range -300:0 | cut -d, -f2 | sort -c -n -r"
		run -0 bash -c "t5-bucket $setting --range 1:300 | cut -d, -f2 | sort -c -n"
	done
}

@test "law: the matrix, the range and the filter agree" {
	t5-bucket -n 1x40 --query-start 20 | tr , '\n' >"$BATS_TEST_TMPDIR/matrix"
	t5-bucket --range -20:19 | cut -d, -f2 >"$BATS_TEST_TMPDIR/range"
	seq -20 19 | t5-bucket >"$BATS_TEST_TMPDIR/filter"
	cmp "$BATS_TEST_TMPDIR/matrix" "$BATS_TEST_TMPDIR/range"
	cmp "$BATS_TEST_TMPDIR/matrix" "$BATS_TEST_TMPDIR/filter"
}

@test "law: the edges name exactly the offsets of their bucket" {
	t5-bucket --range -200:200 --num-buckets 24 --max-distance 90 |
		awk -F, '{if (!($2 in lo)) lo[$2] = $1; hi[$2] = $1} END {for (b in lo) print b "," lo[b] "," hi[b]}' |
		sort -n >"$BATS_TEST_TMPDIR/seen"
	t5-bucket --edges --num-buckets 24 --max-distance 90 | sed 's/-inf/-200/; s/inf/200/' >"$BATS_TEST_TMPDIR/told"
	cmp "$BATS_TEST_TMPDIR/seen" "$BATS_TEST_TMPDIR/told"
}

@test "law: a matrix sharded by query rows is the whole one, byte for byte" {
	t5-bucket -n 50x70 -t i32 >"$BATS_TEST_TMPDIR/whole"
	{
		t5-bucket -n 20x70 -t i32
		t5-bucket -n 30x70 --query-start 20 -t i32
	} | cmp - "$BATS_TEST_TMPDIR/whole"
}

@test "limit: every int64 has a bucket" {
	run -0 t5-bucket <<<$'-9223372036854775808\n9223372036854775807'
	assert_output $'15\n31'
	run -0 t5-bucket -c --max-distance 9223372036854775807 <<<$'-9223372036854775808\n-9223372036854775807\n9223372036854775807'
	assert_output $'31\n31\n0'
}

@test "limit: offsets beyond 2^53 stay whole numbers" {
	run -0 t5-bucket --range 9007199254740993:9007199254740993
	assert_output "9007199254740993,31"
}

@test "golden: a [CLS] token has its own row and column" {
	run -0 t5-bucket -n 3 --cls
	assert_output $'16,16,16\n32,0,17\n32,1,0'
	run -0 t5-bucket -n 1x3 --cls --query-start 1
	assert_output "32,0,17"
}

@test "golden: the bias of a table, as a filter, a range and a matrix" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' 0,10 1,11 2,12 3,13 >t.csv
	run -0 t5-bucket --bias t.csv --max-distance 9 <<<$'-5,0\n1,0'
	assert_output $'1,0,11,10\n3,0,13,10'
	run -0 t5-bucket --bias t.csv --max-distance 9 --range -1:1
	assert_output $'-1,1,11\n0,0,10\n1,3,13'
	run -0 t5-bucket --bias t.csv --max-distance 9 -n 2
	assert_output $'0,3\n1,0\n10,13\n11,10'
}

@test "golden: header names" {
	run -0 t5-bucket --edges --header-out --num-buckets 4
	assert_line --index 0 "bucket,lowest,highest"
	run -0 t5-bucket --range 0:0 --header-out
	assert_line --index 0 "offset,bucket"
	run -0 t5-bucket --header-in --header-out <<<$'a,b\n1,2'
	assert_output $'a,b\n17,18'
}

@test "golden: npy holds i64 buckets" {
	run -0 bash -c "t5-bucket -n 2 -t npy | head -c 60 | tr -d '\0'"
	assert_output --partial "'descr': '<i8'"
}

@test "error: what is no offset is named" {
	refused 1 "t5-bucket: <stdin>: line 2, column 1: not an integer: '1.5'" t5-bucket <<<$'1\n1.5'
	refused 1 "t5-bucket: <stdin>: line 1, column 1: overflows i64: '9223372036854775808'" t5-bucket <<<9223372036854775808
	refused 1 "t5-bucket: <stdin>: line 1, column 2: not an integer: 'nan'" t5-bucket <<<1,nan
}

@test "error: a table whose rows are not the buckets" {
	cd "$BATS_TEST_TMPDIR"
	seq 8 >t.csv
	refused 1 "t5-bucket: t.csv: has 8 rows, 32 buckets take 32" t5-bucket --bias t.csv --num-buckets 32 -n 2
	refused 1 "t5-bucket: t.csv: has 8 rows, 8 buckets and [CLS] take 9" t5-bucket --bias t.csv --num-buckets 8 --cls -n 2
}

@test "usage: settings without a logarithmic part are refused with the smallest that works" {
	refused 2 "t5-bucket: num-buckets: must be at least 4 when bidirectional: '3'" t5-bucket --num-buckets 3 --edges
	refused 2 "t5-bucket: num-buckets: must be at least 2 when causal: '1'" t5-bucket -c --num-buckets 1 --edges
	refused 2 "t5-bucket: max-distance: must be at least 9 with 32 bidirectional buckets: '8'" t5-bucket --max-distance 8 --edges
	refused 2 "t5-bucket: max-distance: must be at least 17 with 32 causal buckets: '-1'" t5-bucket -c --max-distance -1 --edges
	run -0 t5-bucket --max-distance 9 --edges
	run -0 t5-bucket -c --max-distance 17 --edges
}

@test "usage: options without effect are refused" {
	refused 2 "t5-bucket: -f: has no effect beside -n" t5-bucket -n 2 -f csv
	refused 2 "t5-bucket: -f: has no effect beside --edges" t5-bucket --edges -f csv
	refused 2 "t5-bucket: --header-in: has no effect, nothing is read" t5-bucket --range 1:2 --header-in
	refused 2 "t5-bucket: --edges: has no effect beside -n" t5-bucket -n 3 --edges
	refused 2 "t5-bucket: --range: has no effect beside --edges" t5-bucket --edges --range 1:2
	refused 2 "t5-bucket: --bias: has no effect beside --edges" t5-bucket --edges --bias x.csv
	refused 2 "t5-bucket: --cls: has no effect without -n" t5-bucket --cls
	refused 2 "t5-bucket: --query-start: has no effect without -n" t5-bucket --range 1:2 --query-start 3
	refused 2 "t5-bucket: extra operand: 'x.csv'" t5-bucket -n 3 x.csv
}

@test "law: a raw table of biases has -d heads, where no rows are read" {
	cd "$BATS_TEST_TMPDIR"
	seq 1 64 | paste -d, - - | pe-cat -t f64 -o t.f64
	[ "$(t5-bucket --bias t.f64 -d 2 --range 1:1)" = "1,35,36" ]
	[ "$(t5-bucket --bias t.f64 -d 2 -n 1x2)" = $'1,35\n2,36' ]
	refused 2 "t5-bucket: t.f64: a raw stream does not tell its width: give -d" t5-bucket --bias t.f64 -n 2
	refused 2 "t5-bucket: --bias: a raw table does not tell its heads: 't.f64'" t5-bucket --bias t.f64 -d 1 <<<1
}

@test "usage: option values are checked" {
	refused 2 "t5-bucket: --range: must be LO:HI or LO:HI:STEP: '1:2:x'" t5-bucket --range 1:2:x
	refused 2 "t5-bucket: --range: must be LO:HI or LO:HI:STEP: '1:x'" t5-bucket --range 1:x
	refused 2 "t5-bucket: output: 1099511627776 rows x 1099511627776 columns x 8 bytes overflows" \
		t5-bucket -n 1099511627776
	refused 2 "t5-bucket: standard input is named twice: '-'" t5-bucket --bias - </dev/null
	refused 2 "t5-bucket: --num-buckets: not an integer: '4.0'" t5-bucket --num-buckets 4.0
	refused 2 "t5-bucket: --num-buckets: must be positive: '0'" t5-bucket --num-buckets 0
	refused 2 "t5-bucket: --max-distance: beyond 64 bits: '9223372036854775808'" t5-bucket --max-distance 9223372036854775808
	refused 2 "t5-bucket: -n: must be a count or ROWSxCOLS, both positive: '3x'" t5-bucket -n 3x
	refused 2 "t5-bucket: -n: must be a count or ROWSxCOLS, both positive: '0'" t5-bucket -n 0
	refused 2 "t5-bucket: --range: empty range: '2:1'" t5-bucket --range 2:1
	refused 2 "t5-bucket: --range: must be LO:HI or LO:HI:STEP: '2'" t5-bucket --range 2
	refused 2 "t5-bucket: --range: step must be positive: '1:2:0'" t5-bucket --range 1:2:0
	refused 2 "t5-bucket: --query-start: beyond 2^53, where positions are exact: '9007199254740993'" t5-bucket -n 2 --query-start 9007199254740993
}
