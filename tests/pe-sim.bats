#!/usr/bin/env bats
# pe-sim: similarity, dot product and distance, by offset or between rows.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "golden: neighbours in 512 columns are sqrt(13.7958) apart" {
	run -0 pe-sim -d 512 --offsets 1:1
	assert_output 1,249.10209782736297,0.9730550696381366,3.714270365128804
}

@test "golden: similarity 64 and 1000 positions apart, by base" {
	run -0 bash -c "printf '64\n1000\n' | pe-sim -d 64 -b 10000 --offsets - -p 6 | cut -d, -f3"
	assert_output $'0.434565\n0.278936'
	run -0 bash -c "printf '64\n1000\n' | pe-sim -d 64 -b 100 --offsets - -p 3 | cut -d, -f3"
	assert_output $'-0.0212\n-0.0207'
}

@test "golden: cosine, dot product and distance of small rows" {
	printf '3,4\n4,3\n0,0\n-3,-4\n' >x.csv
	run -0 pe-sim x.csv
	assert_output $'0,1\n1,0.96\n2,nan\n3,-1'
	run -0 pe-sim --metric dot --row 1 x.csv
	assert_output $'0,24\n1,25\n2,0\n3,-24'
	run -0 pe-sim --metric distance --gram x.csv
	assert_line --index 0 0,1.4142135623730951,5,10
	run -0 pe-sim --metric dot --by-offset x.csv
	assert_output $'0,18.75,0,25\n1,8,0,24\n2,-12,-24,0\n3,-25,-25,-25'
}

@test "law: close rows keep a distance that 1 - cos has lost" {
	run -0 pe-sim -d 2 --offsets <(echo 1e-9)
	assert_output 1e-09,1,1,1e-09
}

@test "law: the closed form is what the table's rows have" {
	for options in "-b 10000" "-b 100 --layout halves --freq-shift 1" "--preset x-transformers" "--pos-scale 0.25 --flip"; do
		# shellcheck disable=SC2086  # options are words
		pe-sim -d 32 $options --offsets 0:39 | cut -d, -f1,3 >closed
		# shellcheck disable=SC2086
		pe-table -n 40 -d 32 $options | pe-sim --by-offset | cut -d, -f1,2 | pe-cmp --abs 1e-14 - closed
	done
}

@test "law: the curve is even" {
	pe-sim -d 16 --offsets -5:-1 | tac | cut -d, -f2- | cmp - <(pe-sim -d 16 --offsets 1:5 | cut -d, -f2-)
}

@test "law: a matrix is symmetric to the bit, its diagonal 1 or 0" {
	pe-table -n 30 -d 10 -b 7 >t.csv
	for metric in cosine dot distance; do
		pe-sim --gram --metric $metric t.csv >gram
		pe-cat --transpose gram | cmp - gram
	done
	pe-sim --gram t.csv | awk -F, '$NR != 1 { exit 1 }'
	pe-sim --gram --metric distance t.csv | awk -F, '$NR != 0 { exit 1 }'
}

@test "law: --row is a row of --gram, 0 unless it is named" {
	pe-table -n 9 -d 6 >t.csv
	pe-sim t.csv | cut -d, -f2 | paste -sd, | cmp - <(pe-sim --gram t.csv | head -n 1)
	pe-sim --row 4 t.csv | cut -d, -f2 | paste -sd, | cmp - <(pe-sim --gram t.csv | sed -n 5p)
}

@test "limit: rows whose squares overflow or vanish still have cosines and distances" {
	run -0 pe-sim -p 10 <<<$'3e200,4e200\n4e200,3e200\n3e-200,4e-200'
	assert_output $'0,1\n1,0.96\n2,1'
	run -0 pe-sim --metric distance -p 10 <<<$'3e200,0\n0,4e200'
	assert_output $'0,0\n1,5e+200'
	run -0 pe-sim --metric distance <<<$'5e-324\n0'
	assert_output $'0,0\n1,5e-324'
	run -0 pe-sim --metric dot <<<$'1e200\n2'
	assert_output $'0,inf\n1,2e+200'
}

@test "limit: means do not overflow where their values do not; inf and nan stay what they are" {
	run -0 pe-sim --metric dot --by-offset <<<$'1.2e154\n1.2e154'
	assert_output $'0,1.4400000000000002e+308,1.4400000000000002e+308,1.4400000000000002e+308\n1,1.4400000000000002e+308,1.4400000000000002e+308,1.4400000000000002e+308'
	run -0 pe-sim --metric dot --by-offset <<<$'1e200\n1e200\n-1e200'
	assert_output $'0,inf,inf,inf\n1,nan,-inf,inf\n2,-inf,-inf,-inf'
	run -0 pe-sim --metric dot --by-offset <<<$'1\nnan'
	assert_output $'0,nan,nan,nan\n1,nan,nan,nan'
}

@test "golden: angles beyond the reach of a fixed point, above and below, against mpmath" {
	run -0 pe-sim -d 4 -b 1e-300 --offsets 1:1 # cos 1 + cos 1e150
	assert_output 1,-0.1352103386175587,-0.06760516930877936,2.0664996194616436
	run -0 pe-sim -d 4 --pos-scale 1e200 --offsets 1:1 # cos 1e200 + cos 1e198
	assert_output 1,1.0069587470579935,0.5034793735289967,1.4092843949622138
	run -0 pe-sim -d 2 --pos-scale 1e-320 --offsets 1:1
	assert_output 1,1,1,0
}

@test "limit: offsets up to 2^53, a step that misses the end" {
	run -0 pe-sim -d 2 --offsets 9007199254740992:9007199254740992 -p 6
	assert_output 9007200000000000,-0.528512,-0.528512,1.74843
	run -0 pe-sim -d 2 --offsets -1:3:3 -p 3
	assert_output $'-1,0.54,0.54,0.959\n2,-0.416,-0.416,1.68'
	refused 2 "pe-sim: --offsets: beyond 2^53, where offsets are exact: '0:9007199254740993'" pe-sim -d 2 --offsets 0:9007199254740993
}

@test "law: names of columns; npy holds the input's element" {
	run -0 pe-sim -d 2 --offsets 0:0 --header-out
	assert_output $'offset,dot,similarity,distance\n0,1,1,0'
	run -0 pe-sim --by-offset --header-out <<<1
	assert_output $'offset,mean,minimum,maximum\n0,1,1,1'
	run -0 pe-sim --header-out <<<1
	assert_output $'row,value\n0,1'
	pe-sim --gram -t npy <(pe-cat -t npy:f32 <<<1,2) | grep -aq "'<f4'"
}

@test "error: a row that is not there; an empty table" {
	refused 1 "pe-sim: --row: <stdin> has rows 0..1: '2'" pe-sim --row 2 - <<<$'1\n2'
	run -1 pe-sim </dev/null
}

@test "usage: options that do not go together" {
	refused 2 "pe-sim: -d: must be given (see --help)" pe-sim --offsets 1:2
	refused 2 "pe-sim: -d: must be even: '7'" pe-sim -d 7 --offsets 1:2
	refused 2 "pe-sim: --offsets: empty range: '2:1'" pe-sim -d 8 --offsets 2:1
	refused 2 "pe-sim: --offsets: must be LO:HI or LO:HI:STEP: '1:6:'" pe-sim -d 8 --offsets 1:6:
	refused 2 "pe-sim: --offsets: must be LO:HI or LO:HI:STEP: '1.5:2'" pe-sim -d 8 --offsets 1.5:2
	refused 2 "pe-sim: --offsets: must be LO:HI[:STEP] or a file: ''" pe-sim -d 8 --offsets=
	refused 2 "pe-sim: --header-in: has no effect beside -f: the input is no text" pe-sim -f f64 -d 8 --header-in
	refused 2 "pe-sim: --header-in: has no effect, nothing is read" pe-sim -d 8 --offsets 1:2 --header-in
	refused 2 "pe-sim: --offsets: step must be positive: '1:2:0'" pe-sim -d 8 --offsets 1:2:0
	refused 2 "pe-sim: -b: has no effect without --offsets" pe-sim -b 10
	refused 2 "pe-sim: --metric: has no effect beside --offsets" pe-sim -d 8 --offsets 1:2 --metric dot
	refused 2 "pe-sim: --gram: has no effect beside --row" pe-sim --row 1 --gram
	refused 2 "pe-sim: --metric: must be one of cosine, dot, distance: 'l2'" pe-sim --metric l2
	refused 2 "pe-sim: extra operand: 'x.csv'" pe-sim -d 8 --offsets 1:2 x.csv
	refused 2 "pe-sim: -f: has no effect beside --offsets" pe-sim -d 8 --offsets 1:2 -f csv
}
