#!/usr/bin/env bats
# pe-fourier: NeRF bands and Fourier features of coordinates.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "golden: NeRF's order is x, then for each band sines, then cosines, without pi" {
	run -0 pe-fourier --nerf 2 -p 6 <<<0.5,-1
	assert_output 0.5,-1,0.479426,-0.841471,0.877583,0.540302,0.841471,-0.909297,0.540302,-0.416147
}

@test "golden: with pi the half turns are exact, at any size" {
	run -0 pe-fourier --nerf 3 --pi --no-input <<<$'0.25\n1e300'
	assert_output $'0.7071067811865476,0.7071067811865476,1,0,0,-1\n0,1,0,1,0,1'
}

@test "golden: linear bands are evenly spaced from 1 to 2^(L-1)" {
	run -0 pe-fourier --nerf 3 --linear-bands --no-input <<<1
	assert_output "$(for k in 1 2.5 4; do pe-fourier --nerf 1 --no-input <<<$k; done | paste -sd,)"
	pe-fourier --nerf 1 --linear-bands <<<3 | cmp - <(pe-fourier --nerf 1 <<<3)
}

@test "golden: sines, then cosines of 2 pi B x" {
	printf '1,0\n0,-1\n0.5,2\n' >b.csv
	run -0 pe-fourier --matrix b.csv -p 6 <<<0.25,0.125
	assert_output 1,-0.707107,0.707107,0,0.707107,-0.707107
	run -0 pe-fourier --matrix b.csv --flip -p 6 <<<0.25,0.125
	assert_output 0,0.707107,-0.707107,1,-0.707107,0.707107
	run -0 pe-fourier --matrix b.csv --no-2pi -p 6 <<<1,1
	assert_output 0.841471,-0.841471,0.598472,0.540302,0.540302,-0.801144
}

@test "golden: turns beyond the reach of a fixed point, above and below, against mpmath" {
	echo 1e300 >b.csv
	run -0 pe-fourier --matrix b.csv <<<$'3e-301\n1'
	assert_output $'0.9510565162951535,-0.3090169943749475\n0,1'
	echo 1e-300 >b.csv
	run -0 pe-fourier --matrix b.csv <<<1
	assert_output 6.283185307179587e-300,1
}

@test "golden: --log takes the logarithm first" {
	echo 1 >b.csv
	run -0 pe-fourier --matrix b.csv --log --no-2pi -p 12 <<<2.718281828459045
	assert_output 0.841470984808,0.540302305868
	run -0 pe-fourier --matrix b.csv --log <<<$'1\n0\n-1'
	assert_output $'0,1\nnan,nan\nnan,nan'
}

@test "law: whole turns change nothing, however many" {
	printf '1,1\n2,-3\n' >b.csv
	pe-fourier --matrix b.csv <<<1e15,0.375 | cmp - <(pe-fourier --matrix b.csv <<<0,0.375)
	pe-fourier --matrix b.csv <<<1e300,0.375 | cmp - <(pe-fourier --matrix b.csv <<<0,0.375)
}

@test "law: sums that cancel lose nothing" {
	printf '1e17,1,-1e17\n' >b.csv
	pe-fourier --matrix b.csv <<<1,0.1,1 | cmp - <(pe-fourier --matrix <(echo 1) <<<0.1)
	printf '0.1,-0.1\n' >b.csv
	run -0 pe-fourier --matrix b.csv <<<0.7,0.7
	assert_output 0,1
}

@test "law: a band of radians is a frequency of 2^k" {
	printf '1\n2\n4\n' >b.csv
	pe-fourier --matrix b.csv --no-2pi <<<1.7 | tr , '\n' | sort >a
	pe-fourier --nerf 3 --no-input <<<1.7 | tr , '\n' | sort | cmp - a
}

@test "law: f32 output is rounded once" {
	for x in 0.1 0.7 3.3 1e-5 12345.678; do echo $x; done >x.csv
	pe-fourier --nerf 8 -t csv:f32 x.csv >a
	pe-fourier --nerf 8 -t f32 x.csv | pe-cat -f f32 -d 17 -t csv:f32 | cmp - a
	echo 1.25 >b.csv
	pe-fourier --matrix b.csv -t f32 x.csv | pe-cat -f f32 -d 2 >single
	pe-fourier --matrix b.csv x.csv | pe-cmp --rel 6e-8 - single
}

@test "law: names of columns" {
	run -0 pe-fourier --nerf 1 --header-in --header-out <<<$'lat,lon\n0,0'
	assert_line --index 0 lat,lon,s0_lat,s0_lon,c0_lat,c0_lon
	run -0 pe-fourier --nerf 2 --no-input --header-out <<<0
	assert_line --index 0 s0_x0,c0_x0,s1_x0,c1_x0
	printf '1\n2\n' >b.csv
	run -0 pe-fourier --matrix b.csv --header-out <<<0
	assert_line --index 0 s0,s1,c0,c1
	run -0 pe-fourier --matrix b.csv --flip --header-out <<<0
	assert_line --index 0 c0,c1,s0,s1
}

@test "limit: what is no number gives no number, tiny and huge coordinates do" {
	run -0 pe-fourier --nerf 1 <<<$'nan\ninf\n-inf'
	assert_output $'nan,nan,nan\ninf,nan,nan\n-inf,nan,nan'
	run -0 pe-fourier --nerf 1 <<<$'5e-324\n1e-300'
	assert_output $'5e-324,5e-324,1\n1e-300,1e-300,1'
	run -0 pe-fourier --nerf 1 -p 10 <<<1e22
	assert_output 1e+22,-0.8522008498,0.5232147854
}

@test "law: constant memory and row by row: a slow writer is answered" {
	{ echo 1; sleep 0.2; echo 2; } | pe-fourier --nerf 4 | cmp - <(printf '1\n2\n' | pe-fourier --nerf 4)
}

@test "error: B has a column for each coordinate and finite frequencies" {
	printf '1,2\n' >b.csv
	run -1 --separate-stderr pe-fourier --matrix b.csv - <<<1,2,3
	[[ $stderr == "pe-fourier: b.csv"* ]]
	printf '1\ninf\n' >b.csv
	refused 1 "pe-fourier: b.csv: row 1, column 1: a frequency must be finite: 'inf'" pe-fourier --matrix b.csv - <<<1
}

@test "error: a coordinate that the output's element cannot hold" {
	refused 1 "pe-fourier: <stdin>: row 1, column 2: overflows f32: '1e+300'" pe-fourier --nerf 1 -t f32 - <<<$'1,2\n3,1e300'
}

@test "usage: one of the two kinds, with its own options" {
	refused 2 "pe-fourier: --nerf or --matrix: one of the two must be given (see --help)" pe-fourier
	refused 2 "pe-fourier: --nerf: cannot stand beside --matrix" pe-fourier --nerf 3 --matrix b.csv
	refused 2 "pe-fourier: --pi: has no effect beside --matrix" pe-fourier --pi --matrix b.csv
	refused 2 "pe-fourier: --flip: has no effect beside --nerf" pe-fourier --nerf 3 --flip
	refused 2 "pe-fourier: --nerf: must be positive: '0'" pe-fourier --nerf 0
	refused 2 "pe-fourier: --nerf: more than 1000: '1001'" pe-fourier --nerf 1001
	refused 2 "pe-fourier: standard input is named twice: '-'" pe-fourier --matrix - - <<<1
	refused 2 "pe-fourier: standard input is named twice: '-'" pe-fourier --matrix - </dev/null
}

@test "error: a matrix of no rows makes no features" {
	pe-table -n 0 -d 2 -t npy -o "$BATS_TEST_TMPDIR/none.npy"
	refused 1 "pe-fourier: $BATS_TEST_TMPDIR/none.npy: has no rows" pe-fourier --matrix "$BATS_TEST_TMPDIR/none.npy" <<<1,2
}
