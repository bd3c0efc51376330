#!/usr/bin/env bats
# pe-shift: the matrix M_k, its laws, its action on rows, refusals.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Conventions that move columns or frequencies, one a line.
conventions() {
	cat <<-'END'
		--layout interleaved
		--layout halves
		--flip
		--layout halves --flip
		--layout halves --freq-shift 1
		--pos-scale 0.25 -b 50
		--preset guided-diffusion
		--preset x-transformers
	END
}

@test "golden: the block of a pair is [[cos, sin], [-sin, cos]]" {
	run -0 pe-shift -k 1 -d 4 -p 4
	assert_output "0.5403,0.8415,0,0
-0.8415,0.5403,0,0
0,0,1,0.01
0,0,-0.01,1"
	run -0 pe-shift -k 1 -d 2 --flip -p 4 # cosine first: its row and column come first
	assert_output "0.5403,-0.8415
0.8415,0.5403"
	run -0 pe-shift -k 1 -d 4 --layout halves -p 4
	assert_output "0.5403,0,0.8415,0
0,1,0,0.01
-0.8415,0,0.5403,0
0,-0.01,0,1"
}

@test "law: no shift is no change, and leaves no minus before a zero" {
	local convention
	while read -r convention; do
		same "pe-shift -k 0 -d 4 $convention" "printf '1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n'"
	done < <(conventions)
	same "pe-table -n 5 -d 6 | pe-shift -k 0 --apply" "pe-table -n 5 -d 6"
	run -0 bash -c "pe-shift -k -1e-30 -d 4 -t csv:f16 -g -2"
	assert_output "-2,0,0,0
0,-2,0,0
0,0,-2,0
0,0,0,-2"
}

@test "law: the shift back is the transpose, to the bit" {
	local convention to k
	while read -r convention; do
		for k in 1 3 2.5 123456.789 9007199254740992; do
			same "pe-shift -k -$k -d 6 $convention" "pe-shift -k $k -d 6 $convention | pe-cat --transpose"
		done
	done < <(conventions)
	for to in csv:f32 csv:f16 csv:bf16; do
		same "pe-shift -k -3 -d 8 -g 5 -t $to" "pe-shift -k 3 -d 8 -g 5 -t $to | pe-cat --transpose -t $to"
	done
}

@test "law: a shifted table is the table that starts later" {
	local convention
	while read -r convention; do
		[[ $convention != *x-transformers ]] || continue # its table has a gain
		near 4e-16 "pe-table -n 40 -d 8 $convention | pe-shift -k 3 --apply $convention" "pe-table -n 40 -s 3 -d 8 $convention"
		near 4e-16 "pe-table -n 40 -d 8 $convention | pe-shift -k -7.5 --apply $convention" \
			"seq -7.5 31.5 | pe-table --positions - -d 8 $convention"
	done < <(conventions)
	near 4e-16 "pe-table -n 9 -d 8 | pe-shift -k 9007199254740000 --apply" "pe-table -n 9 -s 9007199254740000 -d 8"
}

@test "law: --apply is the product with the matrix, gain and all" {
	local convention
	pe-table -n 7 -d 8 -b 3 -g 2 -s 5 >x.csv
	while read -r convention; do
		# shellcheck disable=SC2086  # a convention is several words
		pe-shift -k 1.5 -g -3 -d 8 $convention >m.csv
		near 4e-15 "pe-shift -k 1.5 -g -3 --apply $convention x.csv" "awk -F , '
			NR == FNR { for (j = 1; j <= 8; j++) m[NR, j] = \$j; next }
			{ for (i = 1; i <= 8; i++) { s = 0; for (j = 1; j <= 8; j++) s += m[i, j] * \$j; printf \"%.17g%s\", s, (i < 8 ? \",\" : \"\n\") } }
		' m.csv x.csv"
	done < <(conventions)
}

@test "law: shifts add up, and the gain is a factor" {
	near 3e-15 "pe-table -n 9 -d 8 | pe-shift -k 2.25 --apply | pe-shift -k -0.25 --apply | pe-shift -k -2 --apply" "pe-table -n 9 -d 8"
	same "pe-shift -k 3 -d 6 -g 4" "pe-shift -k 3 -d 6 | pe-table --learned - -n 6 -g 4"
	same "pe-table -n 9 -d 6 | pe-shift -k 3 --apply -g 4" "pe-table -n 9 -d 6 -g 4 | pe-shift -k 3 --apply"
}

@test "law: of a preset the shift takes columns and frequencies, not the gain" {
	same "pe-shift -k 3 -d 8 --preset x-transformers" "pe-shift -k 3 -d 8 --layout halves"
	same "pe-shift -k 3 -d 8 --no-flip --preset guided-diffusion -b 77" "pe-shift -k 3 -d 8 --layout halves -b 77"
	same "pe-shift -k 3 -d 8 --preset detr" "pe-shift -k 3 -d 8"
}

@test "law: formats, names and elements go through as in every filter" {
	same "printf 'a,b\n1,0\n' | pe-shift -k 0 --apply --header-in --header-out" "printf 'a,b\n1,0\n'"
	same "printf '1,0\n' | pe-shift -k 0 --apply --header-out" "printf 'x0,x1\n1,0\n'"
	run -0 pe-shift -k 0 -d 4 --layout halves --header-out
	assert_line --index 0 "s0,s1,c0,c1"
	same "pe-table -n 9 -d 4 -t f32 | pe-shift -k 0 --apply -f f32 -d 4 -t f32" "pe-table -n 9 -d 4 -t f32"
	run -0 bash -c "pe-table -n 9 -d 4 -t npy:f32 | pe-shift -k 1 --apply -t npy | head -c 30"
	assert_output --partial "'<f4'"
	same "pe-shift -k 0 -d 2 -t i32" "printf '\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0'"
}

@test "law: --apply answers each row as it comes" {
	mkfifo in out
	pe-shift -k 0 --apply in >out 3>&- &
	exec 9<out 8>in
	printf '1,0\n' >&8
	read -r -t 10 row <&9
	assert_equal "$row" "1,0"
	exec 8>&- 9<&-
	wait
}

@test "law: nan and inf go through the pair they are in, and no other" {
	run -0 bash -c "printf 'nan,1,0,1\ninf,1,0,1\n' | pe-shift -k 1 --apply -p 3"
	assert_output "nan,nan,0.01,1
inf,-inf,0.01,1"
}

@test "limit: memory does not grow with the rows" {
	under_sanitizer && skip "a sanitizer's shadow does not fit"
	run -0 bash -c "ulimit -v 40000; head -c 7680000 /dev/zero | pe-shift -k 3 --apply -f f32 -d 64 -t f32 | wc -c"
	assert_output 7680000
}

@test "error: an odd number of columns, and values beyond the element" {
	echo 1,2,3 >x.csv
	refused 1 "pe-shift: x.csv: the number of columns must be even: '3'" pe-shift -k 1 --apply x.csv
	refused 1 "pe-shift: pair 0: the shift's values overflow f32" pe-shift -k 1 -d 2 -g 1e39 -t f32
	run -1 --separate-stderr pe-shift -k 1 -d 2 -t i64
	assert_equal "$stderr" "pe-shift: <stdout>: row 0, column 0: not an integer: '0.5403023058681398'"
}

@test "error: a full disk is status 1, not silence" {
	[ -c /dev/full ] || skip "no full device"
	run -1 sh -c 'pe-shift -k 1 -d 4 >/dev/full'
	run -1 sh -c 'echo 1,0 | pe-shift -k 1 --apply >/dev/full'
}

@test "usage: an odd dimension is refused and prints nothing" {
	refused 2 "pe-shift: -d: must be even: '7'" pe-shift -k 1 -d 7
	refused 2 "pe-shift: -d: must be even: '7'" pe-shift -k 1 -d 7 --apply
}

@test "usage: what is missing, idle or impossible is refused" {
	refused 2 "pe-shift: output: 1099511627776 rows x 1099511627776 columns x 8 bytes overflows" \
		pe-shift -k 1 -d 1099511627776
	refused 2 "pe-shift: -k: must be given (see --help)" pe-shift -d 4
	refused 2 "pe-shift: -d: must be given (see --help)" pe-shift -k 1
	refused 2 "pe-shift: -k: not a number: 'one'" pe-shift -k one -d 4
	refused 2 "pe-shift: -k: must be finite: 'inf'" pe-shift -k inf -d 4
	refused 2 "pe-shift: -k: beyond 2^53, where positions are exact: '1e+17'" pe-shift -k 1e17 -d 4
	refused 2 "pe-shift: -f: has no effect without --apply" pe-shift -k 1 -d 4 -f csv
	refused 2 "pe-shift: --header-in: has no effect without --apply" pe-shift -k 1 -d 4 --header-in
	refused 2 "pe-shift: extra operand, rows are read with --apply: 'x'" pe-shift -k 1 -d 4 x
	refused 2 "pe-shift: extra operand: 'y'" pe-shift -k 1 --apply x y
	refused 2 "pe-shift: unknown option (see --help): '--odd'" pe-shift -k 1 -d 4 --odd zero
	refused 2 "pe-shift: frequency shift 2 leaves no spacing for 2 pairs" pe-shift -k 1 -d 4 --freq-shift 2
}
