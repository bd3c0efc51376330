#!/usr/bin/env bats
# pe-rope: rotation of rows, tables, scalings, config.json.
load helper

# freqs ARG...: the frequencies, six digits each.
freqs() {
	pe-rope --emit freqs -p 6 "$@"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# ---- rotation ----

@test "golden: the first pair turns by the position, the second by a hundredth of it" {
	run -0 pe-rope -s 1 -p 10 <<<1,0,1,0
	assert_output 0.5403023059,0.8414709848,0.9999500004,0.009999833334
}

@test "law: position 0 leaves every bit as it is" {
	printf '%s\n' 1.5,-0,3e300,5e-324 >x.csv
	run -0 pe-rope x.csv
	assert_output 1.5,0,3e+300,5e-324
}

@test "law: a product of rotated rows knows the offset only" {
	yes 0.3,-1.7,2.5,0.01,1,1,-3,2 | head -n 40 | pe-rope | pe-sim --by-offset --metric dot -p 13 >sim.csv
	while IFS=, read -r offset mean low high; do
		[ "$low" = "$high" ] && [ "$mean" = "$low" ] || fail "offset $offset: $low $mean $high"
	done <sim.csv
	[ "$(wc -l <sim.csv)" -eq 40 ]
}

@test "law: one decode step is, to the byte, its row of a long run, for any block and format" {
	for i in $(seq 300); do echo "$i.5,0.1,-$i,1e-3,7,1,2,3"; done >x.csv
	for pairs in interleaved halves; do
		for format in csv f32 npy:f32 f64; do
			pe-rope -d 8 -H 2 --pairs $pairs -t $format x.csv >whole
			for i in $(seq 0 60 299); do
				sed -n "$((i + 1))p" x.csv | pe-rope -d 8 -H 2 --pairs $pairs -s "$i" -t "${format#npy:}" >step
				case $format in
				csv) sed -n "$((i + 1))p" whole | cmp - step ;;
				*) width=$(wc -c <step); tail -c "$(($(wc -c <whole) - (300 * width) + 300 * width))" whole |
					tail -c $((300 * width)) | tail -c +$((i * width + 1)) | head -c "$width" | cmp - step ;;
				esac
			done
		done
	done
}

@test "law: a slow writer is answered row by row with the same bytes" {
	{ echo 1,2; sleep 0.2; echo 3,4; } | pe-rope >slow
	printf '1,2\n3,4\n' | pe-rope | cmp - slow
}

@test "reverse: --inverse takes the rotation back, attention factor and all" {
	printf '%s\n' 1,2,3,4,5,6,7,8 -1,0.5,2,2,9,-3,4,1 >x.csv
	options=(-s 123456 -H 2 --pairs halves --scaling 'yarn:factor=8,original=64')
	pe-rope "${options[@]}" x.csv | pe-rope "${options[@]}" --inverse - | pe-cmp --abs 1e-14 x.csv -
}

@test "reverse: rotating by t and by -t is no rotation" {
	echo 1,2,3,4 | pe-rope -s 9 | pe-rope -s -9 | pe-cmp --abs 1e-15 - <(echo 1,2,3,4)
}

@test "law: heads are rows of their own" {
	echo 1,2,3,4,5,6,7,8 | pe-rope -H 2 -s 3 >both
	{ echo 1,2,3,4 | pe-rope -s 3; echo 5,6,7,8 | pe-rope -s 3; } | paste -d, -s | cmp - both
}

@test "law: the two pairings are one after re-pairing" {
	for i in $(seq 5); do echo "$i,2,3,4,5,6,7,$i.25"; done >x.csv
	pe-cat --pairs interleaved:halves x.csv | pe-rope --pairs halves |
		pe-cat --pairs halves:interleaved | cmp - <(pe-rope x.csv)
	pe-rope --pairs adjacent x.csv | cmp - <(pe-rope --pairs interleaved x.csv)
}

@test "law: --rotary-dim passes the other columns on, of heads of any size" {
	run -0 pe-rope --rotary-dim 2 -s 1 -p 4 <<<1,0,7
	assert_output 0.5403,0.8415,7
	run -0 pe-rope --rotary-dim 2 -H 2 -s 1 -p 4 <<<1,0,7,0,1,8
	assert_output 0.5403,0.8415,7,-0.8415,0.5403,8
}

@test "law: halves of a rotary part pair within it" {
	run -0 pe-rope --rotary-dim 4 --pairs halves -s 1 -p 4 <<<1,0,0,0,9,9
	assert_output 0.5403,0,0.8415,0,9,9
}

@test "law: --freq-dim spaces the frequencies of a larger head" {
	run -0 diff <(freqs -d 8 --rotary-dim 4 --freq-dim 8) <(freqs -d 8 | cut -d, -f1,2)
}

@test "law: positions from a file, fractions too, equal positions counted" {
	printf '5\n6\n7\n' >whole.txt
	printf '1,2\n3,4\n5,6\n' >x.csv
	pe-rope --positions whole.txt x.csv | cmp - <(pe-rope -s 5 x.csv)
	run -0 pe-rope -p 6 --positions <(echo 0.5) <<<1,0
	assert_output 0.877583,0.479426
}

@test "law: sections follow their own position columns" {
	printf '3,8\n' >p.csv
	run -0 pe-rope --sections 1,1 --positions p.csv <<<1,0,1,0
	assert_output "$(paste -d, <(pe-rope -s 3 <<<1,0,0,0 | cut -d, -f1,2) <(pe-rope -s 8 <<<0,0,1,0 | cut -d, -f3,4))"
}

@test "law: sections at equal positions are plain rotation" {
	printf '7,7,7\n8,8,8\n' >p.csv
	printf '1,2,3,4,5,6,7,8\n9,1,8,2,7,3,6,4\n' >x.csv
	pe-rope --sections 2,1,1 --positions p.csv x.csv | cmp - <(pe-rope -s 7 x.csv)
}

@test "law: names pass through, elements too" {
	run -0 pe-rope --header-in --header-out <<<$'a,b\n1,2'
	assert_output $'a,b\n1,2'
	pe-rope -t npy --header-in <<<$'a,b\n1,2' | grep -aq "'<f8'"
	pe-cat -t npy:f32 <<<1,2 | pe-rope -t npy | grep -aq "'<f4'"
}

@test "limit: nan and inf go through as IEEE 754 has it" {
	run -0 pe-rope -s 1 <<<nan,1,inf,1
	assert_output nan,nan,inf,inf
}

@test "limit: the last exact position turns, the next is refused" {
	run -0 pe-rope -s 9007199254740992 -p 6 <<<1,0
	assert_output -0.528512,-0.848926
	refused 1 "pe-rope: <stdin>: row 1: position beyond 2^53" pe-rope -s 9007199254740992 -o "$BATS_TEST_TMPDIR/o" - < <(printf '1,0\n1,0\n')
	refused 2 "pe-rope: -s: beyond 2^53, where positions are exact: '9007199254740993'" pe-rope -s 9007199254740993
}

# ---- tables ----

@test "golden: cosines come first, and are named" {
	run -0 pe-rope --emit cos-sin -d 4 -n 2 -s 1 -p 4 --header-out
	assert_output $'c0,c1,s0,s1\n0.5403,1,0.8415,0.01\n-0.4161,0.9998,0.9093,0.02'
}

@test "law: --emit cos and sin are the halves of cos-sin, shards its pieces" {
	pe-rope --emit cos-sin -d 6 -n 50 >both
	paste -d, <(pe-rope --emit cos -d 6 -n 50) <(pe-rope --emit sin -d 6 -n 50) | cmp - both
	for s in 0 10 20 30 40; do pe-rope --emit cos-sin -d 6 -n 10 -s $s; done | cmp - both
}

@test "law: the table of --inverse turns the other way" {
	pe-rope --emit sin --inverse -d 8 -n 5 -s 1 | cmp - <(printf '%s\n' -1 -2 -3 -4 -5 | pe-rope --emit sin -d 8 --positions -)
}

@test "law: freqs, waves and base are one row; --header-out names them" {
	run -0 pe-rope --emit freqs -d 4 --header-out
	assert_output $'omega0,omega1\n1,0.01'
	run -0 pe-rope --emit waves -d 4 --header-out
	assert_output $'wavelength0,wavelength1\n6.283185307179586,628.3185307179587'
	run -0 pe-rope --emit base -d 4 --header-out -b 500
	assert_output $'base\n500'
}

@test "law: with -H a head is DIM/HEADS wide" {
	run -0 diff <(freqs -d 32 -H 4) <(freqs -d 8)
}

@test "limit: no rows, and rows without end until positions end" {
	run -0 pe-rope --emit cos -d 4 -n 0
	assert_output ""
	pe-rope --emit cos -d 4 -n inf 2>/dev/null | head -n 3 | cmp - <(pe-rope --emit cos -d 4 -n 3)
	run -1 --separate-stderr pe-rope --emit cos -d 2 -n inf -s 9007199254740991
	assert_equal "${#lines[@]}" 2
	assert_equal "$stderr" "pe-rope: row 2: position beyond 2^53"
}

@test "usage: npy needs a number of rows" {
	refused 2 "pe-rope: -n: npy needs the number of rows first: 'inf'" pe-rope --emit cos -d 2 -n inf -t npy
	refused 2 "pe-rope: -n: npy needs the number of rows first: 'inf'" pe-rope --emit cos -d 2 -n inf -o o.npy
}

@test "error: an f32 row that turns beyond f32" {
	printf '1,1\n3e38,3e38\n' | pe-cat -t f32 -o x.f32
	refused 1 "pe-rope: x.f32: row 1, column 2: overflows f32 when turned" pe-rope -d 2 -t f32 -o o.f32 x.f32
	run -0 pe-rope -d 2 -t csv:f32 <(printf '3e38,inf\n' | pe-cat -t f32) -f f32
	assert_output nan,inf
}

@test "law: --round freq, then angle, then the value's own rounding" {
	run -0 pe-rope --emit freqs -d 8 --round freq:bf16
	assert_output 1,0.10009765625,0.010009765625,0.00099945068359375
	pe-rope --emit cos -d 8 -n 1 -s 3 --round freq:bf16,angle:f32 >a
	run ! cmp -s a <(pe-rope --emit cos -d 8 -n 1 -s 3)
}

# ---- scalings ----

@test "golden: every scaling kind, against a computation with 120 digits" {
	run -0 freqs -d 8 --scaling linear:factor=4
	assert_output 0.25,0.025,0.0025,0.00025
	run -0 freqs -d 8 --scaling ntk:alpha=8
	assert_output 1,0.05,0.0025,0.000125
	run -0 freqs -d 8 --scaling yarn:factor=4,original=256
	assert_output 1,0.0625,0.0025,0.00025
	run -0 freqs -d 8 --scaling yarn:factor=4,original=256,truncate=0
	assert_output 1,0.0553986,0.0025,0.00025
	run -0 freqs -d 8 --scaling llama3:factor=8,original=256
	assert_output 1,0.1,0.00125,0.000125
	run -0 freqs -d 4 -b 100 --scaling llama3:factor=8,original=64,low=1,high=4
	assert_output 1,0.0130423
}

@test "law: dynamic leaves the base alone up to the trained length" {
	freqs -d 8 >plain
	freqs -d 8 --scaling dynamic:factor=2,original=4096,length=4096 | cmp - plain
	freqs -d 8 --scaling dynamic:factor=2,original=4096,length=100 | cmp - plain
	run -0 pe-rope --emit base -d 8 --scaling dynamic:factor=2,original=4096,length=4096
	assert_output 10000
	run -0 pe-rope --emit base -d 8 -p 6 --scaling dynamic:factor=2,original=4096,length=8192
	assert_output 43267.5
}

@test "law: the attention factor multiplies cosine and sine once" {
	run -0 pe-rope --emit cos -d 4 -n 1 -p 10 --scaling yarn:factor=8,original=256
	assert_output 1.207944154,1.207944154
	run -0 pe-rope --emit cos -d 4 -n 1 -p 10 --scaling yarn:factor=8,original=256,mscale=0.5,mscale-all-dim=1
	assert_output 0.9139264206,0.9139264206
	run -0 pe-rope --emit cos -d 4 -n 1 --scaling yarn:factor=8,original=256,attention-factor=1.25
	assert_output 1.25,1.25
	run -0 pe-rope --emit cos -d 4 -n 1 --scaling yarn:factor=0.5,original=256
	assert_output 1,1
}

@test "law: longrope divides by the list named, or by the one that the length asks for" {
	printf '1,2\n4,8\n' >f.csv
	long=longrope:factor=4,original=64,factors=f.csv
	run -0 freqs -d 4 --scaling $long,list=short
	assert_output 1,0.005
	run -0 freqs -d 4 --scaling $long,list=long
	assert_output 0.25,0.00125
	freqs -d 4 --scaling $long,length=64 | cmp - <(freqs -d 4 --scaling $long,list=short)
	freqs -d 4 --scaling $long,length=65 | cmp - <(freqs -d 4 --scaling $long,list=long)
	run -0 pe-rope --emit cos -d 4 -n 1 -p 10 --scaling $long,list=short
	assert_output 1.154700538,1.154700538
}

@test "error: scaling keys that are missing, unknown, contradicting or out of range are named" {
	printf '1,2\n4,8\n' >f.csv
	refuse() { refused 2 "pe-rope: --scaling: $2" pe-rope --emit freqs -d 8 --scaling "$1"; }
	refuse sinc:factor=2 "must be one of linear, ntk, dynamic, yarn, llama3, longrope: 'sinc'"
	refuse linear "linear needs factor"
	refuse yarn:factor=2 "yarn needs original"
	refuse dynamic:factor=2,original=64 "dynamic needs length"
	refuse linear:factor=2,alpha=3 "linear takes factor: 'alpha'"
	refuse linear:factor=2,factor=2 "factor is given twice"
	refuse linear:factor "not KEY=VALUE: 'factor'"
	refuse linear:factor=x "factor: not a number: 'x'"
	refuse linear:factor=0 "factor must be positive: '0'"
	refuse yarn:factor=2,original=64,beta-fast=1,beta-slow=2 "beta-fast must be above beta-slow: '1' and '2'"
	refuse yarn:factor=2,original=64,attention-factor=1,mscale=1 "mscale has no effect beside attention-factor"
	refuse llama3:factor=2,original=64,low=4 "high must be above low: '4' and '4'"
	refuse longrope:factor=2,original=64,list=short "longrope needs factors"
	refuse longrope:factor=2,original=64,factors=f.csv "longrope needs list or length"
	refuse longrope:factor=2,original=64,factors=f.csv,list=short,length=9 "length has no effect beside list"
	refuse longrope:factor=2,original=64,factors=f.csv,list=middle "list must be short or long: 'middle'"
	refused 2 "pe-rope: --scaling: ntk needs two pairs at least" pe-rope --emit freqs -d 2 --scaling ntk:alpha=2
}

@test "error: a file of longrope factors has two rows, a column for each pair, all positive" {
	printf '1,2\n' >one.csv
	printf '1,2\n3,0\n' >zero.csv
	printf '1,2\n3,4\n' >two.csv
	long=longrope:factor=4,original=64,list=short
	refused 1 "pe-rope: one.csv: longrope has a short and a long row, not 1" pe-rope --emit freqs -d 4 --scaling $long,factors=one.csv
	refused 1 "pe-rope: zero.csv: row 1, column 2: must be positive: '0'" pe-rope --emit freqs -d 4 --scaling $long,factors=zero.csv
	run -1 pe-rope --emit freqs -d 8 --scaling $long,factors=two.csv
	assert_output --partial two.csv
}

# ---- xPos ----

@test "golden: in xPos zeta of the first pair is 2/7, to the power of distance over base, in a key its inverse" {
	run -0 pe-rope --xpos query --xpos-base 1 --xpos-centre 5 --positions <(echo 6) -p 12 <<<1,0
	assert_output "$(awk 'BEGIN { printf "%.12g,%.12g", cos(6) * 2 / 7, sin(6) * 2 / 7 }')"
	run -0 pe-rope --xpos key --xpos-base 1 --xpos-centre 5 --positions <(echo 6) -p 11 <<<1,0
	assert_output "$(awk 'BEGIN { printf "%.11g,%.11g", cos(6) * 7 / 2, sin(6) * 7 / 2 }')"
}

@test "law: products of xPos queries and keys know the offset only, wherever the centre is" {
	yes 0.3,-1.7,2.5,0.01,1,1,-3,2 | head -n 40 >x.csv
	for centre in 0 20 -5000 100000; do
		relattn -Q <(pe-rope --xpos query --xpos-centre $centre x.csv) -K <(pe-rope --xpos key --xpos-centre $centre x.csv) \
			--scale 1 --emit logits >"c$centre.csv"
		awk -F, 'NR > 1 { for (i = 2; i <= NF; i++) if (($i - last[i - 1]) ^ 2 > 1e-24) exit 1 } { split($0, last) }' "c$centre.csv"
		pe-cmp --abs 1e-12 c0.csv "c$centre.csv"
	done
	run -1 pe-cmp -q --abs 0.1 c0.csv <(relattn -Q <(pe-rope x.csv) -K <(pe-rope x.csv) --scale 1 --emit logits)
}

@test "limit: xPos over an endless base is plain rotation" {
	seq 0 11 | paste -d, - - - - >x.csv
	pe-rope --xpos query --xpos-base 1e300 -s 1000 x.csv | cmp - <(pe-rope -s 1000 x.csv)
	pe-rope --xpos key --xpos-base 1e300 --emit cos-sin -d 8 -n 9 | cmp - <(pe-rope --emit cos-sin -d 8 -n 9)
	pe-rope --xpos query --xpos-base 1e9 x.csv | pe-cmp --abs 1e-7 - <(pe-rope x.csv)
}

@test "reverse: --inverse takes xPos back; a key's factor undoes a query's" {
	printf '%s\n' 1,2,3,4,5,6,7,8 -1,0.5,2,2,9,-3,4,1 >x.csv
	options=(--xpos query --xpos-centre 7 -s 12345 -H 2 --pairs halves)
	pe-rope "${options[@]}" x.csv | pe-rope "${options[@]}" --inverse - | pe-cmp --abs 1e-14 x.csv -
	pe-rope "${options[@]}" x.csv | pe-rope "${options[@]}" --xpos key | pe-rope -s 12345 -H 2 --pairs halves --inverse |
		pe-cmp --abs 1e-14 - <(pe-rope -s 12345 -H 2 --pairs halves x.csv)
}

@test "law: an xPos row depends on its position alone: one step, listed or long run, any block, shards of tables" {
	for i in $(seq 200); do echo "$i.5,0.1,-$i,1e-3"; done >x.csv
	pe-rope --xpos key -s -80 x.csv >whole
	pe-rope --xpos key --positions <(seq -80 119) x.csv | cmp - whole
	for i in 1 64 65 128 200; do
		sed -n "${i}p" x.csv | pe-rope --xpos key -s $((i - 81)) | cmp - <(sed -n "${i}p" whole)
	done
	pe-rope --emit cos-sin --xpos query -d 6 -n 50 >both
	for s in 0 10 20 30 40; do pe-rope --emit cos-sin --xpos query -d 6 -n 10 -s $s; done | cmp - both
}

@test "law: xPos takes the columns that turn, with the attention factor, each section by its own position" {
	run -0 pe-rope --xpos key --rotary-dim 2 -s 1 -p 6 <<<1,0,7
	assert_output 0.541626,0.843532,7
	pe-rope --xpos key --scaling yarn:factor=8,original=64 -s 9 <<<1,2,3,4 |
		pe-cmp --abs 1e-14 - <(pe-rope --xpos key --scaling yarn:factor=8,original=64,attention-factor=2 -s 9 <<<1,2,3,4 |
			awk -F, '{ for (i = 1; i <= NF; i++) printf "%.17g%s", $i * (0.1 * log(8) + 1) / 2, i < NF ? "," : "\n" }')
	run -0 pe-rope --xpos query --sections 1,1 --positions <(echo 3,800) <<<1,0,1,0
	assert_output "$(paste -d, <(pe-rope --xpos query -s 3 <<<1,0,0,0 | cut -d, -f1,2) <(pe-rope --xpos query -s 800 <<<0,0,1,0 | cut -d, -f3,4))"
}

@test "usage: xPos where it has no effect, or no such base" {
	refused 2 "pe-rope: --xpos: must be one of query, key: 'value'" pe-rope --xpos value
	refused 2 "pe-rope: --xpos-base: has no effect without --xpos" pe-rope --xpos-base 8
	refused 2 "pe-rope: --xpos-centre: has no effect without --xpos" pe-rope --xpos-centre 0
	refused 2 "pe-rope: --xpos-base: must be at least 1: '0.5'" pe-rope --xpos key --xpos-base 0.5
	refused 2 "pe-rope: --xpos-centre: not an integer: '1.5'" pe-rope --xpos key --xpos-centre 1.5
	for emit in freqs waves base; do
		refused 2 "pe-rope: --xpos: has no effect beside --emit $emit" pe-rope --emit $emit -d 4 --xpos key
	done
}

@test "limit: positions where factors of xPos leave the range of a double are refused" {
	far="position farther than 552 times --xpos-base from --xpos-centre"
	run -0 pe-rope --xpos key --xpos-base 1 -s 552 -p 6 <<<1,0
	assert_output "1.28153e+300,-1.68406e+300"
	refused 1 "pe-rope: <stdin>: row 1: $far" pe-rope --xpos key --xpos-base 1 -s 552 -o "$BATS_TEST_TMPDIR/o" - < <(printf '1,0\n1,0\n')
	refused 1 "pe-rope: <stdin>: row 0: $far" pe-rope --xpos key --xpos-base 1 --xpos-centre 600 -s 47 -o "$BATS_TEST_TMPDIR/o" - <<<1,0
	refused 1 "pe-rope: p.csv: row 1: $far: '-552.5'" pe-rope --xpos key --xpos-base 1 --positions p.csv - \
		< <(printf '552\n-552.5\n' >p.csv; printf '1,0\n1,0\n')
	refused 2 "pe-rope: -n: ${far/position/positions}: '554'" pe-rope --xpos key --xpos-base 1 --emit cos -d 2 -n 554
	run -1 --separate-stderr pe-rope --xpos key --xpos-base 1 --emit cos -d 2 -n inf
	assert_equal "${#lines[@]}" 553
	assert_equal "$stderr" "pe-rope: row 553: $far"
}

@test "law: --verbose tells xPos" {
	run -0 --separate-stderr pe-rope --xpos key --xpos-centre 9 --verbose -s 9 <<<1,0
	assert_line -n 0 "$(pe-rope -s 9 <<<1,0)"
	[[ $stderr == *"pe-rope: xpos=key base=512 centre=9" ]]
}

@test "limit: yarn's ramp where no pair, or every pair, turns often enough within the trained length" {
	run -0 freqs -d 8 --scaling yarn:factor=4,original=1e9
	assert_output 1,0.1,0.01,0.001
	# an empty ramp is one of a thousandth, as in the reference: it ends behind the first pair
	run -0 freqs -d 8 --scaling yarn:factor=4,original=1
	assert_output 1,0.025,0.0025,0.00025
}

# ---- config.json ----

# config JSON: writes it, and prints head size, frequencies and attention factor by it.
config() {
	echo "$1" >config.json
	shift
	freqs --config config.json --verbose "$@" 2>verbose
	grep -o 'head-dim=[0-9]*\|rotary-dim=[0-9]*\|attention-factor=[0-9.]*' verbose | paste -sd' '
}

@test "golden: Llama 3, both spellings" {
	run -0 config '{"hidden_size": 32, "num_attention_heads": 4, "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0,
		"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}'
	assert_output $'1,0.037606,0.000524846,6.64787e-06\nhead-dim=8 rotary-dim=8 attention-factor=1'
	first=$output
	run -0 config '{"head_dim": 8, "rope_parameters": {"rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
		"high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}'
	assert_output "$first"
}

@test "golden: Qwen 2 and 3 with YaRN, the older type and the newer rope_type" {
	run -0 config '{"head_dim": 8, "rope_theta": 1000000, "max_position_embeddings": 131072,
		"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}'
	first=$output
	assert_output "$(freqs -d 8 -b 1e6 --scaling yarn:factor=4,original=32768)"$'\nhead-dim=8 rotary-dim=8 attention-factor=1.138629436111989'
	run -0 config '{"head_dim": 8, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000,
		"factor": 4.0, "original_max_position_embeddings": 32768}}'
	assert_output "$first"
}

@test "golden: a yarn file without a trained length or factor means max_position_embeddings and their ratio" {
	run -0 config '{"head_dim": 8, "max_position_embeddings": 256, "rope_scaling": {"type": "yarn", "factor": 4}}'
	assert_line "$(freqs -d 8 --scaling yarn:factor=4,original=256)"
	run -0 config '{"head_dim": 8, "max_position_embeddings": 1024,
		"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 256}}'
	assert_line "$(freqs -d 8 --scaling yarn:factor=4,original=256)"
}

@test "golden: DeepSeek's weights of the attention factor cancel" {
	run -0 config '{"qk_rope_head_dim": 8, "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
		"beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 4096}}'
	assert_line "head-dim=8 rotary-dim=8 attention-factor=1"
}

@test "golden: Phi-3's longrope picks the long list by its length, the line may name the other" {
	phi='{"head_dim": 4, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
		"rope_scaling": {"type": "longrope", "short_factor": [1, 2], "long_factor": [4, 8]}}'
	run -0 config "$phi"
	assert_output $'0.25,0.00125\nhead-dim=4 rotary-dim=4 attention-factor=1.1902380714238083'
	run -0 config "${phi/longrope/su}"
	assert_line 0.25,0.00125
	run -0 config "$phi" --scaling longrope:list=short
	assert_line 1,0.005
	run -0 config "$phi" --scaling longrope:length=4096
	assert_line 1,0.005
}

@test "golden: GPT-NeoX turns a quarter of a head, GPT-J its rotary_dim" {
	run -0 config '{"hidden_size": 32, "num_attention_heads": 2, "rotary_pct": 0.25, "rotary_emb_base": 100}'
	assert_output $'1,0.1\nhead-dim=16 rotary-dim=4 attention-factor=1'
	run -0 config '{"n_embd": 32, "n_head": 2, "rotary_dim": 4}'
	assert_output $'1,0.01\nhead-dim=16 rotary-dim=4 attention-factor=1'
	run -0 config '{"head_dim": 16, "rope_parameters": {"rope_theta": 100, "partial_rotary_factor": 0.25}}'
	assert_output $'1,0.1\nhead-dim=16 rotary-dim=4 attention-factor=1'
}

@test "golden: Gemma by layer kind, in the newer and the older spelling" {
	new='{"head_dim": 4, "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000},
		"sliding_attention": {"rope_type": "default", "rope_theta": 10000}}}'
	old='{"head_dim": 4, "rope_theta": 1000000, "rope_local_base_freq": 10000, "rope_scaling": {"rope_type": "linear", "factor": 8}}'
	for json in "$new" "$old"; do
		run -0 config "$json" --layer-kind full_attention
		assert_line 0.125,0.000125
		run -0 config "$json" --layer-kind sliding_attention
		assert_line 1,0.01
		refused 2 "pe-rope: config.json: parameters differ by layer kind (--layer-kind): one of full_attention, sliding_attention" \
			pe-rope --emit freqs --config config.json
		refused 2 "pe-rope: config.json: layer kinds are full_attention, sliding_attention: 'global'" \
			pe-rope --emit freqs --config config.json --layer-kind global
	done
}

@test "golden: a text_config goes first; Gemma 3 files rely on their class for the bases" {
	run -0 config '{"model_type": "gemma3", "head_dim": 64, "text_config": {"model_type": "gemma3_text", "head_dim": 4,
		"rope_scaling": {"factor": 8.0, "rope_type": "linear"}}}' --layer-kind full_attention
	assert_line 0.125,0.000125
}

@test "golden: Gemma 4's full layers pair over half the head and space by all of it" {
	echo '{"head_dim": 2, "global_head_dim": 8, "rope_parameters": {"full_attention": {"rope_type": "proportional",
		"partial_rotary_factor": 0.25, "rope_theta": 10000}, "sliding_attention": {"rope_theta": 10000}}}' >config.json
	run -0 freqs --config config.json --layer-kind full_attention
	assert_output 1
	run -0 pe-rope --config config.json --layer-kind full_attention --pairs halves -s 1 -p 4 <<<1,2,3,4,0,6,7,8
	assert_output 0.5403,2,3,4,0.8415,6,7,8
}

@test "golden: M-RoPE sections come from the file, in blocks and alternating" {
	echo '{"head_dim": 12, "rope_scaling": {"type": "mrope", "mrope_section": [2, 2, 2]}}' >config.json
	echo 1,1,1,1,1,1,1,1,1,1,1,1 >x.csv
	echo 3,5,9 >p.csv
	pe-rope --config config.json --positions p.csv x.csv | cmp - <(pe-rope --sections 2,2,2 --positions p.csv x.csv)
	pe-rope --config config.json --positions <(echo 5) x.csv | cmp - <(pe-rope -s 5 x.csv)
	sed 's/"type": "mrope"/"mrope_interleaved": true/' config.json >turns.json
	pe-rope --config turns.json --positions p.csv x.csv >got
	for column in 1 2 3 4 5 6; do
		position=$(echo 9 3 5 9 3 5 9 | cut -d' ' -f$((column + 1)))
		pe-rope -s "$position" x.csv | cut -d, -f$((2 * column - 1)),$((2 * column))
	done | paste -sd, | cmp - got
}

@test "law: options on the line win over the file" {
	echo '{"head_dim": 8, "rope_theta": 100, "partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 4}}' >config.json
	run -0 freqs --config config.json
	assert_output 0.25,0.025
	run -0 freqs --config config.json -b 10000
	assert_output 0.25,0.0025
	run -0 freqs --config config.json --rotary-dim 2
	assert_output 0.25
	run -0 freqs --config config.json --scaling linear:factor=2
	assert_output 0.5,0.05
	run -0 freqs --config config.json --scaling ntk:alpha=2
	assert_output 1,0.05
	run -0 freqs --config config.json -d 32 -H 2
	assert_output "$(freqs -d 8 -b 100 --scaling linear:factor=4)"
}

@test "law: without -H the heads follow from the file's head size" {
	echo '{"head_dim": 4}' >config.json
	pe-rope --config config.json -s 2 <<<1,2,3,4,5,6,7,8 | cmp - <(pe-rope -H 2 -s 2 <<<1,2,3,4,5,6,7,8)
	refused 1 "pe-rope: <stdin>: no multiple of the 4 columns of a head: '6'" pe-rope --config config.json - <<<1,2,3,4,5,6
}

@test "error: a config.json that does not hold what is due says where" {
	refuse() {
		printf '%s' "$1" >config.json
		refused 1 "pe-rope: config.json: $2" pe-rope --emit freqs -d 8 --config config.json
	}
	refuse '[]' "no JSON object"
	refuse '{"rope_theta": "big"}' "rope_theta: not a number"
	refuse '{"rope_theta": -1}' "rope_theta: must be positive: '-1'"
	refuse '{"head_dim": 2.5}' "head_dim: must be a positive integer: '2.5'"
	refuse '{"rope_scaling": 3}' "rope_scaling: not an object"
	refuse '{"rope_scaling": {"type": "spiral"}}' "rope_scaling: unknown rope_type, not one of default, linear, ntk, dynamic, yarn, llama3, longrope, su, mrope, proportional: 'spiral'"
	refuse '{"rope_scaling": {"type": "linear"}}' "linear needs factor"
	refuse '{"rope_scaling": {"type": "llama3", "factor": 8}, "max_position_embeddings": 64}' "llama3 needs original_max_position_embeddings"
	refuse '{"rope_scaling": {"type": "linear", "factor": -8}}' "factor must be positive: '-8'"
	refuse '{"rope_scaling": {"type": "longrope", "factor": 8, "long_factor": [1]}, "max_position_embeddings": 64}' "rope_scaling: longrope needs short_factor"
	refuse '{"rope_scaling": {"type": "longrope", "factor": 8, "short_factor": [1, 1], "long_factor": [1, 1]}, "max_position_embeddings": 64}' "short_factor: 2 numbers for 4 pairs"
	refuse '{"partial_rotary_factor": 1.5}' "partial_rotary_factor: must be above 0, at most 1: '1.5'"
	refuse '{"partial_rotary_factor": 0.4}' "of 8 columns an even number must rotate: '3'"
	printf '{"a": 1, "a": 2}' >config.json
	refused 1 "pe-rope: config.json:1: column 12: no JSON: duplicate object key near '\"a\"'" pe-rope --emit freqs -d 8 --config config.json
}

@test "error: values of a config.json that are none of their kind" {
	refuse() {
		printf '%s' "$1" >config.json
		refused "${3:-1}" "pe-rope: config.json: $2" pe-rope --emit freqs -d 8 --config config.json
	}
	refuse '{"rope_parameters": {"rope_theta": []}}' "rope_theta: not a number"
	refuse '{"rope_parameters": {"rope_theta": 0}}' "rope_theta: must be positive: '0'"
	refuse '{"head_dim": "8"}' "head_dim: not a number"
	refuse '{"hidden_size": {}, "num_attention_heads": 2}' "hidden_size: not a number"
	refuse '{"hidden_size": 33, "num_attention_heads": 2}' "hidden_size: no multiple of num_attention_heads 2: '33'"
	refuse '{"rope_scaling": {"partial_rotary_factor": true}}' "partial_rotary_factor: not a number"
	refuse '{"rope_scaling": {"rope_type": 3}}' "rope_scaling: rope_type: not a string"
	refuse '{"rope_scaling": {"type": "linear", "factor": "8"}}' "factor: not a number"
	refuse '{"rope_scaling": {"type": "yarn", "factor": 2, "truncate": 2}, "max_position_embeddings": 64}' "truncate must be 0 or 1: '2'"
	refuse '{"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 8}, "max_position_embeddings": "64"}' \
		"max_position_embeddings: not a number"
	refuse '{"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 8}}' "yarn needs factor"
	refuse '{"rope_scaling": {"mrope_section": []}}' "mrope_section: not an array of counts"
	refuse '{"rope_scaling": {"mrope_section": [1, 2.5]}}' "mrope_section: not an array of counts"
	refuse '{"rope_scaling": {"mrope_section": [1, -2]}}' "mrope_section: not an array of counts"
}

@test "error: lists of longrope that are none" {
	refuse() {
		printf '{"max_position_embeddings": 64, "rope_scaling": {"type": "longrope", "factor": 8, %s}}' "$1" >config.json
		refused 1 "pe-rope: config.json: $2" pe-rope --emit freqs -d 4 --config config.json
	}
	refuse '"short_factor": 1, "long_factor": [1, 1]' "short_factor: not an array of numbers"
	refuse '"short_factor": [], "long_factor": [1, 1]' "short_factor: not an array of numbers"
	refuse '"short_factor": [1, "1"], "long_factor": [1, 1]' "short_factor: not a number"
	refuse '"short_factor": [1, 1], "long_factor": [1, 0]' "long_factor: must be positive: '0'"
	refuse '"short_factor": [1, 1], "long_factor": [1, 1], "long_mscale": "1"' "long_mscale: not a number"
}

@test "error: a config.json that is not there, is a folder, or goes on for ever" {
	refused 1 "pe-rope: none.json: No such file or directory" pe-rope --emit freqs -d 4 --config none.json
	mkdir folder.json
	refused 1 "pe-rope: folder.json: Is a directory" pe-rope --emit freqs -d 4 --config folder.json
	refused 1 "pe-rope: /dev/zero: longer than 64 MiB" pe-rope --emit freqs -d 4 --config /dev/zero
}

@test "law: layer kinds that only layer_types lists have the parameters of all" {
	local kinds='{"head_dim": 4, "rope_theta": 100, "layer_types": ["full_attention", 3, "sliding_attention"]}'
	run -0 config "$kinds" --layer-kind sliding_attention
	assert_line 1,0.1
	refused 2 "pe-rope: config.json: has no layer kinds: 'linear'" pe-rope --emit freqs --config config.json --layer-kind linear
	echo '{"head_dim": 4}' >config.json
	refused 2 "pe-rope: config.json: has no layer kinds: 'full_attention'" \
		pe-rope --emit freqs --config config.json --layer-kind full_attention
}

@test "law: a file's attention factor counts, not the two weights beside it; truncate may be false" {
	local yarn='"type": "yarn", "factor": 4, "original_max_position_embeddings": 64, "truncate": false'
	run -0 config "{\"head_dim\": 8, \"rope_scaling\": {$yarn, \"attention_factor\": 2, \"mscale\": 7, \"mscale_all_dim\": 3}}"
	assert_output "$(freqs -d 8 --scaling yarn:factor=4,original=64,truncate=0)"$'\nhead-dim=8 rotary-dim=8 attention-factor=2 attention-factor=2'
}

# ---- usage ----

@test "usage: sizes that are odd or do not divide are refused" {
	refused 2 "pe-rope: -d: must be even: '7'" pe-rope --emit freqs -d 7
	refused 2 "pe-rope: -d: a head's columns: must be even: '3'" pe-rope --emit freqs -d 6 -H 2
	refused 2 "pe-rope: -d: no multiple of 3 heads: '8'" pe-rope --emit freqs -d 8 -H 3
	refused 2 "pe-rope: --rotary-dim: must be even: '3'" pe-rope --rotary-dim 3
	refused 2 "pe-rope: --rotary-dim: beyond the 4 columns of a head: '6'" pe-rope --emit freqs -d 4 --rotary-dim 6
	refused 1 "pe-rope: <stdin>: a head's columns: must be even: '3'" pe-rope - <<<1,2,3
}

@test "usage: sections must sum to the pairs and need positions with a column for each" {
	printf '1,2\n' >p.csv
	refused 2 "pe-rope: --sections: has no effect without --positions" pe-rope --sections 1,1 -d 4
	refused 2 "pe-rope: --sections: must sum to 2, the pairs of a head: '3'" pe-rope --sections 1,2 --positions p.csv - <<<1,2,3,4
	run -1 pe-rope --sections 1,1,2 --positions p.csv - <<<1,2,3,4,5,6,7,8
	assert_output "pe-rope: p.csv: --positions: must be 3 columns of numbers, not 2"
	refused 2 "pe-rope: --sections: not an integer: ''" pe-rope --sections 1,,1 --positions p.csv
}

@test "usage: options without effect are refused" {
	refused 2 "pe-rope: -s: has no effect beside --positions" pe-rope -s 1 --positions p
	refused 2 "pe-rope: -n: has no effect beside --positions" pe-rope --emit cos -d 4 -n 1 --positions p
	refused 2 "pe-rope: -n: has no effect without --emit" pe-rope -n 4
	refused 2 "pe-rope: -n: must be given (see --help)" pe-rope --emit cos -d 4
	refused 2 "pe-rope: -d: must be given (see --help)" pe-rope --emit cos -n 4
	refused 2 "pe-rope: -s: has no effect beside --emit freqs" pe-rope --emit freqs -d 4 -s 1
	refused 2 "pe-rope: --inverse: has no effect beside --emit waves" pe-rope --emit waves -d 4 --inverse
	refused 2 "pe-rope: --round: has no effect beside --emit freqs" pe-rope --emit freqs -d 4 --round angle:f32
	refused 2 "pe-rope: --round: has no effect beside --emit base" pe-rope --emit base -d 4 --round freq:f32
	refused 2 "pe-rope: --layer-kind: has no effect without --config" pe-rope --layer-kind x
	refused 2 "pe-rope: extra operand: 'x.csv'" pe-rope --emit freqs -d 4 x.csv
	refused 2 "pe-rope: standard input is named twice: '-'" pe-rope --positions - -
	refused 2 "pe-rope: --header-in: has no effect, nothing is read" pe-rope --emit cos -n 2 -d 4 --header-in
	refused 2 "pe-rope: standard input is named twice: '-'" pe-rope --config - </dev/null
	refused 2 "pe-rope: standard input is named twice: '-'" pe-rope --config - --positions - x.csv </dev/null
	refused 2 "pe-rope: standard input is named twice: '-'" \
		pe-rope --scaling longrope:factor=2,original=8,list=short,factors=- </dev/null
	refused 2 "pe-rope: output: 1099511627776 rows x 1099511627776 columns x 8 bytes overflows" \
		pe-rope --emit cos -n 1099511627776 -d 1099511627776
}

@test "error: as many positions as rows, each of them exact" {
	pe-table -n 0 -d 3 -t npy -o none.npy
	refused 1 "pe-rope: none.npy: 0 positions for at least 1 rows of <stdin>" pe-rope --positions none.npy <<<1,2
	printf '1\n2\n' >p.csv
	refused 1 "pe-rope: p.csv: 2 positions for at least 3 rows of <stdin>" pe-rope --positions p.csv -o out - < <(printf '1,2\n1,2\n1,2\n')
	refused 1 "pe-rope: p.csv: 2 positions for 1 rows of <stdin>" pe-rope --positions p.csv -o out - <<<1,2
	[ ! -e out ]
	printf '1\n9007199254740994\n' >p.csv
	refused 1 "pe-rope: p.csv: row 1: position beyond 2^53: '9007199254740994'" pe-rope --positions p.csv - <<<1,2
}

@test "law: --verbose tells what was derived, on standard error alone" {
	run -0 --separate-stderr pe-rope --emit freqs -d 8 --scaling ntk:alpha=8 --verbose
	assert_output 1,0.05,0.0025,0.000125
	assert_equal "$stderr" "pe-rope: heads=1 head-dim=8 rotary-dim=8 freq-dim=8 pairs=interleaved base=160000 attention-factor=1 position-columns=1
pe-rope: scaling=ntk:alpha=8"
}

@test "usage: a bad line is refused as one although the input is empty" {
	refused 2 "pe-rope: -d: must be even: '7'" pe-rope -d 7 </dev/null
	refused 2 "pe-rope: -d: no multiple of 3 heads: '8'" pe-rope -d 8 -H 3 </dev/null
	refused 2 "pe-rope: --scaling: yarn needs original" pe-rope --scaling yarn:factor=2 </dev/null
	refused 2 "pe-rope: --scaling: longrope needs list or length" pe-rope --scaling longrope:factor=2,original=64,factors=f </dev/null
	refused 2 "pe-rope: --scaling: ntk needs two pairs at least" pe-rope --scaling ntk:alpha=2 --rotary-dim 2 </dev/null
	refused 2 "pe-rope: --sections: must sum to 4, the pairs of a head: '3'" pe-rope -d 8 --sections 1,2 --positions missing.csv </dev/null
	refused 1 "pe-rope: <stdin>: empty input (was it also the output?)" pe-rope -d 8 </dev/null
}
