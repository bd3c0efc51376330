#!/usr/bin/env bats
# relattn: what attention owes for every option, against plain definitions and the other commands.
# shellcheck disable=SC2086  # options are meant to split into words
load helper

# noise ROWS COLS SEED: numbers within -1..1, the same everywhere.
noise() {
	awk -v rows="$1" -v cols="$2" -v s="$3" 'BEGIN {
		for (r = 0; r < rows; r++) for (c = 0; c < cols; c++) {
			s = s * 16807 % 2147483647
			printf "%.6f%s", s / 1073741823.5 - 1, c < cols - 1 ? "," : "\n"
		} }'
}

# same_bytes COMMAND COMMAND...: all print what the first one does.
same_bytes() {
	local first other
	first=$(bash -o pipefail -c "$1" | md5sum)
	for other in "${@:2}"; do
		assert_equal "$other: $(bash -o pipefail -c "$other" | md5sum)" "$other: $first"
	done
}

# close_to TOLERANCE A B: the outputs of two commands are equal within it.
close_to() {
	run -0 pe-cmp -q --abs "$1" <(bash -o pipefail -c "$2") <(bash -o pipefail -c "$3")
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	noise 20 8 1 >q.csv
	noise 20 8 2 >k.csv
	noise 20 8 3 >v.csv
	noise 8 2 4 >t5.csv
	noise 9 4 5 >shaw.csv
	noise 40 20 6 >bias.csv # two heads
	noise 20 20 7 >bias1.csv
}
QKV="-Q q.csv -K k.csv -V v.csv"

# ---- what the sources say ----

@test "golden: tensor2tensor's index of a clipped offset" {
	run -0 relattn -Q <(yes 1 | head -n 3) -K <(yes 0 | head -n 8) --shaw-k <(seq 0 6) --scale 1 --emit bias --query-start end
	assert_output "$(printf '0,0,0,1,2,3,4,5\n0,0,0,0,1,2,3,4\n0,0,0,0,0,1,2,3')"
}

@test "golden: with even weights token t gives 1/(t+1) to itself and each token before it" {
	run -0 bash -c 'seq 4 | relattn -c --scale 0 --emit weights'
	assert_output "$(printf '1,0,0,0\n0.5,0.5,0,0\n%s,%s,%s,0\n0.25,0.25,0.25,0.25' 0.3333333333333333{,,})"
}

# ---- laws of attention ----

@test "law: shuffled rows give shuffled rows, unless a mask or a position comes in" {
	{ tail -n +2 q.csv; head -n 1 q.csv; } >turned.csv
	close_to 1e-15 "relattn q.csv | tail -n +2; relattn q.csv | head -n 1" "relattn turned.csv"
	cut -d, -f1 t5.csv >t5-1.csv
	paste -d, shaw.csv shaw.csv >shaw-1.csv
	for option in -c "--window 3" "--t5 t5-1.csv" --rope "--shaw-k shaw-1.csv" --alibi; do
		run -1 pe-cmp -q --abs 1e-3 <(relattn $option q.csv | tail -n +2; relattn $option q.csv | head -n 1) <(relattn $option turned.csv)
	done
}

@test "law: the weights of a query add up to 1, and times the values they are the output" {
	relattn $QKV -H 2 --emit weights --alibi >w.csv
	awk -F, '{ s = 0; for (i = 1; i <= NF; i++) s += $i; if (s < 1 - 1e-14 || s > 1 + 1e-14) exit 1 }' w.csv
	close_to 1e-14 "relattn $QKV -H 2 --alibi" \
		"paste -d, <(relattn -Q <(head -n 20 w.csv) -K <(cut -d, -f1-4 v.csv | pe-cat --transpose) --scale 1 --emit logits) \
		           <(relattn -Q <(tail -n 20 w.csv) -K <(cut -d, -f5-8 v.csv | pe-cat --transpose) --scale 1 --emit logits)"
}

@test "law: logits are scale times q.k plus the bias" {
	local terms="--t5 t5.csv --alibi --shaw-k shaw.csv --bias bias.csv --bias-scale 0.5"
	relattn $QKV -H 2 $terms --emit bias -t npy -o b.npy
	close_to 1e-14 "relattn $QKV -H 2 $terms --emit logits" "relattn $QKV -H 2 --bias b.npy --emit logits"
}

@test "law: lse is the logarithm of the sum of the exponentials of the logits" {
	relattn $QKV -H 2 -c --emit lse >lse.csv
	relattn $QKV -H 2 -c --emit logits | awk -F, '
		{ s = 0; for (i = 1; i <= NF; i++) if ($i != "-inf") s += exp($i); l[NR] = log(s) }
		END { for (i = 1; i <= NR / 2; i++) printf "%.17g,%.17g\n", l[i], l[i + NR / 2] }' >want.csv
	run -0 pe-cmp --abs 1e-14 want.csv lse.csv
}

@test "law: --kv-heads reads one key head for several query heads" {
	paste -d, <(cut -d, -f1-4 k.csv) <(cut -d, -f1-4 k.csv) >k2.csv
	paste -d, <(cut -d, -f1-4 v.csv) <(cut -d, -f1-4 v.csv) >v2.csv
	same_bytes "relattn -Q q.csv -K k2.csv -V v2.csv -H 2" \
		"relattn -Q q.csv -K <(cut -d, -f1-4 k.csv) -V <(cut -d, -f1-4 v.csv) -H 2 --kv-heads 1"
	# three query heads over two: 0, 0, 1
	noise 20 12 9 >q3.csv
	same_bytes "relattn -Q q3.csv -K <(paste -d, <(cut -d, -f1-4 k.csv) k.csv) -H 3 --emit logits" \
		"relattn -Q q3.csv -K k.csv -H 3 --kv-heads 2 --emit logits"
}

@test "law: projections multiply rows from the right, -W after --wq" {
	noise 8 8 11 >a.csv
	noise 8 8 12 >b.csv
	product() { echo "relattn -Q $1 -K <(pe-cat --transpose $2) --scale 1 --emit logits"; }
	close_to 1e-13 "relattn $QKV -H 2 --wq a.csv --wk b.csv --wv a.csv --wo b.csv" \
		"$(product "<(relattn -Q <($(product q.csv a.csv)) -K <($(product k.csv b.csv)) -V <($(product v.csv a.csv)) -H 2)" b.csv)"
	close_to 1e-13 "relattn $QKV --wq a.csv -W b.csv" "relattn -Q <($(product "<($(product q.csv a.csv))" b.csv)) -K k.csv -V v.csv"
}

# ---- positions, against the commands that make them ----

@test "law: --t5 is the bias matrix of t5-bucket, --alibi that of alibi" {
	same_bytes "t5-bucket -n 5x9 --bias t5.csv --query-start end" \
		"relattn --emit bias -n 5x9 -H 2 --t5 t5.csv --query-start end"
	same_bytes "t5-bucket -c -n 9 --bias t5.csv" "relattn --emit bias -n 9 -H 2 --t5 t5.csv --t5-direction past"
	noise 9 2 13 >cls.csv
	same_bytes "t5-bucket -n 9 --cls --bias cls.csv" "relattn --emit bias -n 9 -H 2 --t5 cls.csv --cls"
	same_bytes "alibi -H 8 -n 5x9 --query-start -2" "relattn --emit bias -n 5x9 -H 8 --alibi --query-start -2"
	run -0 pe-cmp --rel 4e-16 <(alibi -H 12 -n 50) <(relattn --emit bias -n 50 -H 12 --alibi)
	same_bytes "relattn --emit bias -n 9 -H 2 --alibi" "relattn --emit bias -n 9 -H 2 --alibi --alibi-slopes <(alibi -H 2)" \
		"relattn --emit bias -n 9 -H 2 --alibi --alibi-slopes <(alibi -H 2 | pe-cat --transpose)"
	same_bytes "alibi -H 2 --max-bias 4 -n 9 -c" "relattn --emit bias -n 9 -H 2 --alibi --max-bias 4 -c"
}

@test "law: [CLS] goes by position, for queries before it too" {
	noise 9 1 13 >cls.csv
	same_bytes "t5-bucket -n 7x4 --cls --bias cls.csv --query-start -3" \
		"relattn --emit bias -n 7x4 --t5 cls.csv --cls --query-start -3"
}

@test "law: --rope is pe-rope before" {
	same_bytes "relattn -Q <(pe-rope -H 2 --pairs halves -b 500 -s 3 q.csv) -K <(pe-rope -H 2 --pairs halves -b 500 k.csv) -V v.csv -H 2" \
		"relattn $QKV -H 2 --rope --rope-pairs halves --rope-base 500 --query-start 3"
	same_bytes "relattn -Q <(pe-rope -H 2 --rotary-dim 2 q.csv) -K <(pe-rope -H 2 --rotary-dim 2 k.csv) -V v.csv -H 2" \
		"relattn $QKV -H 2 --rope --rotary-dim 2"
}

@test "law: --xpos is pe-rope --xpos before, about any centre" {
	close_to 1e-14 "relattn -Q <(pe-rope -H 2 -s 3 --xpos query --xpos-base 20 q.csv) -K <(pe-rope -H 2 --xpos key --xpos-base 20 k.csv) -V v.csv -H 2" \
		"relattn $QKV -H 2 --rope --xpos --xpos-base 20 --query-start 3"
	same_bytes "relattn -Q <(pe-rope --xpos query --xpos-centre 10 q.csv) -K <(pe-rope --xpos key --xpos-centre 10 k.csv) -V v.csv" \
		"relattn $QKV --rope --xpos"
}

@test "law: xPos scores know the offset only, fade with the past and, over an endless base, are those of --rope" {
	yes 1,2,3,4 | head -n 30 >same.csv
	relattn --rope --xpos --scale 1 --emit logits same.csv >logits.csv
	awk -F, 'NR > 1 { for (i = 2; i <= NF; i++) if (($i - last[i - 1]) ^ 2 > 1e-24) exit 1 } { split($0, last) }' logits.csv
	yes 1,0 | head -n 3000 | relattn -Q <(echo 1,0) -K - --rope --rope-base 1e-9 --xpos --query-start end --scale 1 --emit logits >fade.csv
	awk -F, '{ last = $NF; ten = $(NF - 710) / cos(710); exit last != 1 || (ten / (2 / 7) ^ (710 / 512) - 1) ^ 2 > 1e-20 }' fade.csv
	close_to 1e-15 "relattn $QKV -H 2 --rope --xpos --xpos-base 1e300" "relattn $QKV -H 2 --rope"
}

@test "law: xPos is the same in shards of queries, and far beyond a double when it is counted from 0" {
	same_bytes "relattn $QKV -H 2 --rope --xpos -c" \
		"for i in 0 5 10 15; do sed -n \$((i + 1)),\$((i + 5))p q.csv | relattn -K k.csv -V v.csv -H 2 --rope --xpos -c --query-start \$i; done"
	yes 1,1 | head -n 1100 | relattn -c --rope --xpos --xpos-base 1 --emit lse -j 1 >lse.csv
	run -1 grep -E 'nan|inf' lse.csv
	refused 1 "relattn: position 0: farther than 552 times --xpos-base from key 553, the middle" \
		relattn -c --rope --xpos --xpos-base 1 - < <(yes 1,1 | head -n 1106)
	refused 1 "relattn: position 0: farther than 66 times --xpos-base from key 67, the middle (--compute f64 reaches farther)" \
		relattn -c --rope --xpos --xpos-base 1 --compute f32 - < <(yes 1,1 | head -n 135)
	refused 1 "relattn: position 555: farther than 552 times --xpos-base from key 2, the middle" \
		relattn --rope --xpos --xpos-base 1 -Q <(echo 1,1) -K <(yes 1,1 | head -n 4) --query-start 555
}

@test "law: --huang is the skewed product with the relative vectors" {
	noise 39 8 14 >e.csv
	close_to 1e-15 "relattn -Q q.csv -K e.csv --scale 1 --emit logits | pe-cat --skew full" \
		"relattn -Q q.csv -K k.csv --scale 1 --huang e.csv --emit bias"
	head -n 20 e.csv >past.csv
	close_to 1e-15 "relattn -Q q.csv -K past.csv --scale 1 --emit logits | pe-cat --skew causal" \
		"relattn -Q q.csv -K k.csv -c --scale 1 --huang past.csv --emit bias | sed s/-inf/0/g"
}

@test "law: a clipped table and one that repeats its ends are the same" {
	{ for _ in 1 2 3; do head -n 1 shaw.csv; done; cat shaw.csv; for _ in 1 2 3; do tail -n 1 shaw.csv; done; } >long.csv
	close_to 1e-15 "relattn $QKV -H 2 --shaw-k shaw.csv --shaw-v shaw.csv" "relattn $QKV -H 2 --shaw-k long.csv --shaw-v long.csv"
	same_bytes "relattn $QKV -H 2 --shaw-k shaw.csv" "relattn $QKV -H 2 --shaw-k <(paste -d, shaw.csv shaw.csv)"
	cut -d, -f1,2 shaw.csv >r.csv
	cut -d, -f1,2 long.csv >r3.csv
	same_bytes "relattn $QKV -H 2 --rel-bias r.csv" "relattn $QKV -H 2 --rel-bias r3.csv"
}

@test "law: Shaw's values at even weights are the mean of the vectors by offset" {
	seq 1 5 >ones.csv
	run -0 relattn -Q <(seq 3) -K <(printf '0\n0\n0\n') -V <(printf '0\n0\n0\n') --shaw-v ones.csv
	assert_output "$(printf '4\n3\n2')"
}

@test "law: untied positions are a product of their own, with the same scale" {
	noise 20 6 15 >p.csv
	noise 6 10 16 >u.csv
	noise 6 10 17 >w.csv
	local pos="--pos p.csv --pos-wq u.csv --pos-wk w.csv"
	close_to 1e-14 "relattn $QKV -H 2 $pos --emit logits" \
		"relattn -Q q.csv -K k.csv -H 2 --scale 0.35355339059327376 --bias <(relattn --emit bias -n 20 -H 2 $pos --scale 0.35355339059327376) --emit logits"
	close_to 1e-14 "relattn --emit bias -n 20 -H 2 $pos --scale 1" \
		"relattn -Q p.csv -K p.csv --wq u.csv --wk w.csv -H 2 --scale 1 --emit logits"
	close_to 1e-14 "relattn -Q q.csv -K k.csv -H 2 $pos --shaw-k shaw.csv --emit bias" \
		"relattn -Q q.csv -K k.csv -H 2 --scale 0.35355339059327376 --shaw-k shaw.csv --emit bias \
			--bias <(relattn --emit bias -n 20 -H 2 $pos --scale 0.35355339059327376)"
	same_bytes "relattn $QKV -H 2 $pos" "relattn $QKV -H 2 $pos -j 1"
	cut -d, -f1-4 k.csv >k1.csv
	cut -d, -f1-4 v.csv >v1.csv
	same_bytes "relattn -Q q.csv -K k1.csv -V v1.csv -H 2 --kv-heads 1 $pos" \
		"relattn -Q q.csv -K <(paste -d, k1.csv k1.csv) -V <(paste -d, v1.csv v1.csv) -H 2 $pos"
}

@test "law: four terms add up to the score of words with positions added" {
	noise 8 8 19 >w.csv
	head -n 6 q.csv >e.csv
	pe-table -n 6 -d 8 | relattn --terms - -W w.csv e.csv >terms.csv
	pe-table -d 8 --add e.csv | relattn -W w.csv --scale 1 --emit logits >score.csv
	awk -F, '{ for (i = 1; i <= NF; i++) s[NR % 6, i] += $i }
		END { for (r = 1; r <= 6; r++) for (i = 1; i <= 6; i++) printf "%.17g%s", s[r % 6, i], i < 6 ? "," : "\n" }' terms.csv >sum.csv
	run -0 pe-cmp --abs 1e-14 score.csv sum.csv
	same_bytes "head -n 6 terms.csv" "relattn -W w.csv --scale 1 --emit logits e.csv"
	noise 8 5 20 >a.csv
	noise 8 5 21 >b.csv
	pe-table -n 6 -d 8 | relattn --terms - --wq a.csv --wk b.csv --scale 2 e.csv >terms.csv
	same_bytes "sed -n 19,24p terms.csv" "pe-table -n 6 -d 8 | relattn --wq a.csv --wk b.csv --scale 2 --emit logits"
	same_bytes "sed -n 7,12p terms.csv" "pe-table -n 6 -d 8 | relattn -Q e.csv -K - --wq a.csv --wk b.csv --scale 2 --emit logits"
}

@test "law: a bias for all heads, and one for each" {
	same_bytes "relattn $QKV -H 2 --bias <(cat bias1.csv bias1.csv)" "relattn $QKV -H 2 --bias bias1.csv" \
		"relattn $QKV -H 2 --bias <(pe-cat -t npy bias1.csv)" "relattn $QKV -H 2 --bias <(pe-cat -t npy bias1.csv bias1.csv)"
	for what in weights logits bias lse; do
		same_bytes "relattn $QKV -H 2 --emit $what --bias <(cat bias1.csv bias1.csv)" "relattn $QKV -H 2 --emit $what --bias bias1.csv" \
			"relattn $QKV -H 2 --emit $what --bias <(pe-cat -t npy bias1.csv bias1.csv)"
	done
	same_bytes "relattn $QKV -H 2 --bias bias.csv --emit logits | head -n 20" \
		"relattn -Q <(cut -d, -f1-4 q.csv) -K <(cut -d, -f1-4 k.csv) --bias <(head -n 20 bias.csv) --emit logits"
	same_bytes "relattn $QKV -H 2 --bias bias.csv --emit logits | tail -n 20" \
		"relattn -Q <(cut -d, -f5-8 q.csv) -K <(cut -d, -f5-8 k.csv) --bias <(tail -n 20 bias.csv) --emit logits"
	awk -F, '{ for (i = 1; i <= NF; i++) printf "%.17g%s", $i / 2, i < NF ? "," : "\n" }' bias.csv >half.csv
	for compute in f32 f64; do
		same_bytes "relattn $QKV -H 2 --compute $compute --bias half.csv" "relattn $QKV -H 2 --compute $compute --bias bias.csv --bias-scale 0.5"
	done
	pe-cat -t f32 bias.csv -o bias.f32
	same_bytes "relattn $QKV -H 2 --bias <(pe-cat -t csv:f64 bias.f32 -d 20)" "relattn $QKV -H 2 --bias bias.f32"
}

# ---- limits ----

@test "limit: a query that no key is left for gives zeros, weights 0, lse -inf" {
	run -0 relattn -c --query-start -1 <(printf '1,2\n3,4\n')
	assert_output "$(printf '0,0\n1,2')"
	run -0 relattn -c --query-start -1 --emit weights <(printf '1,2\n3,4\n')
	assert_output "$(printf '0,0\n1,0')"
	run -0 relattn --window 1 --query-start 5 --emit lse <(printf '1,2\n3,4\n')
	assert_output "$(printf -- '-inf\n-inf')"
	run -0 relattn -Q <(echo 1) -K <(echo 1) -V <(echo nan) --bias <(echo -inf)
	assert_output 0
}

@test "limit: a key at -inf adds nothing, even where its value is nan; +inf gives nan" {
	run -0 relattn -Q <(echo 1) -K <(printf '1\n1\n') -V <(printf '5\nnan\n') --bias <(echo 0,-inf)
	assert_output 5
	run -0 relattn -Q <(echo 1e200) -K <(printf '1e200\n1\n') -V <(printf '5\n6\n')
	assert_output nan
	run -0 relattn -Q <(echo 1e4) -K <(printf '1\n-1\n') -V <(printf '5\n6\n') --scale 1
	assert_output 5
}

@test "limit: a vector of Shaw's values that no key's offset takes adds nothing, even where it is nan or inf" {
	printf '1,0\n0,1\n1,1\n' >x.csv
	near 1e-14 "relattn -c --shaw-v <(printf '1,2\n3,4\nnan,inf\n') x.csv" "relattn -c --shaw-v <(printf '1,2\n3,4\n0,0\n') x.csv"
	run -0 relattn --shaw-v <(printf '1,2\n3,4\nnan,inf\n') x.csv -p 3
	assert_output $'nan,inf\nnan,inf\n2.76,3.76'
}

@test "limit: an npy without rows is queries or keys of no number" {
	printf '\x93NUMPY\1\0\x76\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 8), }" >empty.npy
	run -0 relattn empty.npy
	assert_output ""
	run -0 relattn -Q q.csv -K empty.npy
	assert_line --index 0 "0,0,0,0,0,0,0,0"
	assert_equal "${#lines[@]}" 20
	run -0 relattn -Q empty.npy -K k.csv --emit logits
	assert_output ""
}

@test "limit: positions up to 2^53, and not beyond" {
	run -0 relattn -Q <(echo 1) -K <(printf '0\n0\n') --query-start 9007199254740992 --alibi --max-bias 1e-300 --emit logits
	assert_output "-9007199254740992,-9007199254740991"
	refused 1 "relattn: position 9007199254740993: beyond 2^53, where positions are exact" \
		relattn -Q <(printf '1\n1\n') -K <(echo 1) --query-start 9007199254740992
	refused 1 "relattn: position 9007199254740993: beyond 2^53, where positions are exact" \
		relattn --rope --query-start 9007199254740992 <(printf '1,1\n1,1\n')
	refused 1 "relattn: position 9007199254740993: beyond 2^53, where positions are exact" \
		relattn --emit bias -n 3 --alibi --query-start 9007199254740991
}

# ---- who fills which role ----

@test "law: X and stdin fill what is unnamed" {
	same_bytes "relattn -Q q.csv -K q.csv -V q.csv" "relattn q.csv" "relattn <q.csv" "relattn - <q.csv" "relattn -Q q.csv" "relattn -Q - <q.csv"
	same_bytes "relattn -Q q.csv -K k.csv -V k.csv" "relattn -Q q.csv -K k.csv" "relattn -K k.csv -Q - <q.csv" "relattn -K k.csv <q.csv" "relattn -Q q.csv k.csv"
	same_bytes "relattn -Q q.csv -K k.csv -V q.csv" "relattn -K k.csv q.csv"
	same_bytes "relattn -Q q.csv -K q.csv -V v.csv" "relattn -V v.csv <q.csv"
}

@test "law: what is not needed is not read" {
	same_bytes "relattn -Q q.csv -K k.csv --emit logits" "relattn -Q q.csv -K k.csv -V no-such-file --wv no-such-file --wo no-such-file --shaw-v no-such-file --emit logits"
	run -0 relattn --emit bias -n 1 --alibi -Q no-such-file -K no-such-file
	assert_output 0
	run -0 bash -c 'relattn --emit bias -n 1x2 --alibi --max-bias 1 <&-'
	assert_output "0,-0.5"
}

# ---- formats and arithmetic ----

@test "law: raw widths follow from -d, -H, --kv-heads and --dv" {
	pe-cat -t f64 q.csv -o q.f64
	cut -d, -f1-4 k.csv | pe-cat -t f64 -o k.f64
	cut -d, -f1-3 v.csv | pe-cat -t f64 -o v.f64
	cut -d, -f1-3 v.csv >v3.csv
	cut -d, -f1-4 k.csv >k4.csv
	same_bytes "relattn -Q q.csv -K k4.csv -V v3.csv -H 2 --kv-heads 1" \
		"relattn -d 8 -H 2 --kv-heads 1 --dv 3 -Q q.f64 -K k.f64 -V v.f64" \
		"relattn -f f64 -d 8 -H 2 --kv-heads 1 --dv 3 -Q <(cat q.f64) -K <(cat k.f64) -V - <v.f64"
	pe-cat -t f64 t5.csv -o t5.f64
	same_bytes "relattn $QKV -H 2 --t5 t5.csv" "relattn $QKV -H 2 --t5 t5.f64"
}

@test "law: npy takes the widest of the inputs, and f32 inputs compute in f32" {
	for elem in f16 f32 f64; do
		pe-cat -t "npy:$elem" q.csv -o "q.$elem.npy"
		run -0 bash -c "relattn q.$elem.npy -t npy | head -c 80 | grep -ao \"'<f.'\""
		assert_output "'<f$((${elem#f} / 8))'"
	done
	seq 5 | pe-cat -t i32 -o whole.i32
	run -0 bash -c "relattn -d 1 whole.i32 -t npy | head -c 80 | grep -ao \"'<f.'\""
	assert_output "'<f8'"
	same_bytes "relattn --compute f32 q.f32.npy" "relattn q.f32.npy"
	same_bytes "relattn --compute f32 q.f16.npy" "relattn q.f16.npy"
	same_bytes "relattn --compute f64 -Q q.f32.npy -K k.csv" "relattn -Q q.f32.npy -K k.csv"
	run -0 pe-cmp --abs 1e-6 <(relattn --compute f64 q.f32.npy) <(relattn q.f32.npy)
	run -1 pe-cmp --abs 0 <(relattn --compute f64 q.f32.npy) <(relattn q.f32.npy)
}

@test "law: names of V head the output" {
	(echo a,b,c,d,e,f,g,h; cat v.csv) >named.csv
	run -0 bash -c "relattn --header-in --header-out -Q named.csv | head -n 1"
	assert_output "a,b,c,d,e,f,g,h"
	run -0 bash -c "relattn --header-out $QKV --emit lse | head -n 1"
	assert_output "x0"
}

# ---- streaming: the same bytes however the work is cut ----

# Every scheme at once, 230 queries over 150 keys.
whole_setup() {
	noise 230 8 21 >q.csv
	noise 150 8 22 >k.csv
	noise 150 6 23 >v.csv
	noise 17 3 24 >av.csv
	ALL="-K k.csv -V v.csv -H 2 --t5 t5.csv --alibi --shaw-k shaw.csv --shaw-v av.csv --rope --window 60"
}

raw_setup() {
	for rows in q k v; do
		pe-cat -t f64 "$rows.csv" -o "$rows.f64"
	done
	ALL="-K k.f64 -V v.f64 --dv 6 ${ALL#-K k.csv -V v.csv}"
}

@test "law: the bytes do not depend on threads" {
	whole_setup
	for compute in f64 f32; do
		for emit in output weights lse; do
			same_bytes "relattn -Q q.csv $ALL --compute $compute --emit $emit -j 1" \
				"relattn -Q q.csv $ALL --compute $compute --emit $emit -j 2" \
				"relattn -Q q.csv $ALL --compute $compute --emit $emit -j 5000"
		done
	done
}

@test "law: the bytes do not depend on how the queries are cut into runs" {
	whole_setup
	for compute in f64 f32; do
		same_bytes "relattn -Q q.csv $ALL --compute $compute --query-start -5" \
			"for i in 0 1 99 100 150; do case \$i in 0) n=1;; 1) n=98;; 99) n=1;; 100) n=50;; 150) n=80;; esac
				pe-cat --rows \$i:\$((i + n)) q.csv | relattn -Q - $ALL --compute $compute --query-start \$((i - 5)) || exit; done"
	done
	noise 230 150 25 >b.csv
	same_bytes "relattn -Q q.csv -K k.csv -V v.csv -H 2 --bias b.csv" \
		"relattn -Q <(head -n 77 q.csv) -K k.csv -V v.csv -H 2 --bias <(head -n 77 b.csv)
			relattn -Q <(tail -n +78 q.csv) -K k.csv -V v.csv -H 2 --bias <(tail -n +78 b.csv)"
}

@test "law: GNU parallel cuts a raw stream of queries and puts the rows together again" {
	needs parallel
	whole_setup
	raw_setup
	# runs of 46 rows of 64 bytes
	same_bytes "relattn -d 8 -Q q.f64 $ALL -t f64" \
		"seq 0 46 229 | parallel -k -j 2 'tail -c +\$(({} * 64 + 1)) q.f64 | head -c 2944 | relattn -f f64 -d 8 -Q - $ALL -t f64 --query-start {}'"
}

@test "law: the bytes do not depend on the blocks of a pipe" {
	whole_setup
	raw_setup
	same_bytes "relattn -d 8 -Q q.f64 $ALL" \
		"dd if=q.f64 bs=1 status=none | relattn -f f64 -d 8 -Q - $ALL" \
		"dd if=q.f64 obs=100 status=none | relattn -f f64 -d 8 -Q - -K <(dd if=k.f64 bs=13 status=none) ${ALL#-K k.f64}"
}

# answers_row_by_row OPTIONS: each row of q.csv has its answer before the next one is written.
answers_row_by_row() {
	local answer row
	relattn -Q q.csv "$@" >want.csv
	coproc ATTENTION { relattn "$@" 3>&-; }
	for row in 1 2 3; do
		sed -n "${row}p" q.csv >&"${ATTENTION[1]}"
		read -r -t 10 answer <&"${ATTENTION[0]}"
		assert_equal "$answer" "$(sed -n "${row}p" want.csv)"
	done
	kill "$ATTENTION_PID"
}

@test "law: a row is answered before the next one is written" {
	answers_row_by_row -K k.csv -V v.csv -H 2 --t5 t5.csv
}

@test "law: the rows of a matrix of one head are answered one by one, too" {
	answers_row_by_row -K k.csv --bias bias1.csv --emit logits
}

@test "law: what is answered does not wait for rows of --bias that are to come" {
	local answer zeros
	noise 2000 4 32 >many.csv
	cut -d, -f1-4 q.csv >few.csv
	zeros=$(yes 0 | head -n 2000 | paste -sd,)
	mkfifo rows
	# 256 KiB of logits, 16 queries, share a call
	coproc ATTENTION { relattn -Q few.csv -K many.csv --scale 0 --bias rows --emit logits --max-memory 2M 3>&-; }
	exec 7>rows
	for _ in {1..16}; do echo "$zeros"; done >&7
	read -r -t 10 answer <&"${ATTENTION[0]}"
	assert_equal "$answer" "$zeros"
	kill "$ATTENTION_PID"
	exec 7>&-
}

@test "law: --query-start end aligns the last query with the last key, from a pipe too" {
	head -n 3 q.csv >q3.csv
	same_bytes "relattn -Q q3.csv -K k.csv -V v.csv -H 2 -c --rope --query-start 17" \
		"relattn -Q q3.csv -K k.csv -V v.csv -H 2 -c --rope --query-start end" \
		"relattn -K k.csv -V v.csv -H 2 -c --rope --query-start end <q3.csv" \
		"relattn -K k.csv -V v.csv -H 2 -c --rope --query-start end <(pe-cat -t npy q3.csv)"
	same_bytes "relattn q.csv -c --query-start end" "relattn q.csv -c"
}

# ---- memory ----

@test "limit: --max-memory refuses files before a row is read, pipes as soon as they grow too long" {
	truncate -s 64000000 big.f64
	refused 1 "relattn: --max-memory: big.f64 needs 64000064 bytes, $((10485760 - 131072)) of 10485760 are left" \
		relattn -d 8 --max-memory 10M big.f64
	run -1 --separate-stderr bash -c 'cat /dev/zero | relattn -f f64 -d 8 --max-memory 3M -'
	assert_equal "$output" ""
	[[ $stderr == "relattn: --max-memory: <stdin> needs "*" bytes, "*" of 3145728 are left" ]]
	run -0 relattn --max-memory 100M q.csv
	run -0 relattn --max-memory 1G q.csv
}

@test "limit: a bias that all heads share is read again, not held, unless it comes from a pipe" {
	noise 400 400 31 | tee wide.csv | cut -d, -f1-4 >x.csv
	run -0 bash -c "relattn -H 2 --emit weights --bias wide.csv --max-memory 1400K x.csv | md5sum"
	assert_output "$(relattn -H 2 --emit weights --bias <(cat wide.csv) x.csv | md5sum)"
	run -1 --separate-stderr relattn -H 2 --emit weights --bias <(cat wide.csv) --max-memory 1400K x.csv
	[[ $stderr == "relattn: --max-memory: /dev/fd/"*" needs 1283200 bytes, "*" of 1433600 are left" ]]
}

@test "limit: no T x T matrix: 20000 rows of attention in 40 MB" {
	under_sanitizer && skip "a sanitizer takes more"
	truncate -s 640000 zeros.f64 # 20000 x 4
	run -0 bash -c "ulimit -v 150000; relattn -j 1 -d 4 --shaw-k <(seq 9 | sed 's/\$/,0,0,0/') -t f64 zeros.f64 | wc -c"
	assert_output 640000
}
