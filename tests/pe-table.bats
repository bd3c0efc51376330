#!/usr/bin/env bats
# pe-table: the formula in every convention, learned tables, the filter, refusals.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "golden: the worked example of four columns" {
	run -0 pe-table -n 3 -d 4 -p 3
	assert_output "0,1,0,1
0.841,0.54,0.01,1
0.909,-0.416,0.02,1"
}

@test "golden: the wavelengths of sixteen columns with base 100, and the longest of 512" {
	run -0 bash -c "pe-table --freqs -d 16 -b 100 -p 4 | cut -d , -f 3 | paste -sd ' '"
	assert_output "6.283 11.17 19.87 35.33 62.83 111.7 198.7 353.3"
	run -0 bash -c "pe-table --freqs -d 512 -p 8 | tail -n 1"
	assert_output "255,0.00010366329,60611.477"
}

# A float32 code base rounds its frequencies, its angles and its sines. Where it arrives at the nearest float32 of
# a frequency, rounding frequency and angle leaves a unit of its sine; at once where it works in float64.
@test "golden: --round freq:f32,angle:f32 meets the float32 code bases to the last rounding of their sine" {
	local golden=$DATA/golden rounded="--round freq:f32,angle:f32 -t f32"
	near 6e-8 "pe-table --preset t2t -d 12 -s 5 -n 16 $rounded | pe-cat -f f32 -d 12" "cat $golden/sin_t2t_d12_n16_start5.csv"
	near 3e-8 "pe-table --preset x-transformers -d 12 -n 16 $rounded | pe-cat -f f32 -d 12" "cat $golden/sin_xtransformers_d12_n16.csv"
	near 0 "pe-table -d 24 -n 20 -t f32 | pe-cat -f f32 -d 24" "cat $golden/sin_distilbert_d24_n20.csv"
	# these compute e^x in float32, which misses pairs 2, 5, 6, 7 by a unit
	near 6e-8 "pe-table -d 16 -n 32 $rounded | pe-cat -f f32 -d 16 | cut -d , -f 1-4,7-10" \
		"cut -d , -f 1-4,7-10 $golden/sin_tutorial_d16_n32.csv"
	near 6e-8 "printf '%s\n' 0 1 10 250 999 | pe-table --preset guided-diffusion -d 16 --positions - $rounded | pe-cat -f f32 -d 16 | cut -d , -f 1,2,4,5,9,10,12,13" \
		"cut -d , -f 1,2,4,5,9,10,12,13 $golden/timestep_guided_d16.csv"
}

@test "law: a preset is the options it stands for" {
	local name options
	while IFS=: read -r name options; do
		same "pe-table -n 5 -d 8 -b 50 --preset $name --header-out" "pe-table -n 5 -d 8 -b 50 $options --header-out"
	done <<-'END'
		paper:
		t2t:--layout halves --freq-shift 1
		fairseq:--layout halves --freq-shift 1
		ddpm:--layout halves --freq-shift 1
		guided-diffusion:--layout halves --flip
		diffusers:--layout halves --freq-shift 1
		gpt-j:--layout halves
		mae:--layout halves
		detr:
	END
	same "pe-table --grid 3x2 -d 8 --preset mae" "pe-table --grid 3x2 -d 8 --layout halves --grid-order wh"
	same "pe-table --grid 3x2 -d 8 --preset detr" "pe-table --grid 3x2 -d 8 --grid-order hw --grid-start 1"
	same "pe-table -n 5 -d 16 --preset x-transformers" "pe-table -n 5 -d 16 --layout halves -g 0.25"
}

@test "law: an option of the line wins over the preset, before or behind it" {
	same "pe-table -n 5 -d 8 --no-flip --preset guided-diffusion" "pe-table -n 5 -d 8 --layout halves"
	same "pe-table -n 5 -d 8 --preset guided-diffusion --no-flip" "pe-table -n 5 -d 8 --layout halves"
	same "pe-table -n 5 -d 8 --freq-shift 0 --preset ddpm --layout adjacent" "pe-table -n 5 -d 8"
	same "pe-table -n 5 -d 8 -g 3 --preset x-transformers" "pe-table -n 5 -d 8 --layout halves -g 3"
	same "pe-table --grid 2x2 -d 8 --grid-start 0 --preset detr" "pe-table --grid 2x2 -d 8"
}

@test "law: of an option given twice, or beside its opposite, the last holds" {
	same "pe-table -n 9 -n 2 -d 6 -b 3 -b 10000" "pe-table -n 2 -d 6"
	same "pe-table -n 2 -d 6 --flip --no-flip" "pe-table -n 2 -d 6"
	same "pe-table -n 2 -d 6 --no-flip --flip" "pe-table -n 2 -d 6 --flip"
}

@test "law: halves are the interleaved columns in another order, and flip changes places" {
	same "pe-table -n 4 -d 6 --layout halves" "pe-table -n 4 -d 6 | awk -F , -v OFS=, '{ print \$1, \$3, \$5, \$2, \$4, \$6 }'"
	same "pe-table -n 4 -d 6 --flip" "pe-table -n 4 -d 6 | awk -F , -v OFS=, '{ print \$2, \$1, \$4, \$3, \$6, \$5 }'"
	same "pe-table -n 4 -d 6 --layout halves --flip" "pe-table -n 4 -d 6 | awk -F , -v OFS=, '{ print \$2, \$4, \$6, \$1, \$3, \$5 }'"
}

@test "law: an odd width drops the last second member, or closes with zeros" {
	run -0 pe-table -n 1 -d 5 --header-out
	assert_line --index 0 "s0,c0,s1,c1,s2"
	run -0 pe-table -n 1 -d 5 --header-out --flip
	assert_line --index 0 "c0,s0,c1,s1,c2"
	run -0 pe-table -n 1 -d 5 --header-out --odd zero
	assert_output "s0,c0,s1,c1,z
0,1,0,1,0"
	run -0 pe-table -n 1 -d 5 --header-out --layout halves --flip
	assert_output "c0,c1,s0,s1,z
1,1,0,0,0"
	run -0 pe-table -n 2 -d 1 -p 3
	assert_output "0
0.841"
	run -0 pe-table -n 2 -d 1 --layout halves
	assert_output "0
0"
	# the lone sine has the frequency that d/2 gives, not floor(d/2)
	run -0 bash -c "pe-table --freqs -d 5 -b 32 | cut -d , -f 2"
	assert_output "1
0.25
0.0625"
}

@test "law: a single pair has frequency 1 where the spacing leaves none" {
	same "pe-table -n 4 -d 2 --preset ddpm" "pe-table -n 4 -d 2"
	same "pe-table -n 4 -d 3 --preset ddpm" "pe-table -n 4 -d 3 --odd zero"
	refused 2 "pe-table: frequency shift 2 leaves no spacing for 2 pairs" pe-table -n 1 -d 4 --freq-shift 2
}

@test "law: rows depend on their position alone, so pieces make the whole, in every element" {
	local to
	for to in f64 f32 f16 bf16 csv csv:bf16 f64be; do
		same "pe-table -n 41 -d 7 -s -20 -t $to" \
			"pe-table -n 17 -d 7 -s -20 -t $to; pe-table -n 1 -d 7 -s -3 -t $to; pe-table -n 23 -d 7 -s -2 -t $to"
	done
}

@test "law: steps are a selection of rows, backwards too" {
	same "pe-table -n 5 -d 6 -s 2 --step 3" "pe-table -n 15 -d 6 | awk 'NR % 3 == 0'"
	same "pe-table -n 9 -d 6 -s 8 --step -1" "pe-table -n 9 -d 6 | tac"
	same "pe-table -n 3 -d 6 -s 8 --step 0" "for i in 1 2 3; do pe-table -n 1 -d 6 -s 8; done"
}

@test "law: a list of positions is as good as a count, from every kind of file" {
	same "seq 5 30 | pe-table -d 6 --positions -" "pe-table -n 26 -d 6 -s 5"
	same "seq 5 30 | pe-table -d 6 --positions - -t f32" "pe-table -n 26 -d 6 -s 5 -t f32"
	seq 5 30 | pe-table -d 1 --learned - -n 26 -t npy:f32 -o column.npy
	same "pe-table -d 6 --positions column.npy" "pe-table -n 26 -d 6 -s 5"
	seq 5 30 | pe-table --learned - -n 26 -t i64 -o column.i64
	same "pe-table -d 6 --positions column.i64" "pe-table -n 26 -d 6 -s 5"
	same "pe-table -d 6 --positions - -f i64 <column.i64" "pe-table -n 26 -d 6 -s 5"
	seq 5 30 | paste -sd , | pe-table --learned - -n 1 -t npy -o row.npy
	same "pe-table -d 6 --positions row.npy" "pe-table -n 26 -d 6 -s 5"
	{ echo t; seq 5 30; } >named.csv
	same "pe-table -d 6 --positions named.csv --header-in" "pe-table -n 26 -d 6 -s 5"
}

@test "law: a fraction of a position is a position of slower clocks" {
	same "printf '%s\n' 0 0.5 1 1.5 2 | pe-table -d 6 --positions -" "pe-table -n 5 -d 6 --pos-scale 0.5"
	same "printf '%s\n' 0 -0.25 | pe-table -d 6 --positions -" "printf '%s\n' 0 -1 | pe-table -d 6 --positions - --pos-scale 0.25"
}

@test "law: a grid joins the tables of its two coordinates" {
	printf '%s\n' 2 2 2 3 3 3 | pe-table -d 4 --positions - >rows.csv
	printf '%s\n' 2 3 4 2 3 4 | pe-table -d 4 --positions - >columns.csv
	same "pe-table --grid 2x3 -d 8 --grid-start 2" "paste -d , rows.csv columns.csv"
	same "pe-table --grid 2x3 -d 8 --grid-start 2 --grid-order wh" "paste -d , columns.csv rows.csv"
	same "pe-table --grid 3 -d 8" "pe-table --grid 3x3 -d 8"
	run -0 bash -c "pe-table --grid 1x1 -d 6 --header-out; pe-table --grid 1x1 -d 6 --header-out --preset mae"
	assert_line --index 0 "hs0,hc0,hs1,ws0,wc0,ws1"
	assert_line --index 2 "ws0,wc0,wz,hs0,hc0,hz"
}

@test "law: a normalized coordinate is a scaled one" {
	# an axis of one cell that starts at 1 stands at 1/(1 + 1e-6) * 2 pi, and the row of a base of 1 is its sine
	run -0 bash -c "pe-table --grid 1x1 -d 4 -b 1 --grid-start 1 --grid-normalize -p 9 | cut -d , -f 1-2"
	assert_output "-6.28317902e-06,1"
	# 2/(2 + 1e-6) * 2 pi, with the millionth itself: the double next to it would give ...0838e-06
	run -0 bash -c "pe-table --grid 3x3 -d 4 -b 1 --grid-normalize | tail -n 1 | cut -d , -f 1"
	assert_output "-3.141591082789084e-06"
	same "pe-table --grid 2x3 -d 8 --preset detr --grid-normalize --no-grid-normalize" "pe-table --grid 2x3 -d 8 --grid-start 1"
}

@test "law: --cls puts a row of zeros first, --zero-row blanks the row of a position" {
	same "pe-table -n 3 -d 2 -s 4 --cls" "echo 0,0; pe-table -n 3 -d 2 -s 4"
	same "pe-table -n 3 -d 2 -s 4 --cls -t bf16" "printf '\0\0\0\0'; pe-table -n 3 -d 2 -s 4 -t bf16"
	same "pe-table -n 0 -d 2 --cls" "echo 0,0"
	same "pe-table -n 3 -d 2 -s 4 --zero-row 5" "pe-table -n 3 -d 2 -s 4 | sed '2s/.*/0,0/'"
	same "pe-table -n 3 -d 2 -s 4 --zero-row 5 --cls" "echo 0,0; pe-table -n 3 -d 2 -s 4 | sed '2s/.*/0,0/'"
	same "pe-table -n 3 -d 2 -s 4 --zero-row 9" "pe-table -n 3 -d 2 -s 4"
	same "printf '%s\n' 7 1 7 | pe-table -d 2 --positions - --zero-row 7" "echo 0,0; pe-table -n 1 -s 1 -d 2; echo 0,0"
	same "pe-table --grid 2x2 -d 4 --zero-row 3" "pe-table --grid 2x2 -d 4 | sed '4s/.*/0,0,0,0/'"
}

@test "law: gain and scale are where the formula has them" {
	same "pe-table -n 9 -s 1 -d 6 -g -4" "pe-table -n 9 -s 1 -d 6 | pe-table --learned - -n 9 -g -4"
	same "pe-table -n 9 -d 6 --pos-scale 3" "pe-table -n 9 -d 6 --step 3"
	same "pe-table -n 9 -d 6 -g 0 | tr -d -" "for i in {1..9}; do echo 0,0,0,0,0,0; done"
}

@test "law: an element is the real value rounded once, not a double rounded again" {
	# cos(2^-20 * 1) and the like lie close to ties of f16 and bf16 only by luck; all values of a table do not
	same "pe-table -n 200 -d 16 -t csv:f32" "pe-table -n 200 -d 16 -t f32 | pe-cat -f f32 -d 16 -t csv:f32"
	same "pe-table -n 200 -d 16 -t csv:f16" "pe-table -n 200 -d 16 -t f64 | pe-cat -f f64 -d 16 -t csv:f16"
}

# ---- learned tables ----

@test "law: rows of a learned table pass unchanged, in their own element" {
	printf '0.1,-0\n5e-324,inf\nnan,1e+22\n' >t.csv
	same "pe-table --learned t.csv -n 3" "cat t.csv"
	pe-cat -t bf16 <<<$'1,2\n3,4\n5,6' >t.bf16
	same "pe-table --learned t.bf16 -d 2 -n 3 -t bf16" "cat t.bf16"
	pe-cat -t npy:f16 <<<$'1,2\n3,4\n5,6' >t.npy
	same "pe-table --learned t.npy -n 3 -t npy" "cat t.npy"
	pe-cat -t npy:i64 <<<$'9007199254740993,2\n3,4' >whole.npy
	same "pe-table --learned whole.npy -n 2 -t npy" "cat whole.npy"
	{ echo a,b; cat t.csv; } >named.csv
	same "pe-table --learned named.csv --header-in --header-out -n 3" "cat named.csv"
	same "pe-table --learned t.csv -n 1 --header-out" "echo x0,x1; head -n 1 t.csv"
}

@test "law: a learned table gathers any rows, in any order" {
	seq 100 >t.csv
	seq 99 -1 0 | shuf --random-source=<(yes) >ids
	same "pe-table --learned t.csv --positions ids" "awk '{ print \$1 + 1 }' ids"
	same "pe-table --learned t.csv -n 9 -s 80 --step -7" "seq 81 -7 25"
	same "pe-table --learned t.csv -n 3 -s -2 --row-offset 2 --cls" "seq 0 3"
	same "pe-table --learned t.csv -n 3 --row-offset 2 --zero-row 1" "printf '%s\n' 3 0 5"
	same "pe-table --learned t.csv -n 2 -g 0.1" "printf '%s\n' 0.1 0.2"
}

@test "law: a table stretched to its own size is itself; corners stay; shrinking meets again" {
	pe-table -n 7 -d 4 -s 100 >t.csv
	same "pe-table --learned t.csv -n 7 --stretch 7" "cat t.csv"
	same "pe-table --learned t.csv -n 7 --stretch 7 --align corners" "cat t.csv"
	same "pe-table --learned t.csv -n 13 --stretch 13 --align corners | awk 'NR % 2'" "cat t.csv"
	same "pe-table --learned t.csv -n 21 --stretch 21 | awk 'NR % 3 == 2'" "cat t.csv"
	same "pe-table --learned t.csv -n 1 --stretch 1" "sed -n 4p t.csv"
	same "pe-table --learned t.csv -n 1 --stretch 1 --align corners" "head -n 1 t.csv"
	head -n 1 t.csv >one.csv
	same "pe-table --learned one.csv -n 3 --stretch 3" "cat one.csv one.csv one.csv"
	same "pe-table --learned t.csv -n 14 --stretch 14 -g 2" "pe-table --learned <(pe-table --learned t.csv -n 7 -g 2) -n 14 --stretch 14"
}

@test "error: a position outside a learned table is refused before the first row" {
	seq 4 >t.csv
	refused 1 "pe-table: position 4: t.csv has rows 0..3" pe-table --learned t.csv -n 5
	refused 1 "pe-table: position 4: t.csv has rows 0..3" pe-table --learned t.csv -n inf
	refused 1 "pe-table: position -1: t.csv has rows 0..3" pe-table --learned t.csv -n 2 -s -1
	refused 1 "pe-table: position -1: t.csv has rows 0..3" pe-table --learned t.csv -n 9 -s 3 --step -2
	refused 1 "pe-table: position 2 (row 4): t.csv has rows 0..3" pe-table --learned t.csv -n 3 --row-offset 2
	refused 1 "pe-table: position 8: t.csv stretched has rows 0..7" pe-table --learned t.csv -n 9 --stretch 8
	printf '%s\n' 3 0 4 >ids
	refused 1 "pe-table: position 4: t.csv has rows 0..3" pe-table --learned t.csv --positions ids
	pe-table -n 0 -d 3 -t npy -o none.npy
	refused 1 "pe-table: none.npy: a learned table needs rows" pe-table --learned none.npy -n 0
	printf '%s\n' 3 0.5 >ids
	refused 1 "pe-table: ids: row 1: a position in a learned table must be whole: '0.5'" pe-table --learned t.csv --positions ids
}

# ---- the filter ----

@test "law: --add adds the row of each row's position" {
	pe-table -n 9 -d 6 -s 40 >x.csv
	sum() { # of two commands' matrices
		paste -d , <(bash -c "$1") <(bash -c "$2") | awk -F , -v OFMT=%.17g '{ for (i = 1; i <= NF / 2; i++) printf "%s%.17g", (i > 1 ? "," : ""), $i + $(i + NF / 2); print "" }' | pe-cat
	}
	same "pe-table --add -s 3 --step 2 x.csv" "$(declare -f sum); sum 'cat x.csv' 'pe-table -n 9 -d 6 -s 3 --step 2'"
	same "pe-table --add --positions <(seq 8 -1 0) x.csv" "$(declare -f sum); sum 'cat x.csv' 'pe-table -n 9 -d 6 | tac'"
	same "pe-table --add --grid 3 x.csv" "$(declare -f sum); sum 'cat x.csv' 'pe-table --grid 3 -d 6'"
	same "pe-table --add --learned x.csv x.csv" "$(declare -f sum); sum 'cat x.csv' 'cat x.csv'"
	same "pe-table --add --cls -s 5 x.csv" "$(declare -f sum); sum 'cat x.csv' 'pe-table --cls -n 8 -s 5 -d 6'"
	same "pe-table --add --embed-scale 0 -s 5 x.csv" "pe-table -n 9 -d 6 -s 5"
	same "pe-table --add --embed-scale 4 --preset t2t -g 0 x.csv" "pe-table --learned x.csv -n 9 -g 4"
}

@test "law: --add passes names on, and keeps the input's element in npy" {
	run -0 bash -c "printf 'a,b\n1,0\n' | pe-table --add --header-in --header-out"
	assert_output "a,b
1,1"
	run -0 bash -c "printf '1,0\n' | pe-table --add --header-out"
	assert_output "x0,x1
1,1"
	pe-table -n 3 -d 2 -t npy:f32 -o x.npy
	run -0 bash -c "pe-table --add -t npy x.npy | head -c 30"
	assert_output --partial "'<f4'"
}

@test "law: --add answers each row as it comes" {
	mkfifo in out
	pe-table --add in >out 3>&- &
	exec 9<out 8>in
	printf '1,0\n' >&8
	read -r -t 10 row <&9
	assert_equal "$row" "1,1"
	exec 8>&- 9<&-
	wait
}

@test "error: --add wants a table row for every row, and as many positions" {
	printf '1,2\n3,4\n' >x.csv
	echo 7 >one
	seq 3 >three
	refused 1 "pe-table: three: 3 positions for 2 rows" pe-table --add --positions three x.csv -o out.csv
	refused 1 "pe-table: one: no position for row 1" pe-table --add --positions one x.csv -o out.csv
	refused 1 "pe-table: row 1: the grid has no more cells" pe-table --add --grid 1x1 x.csv -o out.csv
	echo 7,7 >table.csv
	refused 1 "pe-table: position 1: table.csv has rows 0..0" pe-table --add --learned table.csv x.csv -o out.csv
	refused 1 "pe-table: row 1: position beyond 2^53" pe-table --add -s 9007199254740992 x.csv -o out.csv
	[ ! -e out.csv ]
	pe-table -n 2 -d 2 -t npy -o x.npy # a header tells the rows: refused before the first byte
	refused 1 "pe-table: one: no position for row 1" pe-table --add --positions one x.npy
	refused 1 "pe-table: row 1: position beyond 2^53" pe-table --add -s 9007199254740992 x.npy
}

# ---- limits ----

@test "limit: positions go to 2^53, on both sides, and no farther" {
	run -0 pe-table -n 1 -d 2 -s 9007199254740992
	assert_output "-0.848925964814655,-0.5285117844130887"
	run -0 pe-table -n 1 -d 2 -s -9007199254740992
	assert_output "0.848925964814655,-0.5285117844130887"
	refused 2 "pe-table: -s: beyond 2^53, where positions are exact: '9007199254740993'" pe-table -n 1 -d 2 -s 9007199254740993
	refused 2 "pe-table: -n: position beyond 2^53 in row 1: '2'" pe-table -n 2 -d 2 -s 9007199254740992
	refused 2 "pe-table: -n: position beyond 2^53 in row 2: '3'" pe-table -n 3 -d 2 -s -9007199254740991 --step -1
	refused 2 "pe-table: -n: position beyond 2^53 in row 1: '2'" pe-table -n 2 -d 2 --step -9223372036854775808
	refused 2 "pe-table: --grid-start: beyond 2^53, where positions are exact: '-9007199254740993'" pe-table --grid 2 -d 4 --grid-start -9007199254740993
	refused 2 "pe-table: grid: a coordinate lies beyond 2^53" pe-table --grid 2x1 -d 4 --grid-start 9007199254740992
	echo 1e17 >far
	refused 1 "pe-table: far: row 0: position beyond 2^53: '1e+17'" pe-table -d 2 --positions far
	printf '%s\n' 1 nan >far
	refused 1 "pe-table: far: row 1: a position must be finite: 'nan'" pe-table -d 2 --positions far
}

@test "limit: no rows are an empty table, rows without end are cut by who reads them" {
	run -0 pe-table -n 0 -d 4
	assert_output ""
	run -0 bash -c "pe-table -n 0 -d 4 -t npy | head -c 100 | grep -ac '(0, 4)'"
	pe-table -n 0 -d 1 -t npy -o none.npy
	run -0 pe-table -d 4 --positions none.npy
	assert_output ""
	sed 's/(0, 1)/(0,)  /' none.npy >list.npy
	run -0 pe-table -d 4 --positions list.npy
	assert_output ""
	same "{ pe-table -n inf -d 3 || [ \$? -eq 141 ]; } | head -n 500" "pe-table -n 500 -d 3"
	run --separate-stderr bash -c "pe-table -n inf -d 2 --step 4503599627370496"
	assert_equal "$status" 1
	assert_equal "${#lines[@]}" 3
	assert_equal "$stderr" "pe-table: row 3: position beyond 2^53"
	refused 2 "pe-table: -n: npy needs the number of rows first: 'inf'" pe-table -n inf -d 4 -t npy
	refused 2 "pe-table: -n: npy needs the number of rows first: 'inf'" pe-table -n inf -d 4 -o x.npy
}

@test "limit: memory does not grow with the rows" {
	under_sanitizer && skip "a sanitizer's shadow does not fit"
	run -0 bash -c "ulimit -v 40000; pe-table -n 30000 -d 64 -t f32 | wc -c"
	assert_output 7680000
	run -0 bash -c "ulimit -v 40000; head -c 7680000 /dev/zero | pe-table --add -f f32 -d 64 -t f32 | wc -c"
	assert_output 7680000
}

@test "error: what does not fit the element is refused" {
	run -1 --separate-stderr pe-table -n 2 -d 4 -t i32
	assert_equal "$stderr" "pe-table: <stdout>: row 1, column 0: not an integer: '0.8414709848078965'"
	refused 1 "pe-table: row 0, column 1: overflows f32" pe-table -n 2 -d 4 -g 1e39 -t f32
	refused 1 "pe-table: row 0, column 1: overflows bf16" pe-table -n 2 -d 4 -g -3.4e38 -t csv:bf16
	refused 1 "pe-table: row 0, column 1: overflows f16" pe-table -n 2 -d 4 -g 65520 -t csv:f16
	run -0 bash -c "pe-table -n 1 -d 4 -t i32 | od -An -v -t d4 | tr -s ' '"
	assert_output " 0 1 0 1"
}

@test "error: a full disk is status 1, not silence" {
	[ -c /dev/full ] || skip "no full device"
	run -1 sh -c 'pe-table -d 4 -n 9 >/dev/full'
	run -1 sh -c 'pe-table -d 4 -n 9 >&-'
}

@test "error: positions are one column of numbers" {
	echo 0,1,2 >row.csv
	refused 1 "pe-table: row.csv: --positions: must be one column of numbers, not 3" pe-table -d 2 --positions row.csv
	: >empty
	refused 1 "pe-table: empty: empty input, positions are due" pe-table -d 2 --positions empty
	refused 1 "pe-table: absent: No such file or directory" pe-table -d 2 --positions absent
	refused 2 "pe-table: standard input is named twice: '-'" pe-table --add --positions -
	refused 2 "pe-table: standard input is named twice: '-'" pe-table --learned - --positions -
}

# ---- the command line ----

@test "usage: options that have no effect beside others are refused" {
	local option beside
	while IFS=';' read -r option beside; do
		# shellcheck disable=SC2086  # a setting is several words
		refused 2 "pe-table: ${option%% *}: has no effect beside ${beside%% *}" pe-table -d 4 $option $beside
	done <<-'END'
		-n 3;--positions x
		-s 3;--positions x
		--step 3;--positions x
		--grid 3;--positions x
		-n 3;--grid 2
		-s 3;--grid 2
		--step 3;--grid 2
		-n 3;--add
		--grid 3;--learned x
		-b 3;--learned x
		--layout halves;--learned x
		--flip;--learned x
		--no-flip;--learned x
		--freq-shift 1;--learned x
		--pos-scale 2;--learned x
		--preset ddpm;--learned x
		--odd zero;--learned x
		--round freq:f32;--learned x
		-n 3;--freqs
		-s 3;--freqs
		--step 3;--freqs
		--positions x;--freqs
		--grid 2;--freqs
		--learned x;--freqs
		--add;--freqs
		--zero-row 1;--freqs
		--cls;--freqs
		--flip;--freqs
		--no-flip;--freqs
		--pos-scale 2;--freqs
		-g 2;--freqs
	END
	refused 2 "pe-table: --round: angle has no effect beside --freqs" pe-table -d 4 --freqs --round freq:f32,angle:f32
}

@test "usage: options that have no effect without others are refused" {
	local option without
	while IFS=: read -r option without; do
		# shellcheck disable=SC2086
		refused 2 "pe-table: ${option%% *}: has no effect without $without" pe-table -d 4 -n 2 $option
	done <<-'END'
		--row-offset 1:--learned
		--stretch 1:--learned
		--align corners:--stretch
		--embed-scale 2:--add
		--grid-order wh:--grid
		--grid-start 1:--grid
		--grid-normalize:--grid
		--no-grid-normalize:--grid
		-f csv:--add or --positions
	END
	refused 2 "pe-table: --header-in: has no effect, nothing is read" pe-table -d 4 -n 2 --header-in
	refused 2 "pe-table: extra operand, rows are read with --add: 'x'" pe-table -d 4 -n 2 x
	refused 2 "pe-table: extra operand: 'y'" pe-table --add x y
}

@test "usage: values that cannot be are refused with what would be right" {
	refused 2 "pe-table: -n: must be given (see --help)" pe-table -d 4
	refused 2 "pe-table: -d: must be given (see --help)" pe-table -n 4
	refused 2 "pe-table: -d: must be positive: '0'" pe-table -n 4 -d 0
	refused 2 "pe-table: -d: not an integer: '4.0'" pe-table -n 4 -d 4.0
	refused 2 "pe-table: -d: must be even: '7'" pe-table -n 4 -d 7 --odd error
	refused 2 "pe-table: --odd: interleaved columns alone drop a value: 'drop'" pe-table -n 4 -d 8 --odd drop --layout halves
	refused 2 "pe-table: -d: must be even: '7'" pe-table --grid 2 -d 7
	refused 2 "pe-table: -d: must be a multiple of 4: '6'" pe-table --grid 2 -d 6 --odd error
	refused 2 "pe-table: grid-normalize: needs a last coordinate above 0: '0'" pe-table --grid 2x1 -d 8 --grid-normalize
	refused 2 "pe-table: --grid: must be a count or ROWSxCOLS, both positive: '0x3'" pe-table --grid 0x3 -d 8
	refused 2 "pe-table: -b: must be positive: '0'" pe-table -n 4 -d 4 -b 0
	refused 2 "pe-table: -b: must be finite: 'nan'" pe-table -n 4 -d 4 -b nan
	refused 2 "pe-table: -g: must be finite: '1e400'" pe-table -n 4 -d 4 -g 1e400
	refused 2 "pe-table: --layout: must be one of interleaved, halves, adjacent: 'half'" pe-table -n 4 -d 4 --layout half
	refused 2 "pe-table: --odd: must be one of drop, zero, error: 'x'" pe-table -n 4 -d 4 --odd x
	refused 2 "pe-table: --preset: must be one of paper, t2t, fairseq, ddpm, guided-diffusion, diffusers, gpt-j, x-transformers, mae, detr: 'bert'" \
		pe-table -n 4 -d 4 --preset bert
	local rounds="must be freq:E, angle:E or both with a comma, E one of f64, f32, f16, bf16"
	local value
	for value in f32 freq:i32 'freq:f32,' freq: sine:f32 freq:f32:f32; do
		refused 2 "pe-table: --round: $rounds: '$value'" pe-table -n 4 -d 4 --round "$value"
	done
	refused 2 "pe-table: -n: 1099511627776 rows x 1099511627776 columns x 8 bytes overflows" \
		pe-table -n 1099511627776 -d 1099511627776
	refused 2 "pe-table: --grid: 1099511627776 x 1099511627776 cells x 4 columns x 8 bytes overflows" \
		pe-table --grid 1099511627776x1099511627776 -d 4
	refused 2 "pe-table: --header-out: has no effect: the output is no text" pe-table -n 1 -d 4 -t f32 --header-out
}

@test "usage: --stamp holds the command, ready to be run again" {
	run -0 pe-table -n 1 -d 2 --stamp --preset ddpm
	assert_line --index 0 --regexp "^# posenc [0-9.]+: pe-table -n 1 -d 2 --stamp --preset ddpm$"
	assert_line --index 1 "0,1"
}
