#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2094  # scripts in single quotes, text in printf escapes, a file read twice
# pe-cat: stacking, cutting, transposing, elements; what is refused. tests/formats.bats holds the formats themselves.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf '1,2,3\n4,5,6\n7,8,9\n' >x.csv
}

@test "golden: a cut, then a transpose" {
	run -0 pe-cat --rows 1:3 --cols 2:7 --transpose "$DATA/golden/extra_cat_cut_transpose.x.csv"
	assert_output "$(cat "$DATA/golden/extra_cat_cut_transpose.csv")"
}

@test "identity: without options rows come out as they went in" {
	run -0 pe-cat x.csv
	assert_output "$(cat x.csv)"
	run -0 pe-cat - <x.csv
	assert_output "$(cat x.csv)"
	run -0 pe-cat --rows : --cols 0: x.csv
	assert_output "$(cat x.csv)"
}

@test "law: files are stacked in order, whatever their formats" {
	pe-cat -o x.npy x.csv
	pe-cat -o x.f32 x.csv
	run -0 pe-cat x.npy - x.csv <x.csv
	assert_output "$(cat x.csv x.csv x.csv)"
	run -0 pe-cat -d 3 x.f32 x.npy
	assert_output "$(cat x.csv x.csv)"
}

@test "limit: more files than may be open at once" {
	local i
	for ((i = 0; i < 100; i++)); do
		echo "$i" >"$i.csv"
	done
	run -0 bash -c 'ulimit -n 32; pe-cat --rows 50: {0..99}.csv'
	assert_output "$(seq 50 99)"
}

@test "law: a range of rows runs across files, and no row behind it is read" {
	run -0 pe-cat --rows 2:4 x.csv x.csv
	assert_output "$(printf '7,8,9\n1,2,3')"
	run -0 pe-cat --rows 5: x.csv x.csv
	assert_output "7,8,9"
	run -0 pe-cat --rows :1 x.csv x.csv
	assert_output "1,2,3"
	run -0 bash -c 'yes 1,2 | pe-cat --rows 10:12'
	assert_output "$(printf '1,2\n1,2')"
	run -0 pe-cat --rows :1 <(printf '1,2\nx\n')
	assert_output "1,2"
}

@test "law: columns are cut from either side" {
	run -0 pe-cat --cols 1:2 x.csv
	assert_output "$(printf '2\n5\n8')"
	run -0 pe-cat --cols :2 x.csv
	assert_output "$(printf '1,2\n4,5\n7,8')"
	run -0 pe-cat --cols 2: -t f64 x.csv
	assert_equal "$(pe-cat --cols 2: -t f64 x.csv | pe-cat -f f64 -d 1 | tr '\n' ' ')" "3 6 9 "
}

@test "reverse: transposing twice, for every element and odd sizes" {
	local element
	seq 1 391 | paste -sd, | tr , '\n' | paste -d, - - - - - - - - - - - - - - - - - >y.csv
	for element in f64 f32 f16 i32 i64; do
		pe-cat -t npy:$element y.csv | pe-cat --transpose -t npy | pe-cat --transpose | cmp - y.csv
	done
	[ "$(pe-cat --transpose y.csv | sed -n 2p | cut -d, -f 1-3)" = 2,19,36 ]
	[ "$(pe-cat --transpose y.csv | wc -l)" -eq 17 ]
}

@test "law: whole numbers of 64 bits come through exactly, alone and stacked" {
	printf '9007199254740993,-9223372036854775808\n' | pe-cat -t i64 >x.i64
	run -0 pe-cat -d 2 x.i64
	assert_output "9007199254740993,-9223372036854775808"
	pe-cat -d 2 -t npy x.i64 | grep -q "<i8"
	pe-cat -t npy:i32 x.csv >a.npy
	pe-cat -t npy:i64 x.csv >b.npy
	pe-cat -t npy a.npy b.npy | grep -q "<i8"
	pe-cat -t npy a.npy a.npy | grep -q "<i4"
	run -0 pe-cat a.npy b.npy
	assert_output "$(cat x.csv x.csv)"
}

@test "law: npy takes the widest element of the inputs" {
	local a b due
	while read -r a b due; do
		pe-cat -t "npy:$a" x.csv >a.npy
		pe-cat -t "$b" x.csv >"b.$b"
		pe-cat -d 3 -t npy a.npy "b.$b" | grep -q "'<$due'" || fail "$a $b $due"
	done <<-'END'
		f32 f32 f4
		f16 f16 f2
		f16 f32 f4
		f16 bf16 f4
		f32 f64 f8
		i32 f32 f8
		i32 i64 i8
	END
	pe-cat -t npy x.csv | grep -q "<f8"
	pe-cat -t f16 x.csv | pe-cat -f f16 -d 3 -t npy | grep -q "<f2"
}

@test "law: an f16 and a bf16 pass bit for bit" {
	printf '\001\000\377\173\000\200\001\376' >x.f16
	pe-cat -d 2 -t f16 x.f16 | cmp - x.f16
	pe-cat -d 2 -t f32 x.f16 | pe-cat -f f32 -d 2 -t f16 | od -An -tx2 >got
	assert_equal "$(cat got)" " 0001 7bff 8000 fe01"
	printf '\001\000\177\177' >x.bf16
	pe-cat -d 2 -t bf16 x.bf16 | cmp - x.bf16
	pe-cat -d 2 -t csv:bf16 x.bf16 | pe-cat -t bf16 | cmp - x.bf16
}

@test "law: names of the first input are passed on, cut with the columns, and end at --transpose" {
	printf 'a,b,c\n1,2,3\n' >n.csv
	run -0 pe-cat --header-in --header-out --cols 1: n.csv
	assert_output "$(printf 'b,c\n2,3')"
	run -0 pe-cat --header-in --header-out --transpose n.csv
	assert_output "$(printf 'x0\n1\n2\n3')"
	run -0 pe-cat --header-in n.csv n.csv
	assert_output "$(printf '1,2,3\n1,2,3')"
	run -0 pe-cat --header-out --cols 1: x.csv
	assert_line --index 0 "x0,x1"
}

@test "law: the stamp is a comment that holds the command" {
	run -0 pe-cat --stamp --cols :1 x.csv
	assert_line --index 0 --regexp '^# posenc [0-9.]+: pe-cat --stamp --cols :1 x\.csv$'
	run -0 bash -c 'pe-cat --stamp x.csv | pe-cat'
	assert_output "$(cat x.csv)"
}

@test "law: npy to a pipe and to a file are the same bytes, with the row count known or not" {
	pe-cat -o x.npy x.csv
	pe-cat -t npy x.csv | cmp - x.npy
	pe-cat -t npy --rows 0:3 x.csv | cmp - x.npy
	pe-cat -t npy x.npy | cmp - x.npy
	pe-cat -o y.npy <x.npy
	cmp x.npy y.npy
}

@test "error: ranges past the end" {
	refused 1 "pe-cat: row 9: x.csv has rows 0..2" pe-cat --transpose --rows 0:10 x.csv
	refused 1 "pe-cat: row 3: x.csv has rows 0..2" pe-cat --rows 3: x.csv
	refused 1 "pe-cat: row 6: the input has rows 0..5" pe-cat --rows 6: x.csv x.csv
	refused 1 "pe-cat: column 3: rows have columns 0..2" pe-cat --cols 0:4 x.csv
	refused 1 "pe-cat: column 3: rows have columns 0..2" pe-cat --cols 3: x.csv
	pe-cat -o x.npy x.csv
	refused 1 "pe-cat: row 3: x.npy has rows 0..2" pe-cat --rows 1:4 x.npy
	refused 1 "pe-cat: row 6: the input has rows 0..5" pe-cat --rows 1:7 x.npy x.npy
}

@test "error: inputs of different width, told before a row is written" {
	printf '1,2\n' >y.csv
	refused 1 "pe-cat: y.csv: line 1, column 3: row has 2 columns, 3 are due" pe-cat x.csv y.csv
	pe-cat -o y.npy y.csv
	refused 1 "pe-cat: y.npy: rows have 2 columns, 3 are due" pe-cat x.csv y.npy
	refused 1 "pe-cat: y.npy: rows have 2 columns, 4 are due" pe-cat -d 4 y.npy
}

@test "error: files that cannot be opened, told before a row is written" {
	refused 1 "pe-cat: none.csv: No such file or directory" pe-cat x.csv none.csv
	refused 1 "pe-cat: .: Is a directory" pe-cat x.csv .
	refused 1 "pe-cat: a\\nb\\x1b: No such file or directory" pe-cat $'a\nb\x1b'
}

@test "error: nothing to transpose" {
	pe-cat --transpose --cols :1 x.csv >/dev/null
	{
		printf '\x93NUMPY\001\000\072\000'
		printf '%-57s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}"
	} >empty.npy
	refused 1 "pe-cat: no rows to transpose" pe-cat --transpose empty.npy
}

@test "usage: ranges that are none" {
	local range
	for range in 1 a:b -1:2 1:-1 1:2:3 '' 0x1:2 99999999999999999999:; do
		refused 2 "pe-cat: --rows: must be A:B, counted from 0: '$range'" pe-cat --rows "$range" x.csv
	done
	refused 2 "pe-cat: --rows: empty range: '2:2'" pe-cat --rows 2:2 x.csv
	refused 2 "pe-cat: --cols: empty range: '3:1'" pe-cat --cols 3:1 x.csv
}

@test "usage: options, operands and suffixes that are none" {
	refused 2 "pe-cat: unknown option (see --help): '--row-s'" pe-cat --row-s 1:2 x.csv
	refused 2 "pe-cat: standard input is named twice: '-'" pe-cat - - <x.csv
	refused 2 "pe-cat: -d: must be positive: '0'" pe-cat -d 0 x.csv
	refused 2 "pe-cat: --rows: needs a value" pe-cat --rows
}

@test "golden: pairs moved in whole rows, in heads, and along rows" {
	run -0 pe-cat --pairs interleaved:halves <<<1,2,3,4,5,6
	assert_output 1,3,5,2,4,6
	run -0 pe-cat --pairs adjacent:halves -H 2 <<<1,2,3,4,5,6,7,8
	assert_output 1,3,2,4,5,7,6,8
	run -0 bash -c 'seq 6 | pe-cat --pairs halves:interleaved --along rows | paste -sd,'
	assert_output 1,4,2,5,3,6
}

@test "reverse: pairs moved there and back" {
	pe-table -n 5 -d 24 >t.csv
	pe-cat --pairs interleaved:halves -H 3 t.csv | pe-cat --pairs halves:interleaved -H 3 | cmp - t.csv
	pe-cat --pairs interleaved:halves t.csv | cmp - <(pe-table -n 5 -d 24 --layout halves)
}

@test "law: projections moved head by head give the same scores with the other pairing" {
	pe-table -n 6 -d 12 -b 50 >t.csv
	pe-table -n 12 -d 16 -s 3 -b 7 >wq.csv
	pe-table -n 12 -d 8 -s 90 -b 9 >wk.csv
	relattn -H 4 --kv-heads 2 --wq wq.csv --wk wk.csv --rope --emit logits t.csv >a.csv
	relattn -H 4 --kv-heads 2 --wq <(pe-cat --pairs interleaved:halves -H 4 wq.csv) \
		--wk <(pe-cat --pairs interleaved:halves -H 2 wk.csv) --rope --rope-pairs halves --emit logits t.csv |
		pe-cmp --abs 1e-13 a.csv -
}

@test "golden: both skews, alone and with a cut and a transpose" {
	run -0 pe-cat --skew full <<<$'1,2,3\n4,5,6'
	assert_output $'2,3\n4,5'
	run -0 pe-cat --skew causal <<<$'1,2\n3,4'
	assert_output $'2,0\n3,4'
	run -0 pe-cat --skew causal --cols 1: --transpose <<<$'9,1,2\n9,3,4'
	assert_output $'2,3\n0,4'
}

@test "error: shapes that no skew and no pairing has" {
	refused 1 "pe-cat: a full skew takes 2L - 1 columns, an odd count: '2'" pe-cat --skew full <<<1,2
	run -1 --separate-stderr pe-cat --skew causal <<<$'1,2\n3,4\n5,6'
	assert_equal "$stderr" "pe-cat: --skew: 2 rows are due, more come"
	run -1 --separate-stderr pe-cat --skew causal <<<1,2
	assert_equal "$stderr" "pe-cat: --skew: 2 rows are due, fewer come"
	refused 1 "pe-cat: --pairs: 6 columns are not 2 heads of an even width" pe-cat --pairs halves:interleaved -H 2 <<<1,2,3,4,5,6
	refused 1 "pe-cat: --pairs: 3 rows are not 1 head of an even width" pe-cat --pairs halves:interleaved --along rows <<<$'1\n2\n3'
}

@test "golden: a C array holds the same bits" {
	run -0 pe-cat -t c --name w <<<$'1,-0,nan\n-inf,0.1,1e300'
	assert_output $'#include <math.h>\nstatic const double w[2][3] = {\n\t{1.0, -0.0, NAN},\n\t{-INFINITY, 0.1, 1e+300},\n};'
	run -0 pe-cat -o /dev/stdout -t c:f32 -p 3 --stamp <<<0.123456
	assert_output $'/* posenc '"$(pe-cat --version | sed 's/.* //')"$': pe-cat -o /dev/stdout -t c:f32 -p 3 --stamp */\nstatic const float table[1][1] = {\n\t{0.123f},\n};'
}

@test "law: lines of a C array end before column 100, and their numbers are all there" {
	pe-table -n 3 -d 40 >x.csv
	pe-cat -t c x.csv >x.c
	[ "$(expand x.c | awk 'length > 100' | wc -l)" -eq 0 ]
	[ "$(wc -l <x.c)" -gt 15 ]
	tail -n +2 x.c | tr -d '{};\n\t ' | tr , '\n' | sed 's/\.0$//' | cmp - <(tr , '\n' <x.csv)
}

@test "golden: pictures scale to the matrix, to a range, and by a zoom" {
	run -0 bash -c 'printf "0,1\n-1,nan\n" | pe-cat -t ppm | tail -c 12 | od -An -tu1 -v | tr -s " \n" " "'
	assert_output " 255 255 255 255 0 0 0 0 255 128 128 128 "
	run -0 bash -c 'printf "0,1,5,-inf,inf\n" | pe-cat -t pgm --range 0:2 | tail -c 5 | od -An -tu1'
	assert_output " 0 128 255 0 255" || assert_output "   0 128 255   0 255"
	run -0 bash -c 'printf "0,1\n" | pe-cat -t pgm --zoom 2 | od -An -c | tr -d " \n"'
	assert_output 'P5\n42\n255\n\0\0377377\0\0377377'
	run -0 bash -c 'printf "7,7\n" | pe-cat -t pgm | tail -c 2 | od -An -tu1 | tr -s " "'
	assert_output " 0 0"
}

@test "usage: options that a kind of output does not have" {
	refused 2 "pe-cat: --range: has no effect without -t ppm or pgm" pe-cat --range 0:1 x.csv
	refused 2 "pe-cat: --zoom: has no effect without -t ppm or pgm" pe-cat --zoom 2 -t c x.csv
	refused 2 "pe-cat: --zoom: must be positive: '0'" pe-cat --zoom 0 x.csv
	refused 2 "pe-cat: --range: empty range: '1:1'" pe-cat -t pgm --range 1:1 x.csv
	refused 2 "pe-cat: --name: has no effect without -t c or safetensors" pe-cat --name a x.csv
	refused 2 "pe-cat: --name: no C identifier: '2a'" pe-cat -t c --name 2a x.csv
	refused 2 "pe-cat: --name: no C identifier: 'int'" pe-cat -t c --name int x.csv
	refused 2 "pe-cat: -t: a C array is of f64 or f32: 'i32'" pe-cat -t c:i32 x.csv
	refused 2 "pe-cat: -t: a picture has no element: 'f32'" pe-cat -t ppm:f32 x.csv
	refused 2 "pe-cat: -p: has no effect: the output is no text" pe-cat -t ppm -p 3 x.csv
	refused 2 "pe-cat: --header-out: has no effect beside -t c" pe-cat -t c --header-out x.csv
	refused 2 "pe-cat: -H: has no effect without --pairs" pe-cat -H 2 x.csv
	refused 2 "pe-cat: --along: has no effect without --pairs" pe-cat --along rows x.csv
	refused 2 "pe-cat: --skew: has no effect beside --pairs" pe-cat --skew full --pairs halves:interleaved x.csv
	refused 2 "pe-cat: --pairs: must be one of interleaved:halves, adjacent:halves, halves:interleaved, halves:adjacent: 'x'" pe-cat --pairs x x.csv
}
