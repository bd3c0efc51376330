#!/usr/bin/env bats
# relattn: what it refuses, in which words.
# shellcheck disable=SC2086  # options are meant to split into words
load helper

# zeros ROWS COLS
zeros() {
	yes "$(yes 0 | head -n "$2" | paste -sd,)" | head -n "$1"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	zeros 5 8 >q.csv
	zeros 6 8 >k.csv
	zeros 6 6 >narrow.csv
	zeros 4 3 >t.csv
}

# ---- the command line ----

@test "usage: an option that another one makes idle, or that lacks the one it belongs to" {
	while IFS='|' read -r message options; do
		refused 2 "relattn: $message" relattn q.csv $options
	done <<-'END'
		--max-distance: has no effect without --t5|--max-distance 9
		--t5-direction: has no effect without --t5|--t5-direction both
		--alibi-slopes: has no effect without --alibi|--alibi-slopes t.csv
		--max-bias: has no effect without --alibi|--max-bias 4
		--max-bias: has no effect beside --alibi-slopes|--alibi --max-bias 4 --alibi-slopes t.csv
		--rope-base: has no effect without --rope|--rope-base 4
		--rope-pairs: has no effect without --rope|--rope-pairs halves
		--rotary-dim: has no effect without --rope|--rotary-dim 2
		--rope-freq-dim: has no effect without --rope|--rope-freq-dim 2
		--rope-scaling: has no effect without --rope|--rope-scaling linear:factor=2
		--config: has no effect without --rope|--config c.json
		--layer-kind: has no effect without --config|--rope --layer-kind x
		--xpos: has no effect without --rope|--xpos
		--xpos-base: has no effect without --xpos|--rope --xpos-base 9
		--xpos-base: must be at least 1: '0.5'|--rope --xpos --xpos-base 0.5
		--xpos: has no effect without --rope|--xpos --xpos-base 9
		--xpos: does not go with --shaw-k, whose vectors meet the query alone|--rope --xpos --shaw-k t.csv
		--xpos: does not go with --huang, whose vectors meet the query alone|--rope --xpos --huang t.csv
		--pos-wq: has no effect without --pos|--pos-wq t.csv
		--pos-wk: has no effect without --pos|--pos-wk t.csv
		--pos-wq: must be given (see --help)|--pos t.csv --pos-wk t.csv
		--pos-wk: must be given (see --help)|--pos t.csv --pos-wq t.csv
		--cls: has no effect without --t5 or --pos|--cls
		--bias-scale: has no effect without --t5, --alibi, --rel-bias or --bias|--bias-scale 2 --rope
		-n: has no effect without --emit bias|-n 4
		-n: has no effect without --emit bias|-n 4 --emit logits
		-W: takes one head: '-H 2'|-W t.csv -H 2
		--kv-heads: must be at most the 2 heads of -H: '3'|-H 2 --kv-heads 3
	END
}

@test "usage: --terms is no attention" {
	for options in "-K k.csv" "-V k.csv" "--dv 8" "-H 1" "--kv-heads 1" "--wv t.csv" "--wo t.csv" -c "--window 2" "--query-start 1" "--t5 t.csv" \
		"--rel-bias t.csv" --alibi "--shaw-k t.csv" "--shaw-v t.csv" "--huang t.csv" --rope "--pos t.csv --pos-wq t.csv --pos-wk t.csv" \
		"--bias t.csv" "--emit logits" "-n 4 --emit bias"; do
		run -2 --separate-stderr relattn --terms q.csv q.csv $options
		assert_equal "$output" ""
		[[ $stderr == "relattn: "*": has no effect beside --terms" ]] || fail "$options: $stderr"
	done
	refused 2 "relattn: extra operand, -Q is named: 'k.csv'" relattn --terms q.csv -Q q.csv k.csv
}

@test "usage: values that cannot be" {
	while IFS='|' read -r message options; do
		refused 2 "relattn: $message" relattn q.csv $options
	done <<-'END'
		-H: must be positive: '0'|-H 0
		--kv-heads: must be positive: '0'|--kv-heads 0
		--window: must be positive: '0'|--window 0
		--scale: must be finite: 'nan'|--scale nan
		--scale: must be finite: 'inf'|--scale inf
		--emit: must be one of output, weights, logits, bias, lse: 'out'|--emit out
		--compute: must be one of f64, f32: 'f16'|--compute f16
		--t5-direction: must be one of both, past: 'left'|--t5-direction left
		-j: must be positive: '0'|-j 0
		-n: must be a count or ROWSxCOLS, both positive: '3x'|-n 3x
		--max-memory: must be positive BYTES, or BYTES with K, M or G: '0'|--max-memory 0
		--max-memory: must be positive BYTES, or BYTES with K, M or G: '1T'|--max-memory 1T
		--max-memory: must be positive BYTES, or BYTES with K, M or G: '1MB'|--max-memory 1MB
		--max-memory: must be positive BYTES, or BYTES with K, M or G: '-1'|--max-memory -1
		--max-memory: must be positive BYTES, or BYTES with K, M or G: 'M'|--max-memory M
		--max-memory: must be positive BYTES, or BYTES with K, M or G: '9999999999999999999G'|--max-memory 9999999999999999999G
		--rotary-dim: must be even: '3'|--rope --rotary-dim 3
	END
	refused 2 "relattn: max-distance: must be at least 2 with 4 bidirectional buckets: '1'" relattn q.csv --t5 <(zeros 4 1) --max-distance 1
	refused 2 "relattn: num-buckets: must be at least 4 when bidirectional: '3'" relattn q.csv --t5 <(zeros 3 1)
	refused 2 "relattn: num-buckets: must be at least 4 when bidirectional: '3'" relattn q.csv --cls --t5 <(zeros 4 1)
}

@test "usage: operands and standard input" {
	refused 2 "relattn: extra operand: 'k.csv'" relattn q.csv k.csv
	refused 2 "relattn: extra operand, -Q, -K and -V are all named: 'x.csv'" relattn -Q q.csv -K k.csv -V k.csv x.csv
	refused 2 "relattn: standard input is named twice: '-'" relattn -Q - -K -
	refused 2 "relattn: standard input is named twice: '-'" relattn -t csv --t5 -
	refused 2 "relattn: standard input is named twice: '-'" relattn --bias - -K k.csv
	refused 2 "relattn: standard input is named twice: '-'" relattn -V - --emit logits -
}

# ---- shapes ----

@test "error: widths and heads of Q, K and V" {
	refused 1 "relattn: narrow.csv: has 6 columns, q.csv has 8" relattn -Q q.csv -K narrow.csv
	refused 1 "relattn: narrow.csv: has 6 columns, q.csv has 8 (is it --kv-heads 3?)" relattn -Q q.csv -K narrow.csv -H 4
	refused 1 "relattn: narrow.csv: has 6 columns, 4 are due (--kv-heads 1, 4 columns a head in q.csv)" relattn -Q q.csv -K narrow.csv -H 2 --kv-heads 1
	refused 1 "relattn: q.csv: has 8 columns, which 3 heads do not divide" relattn -H 3 q.csv
	refused 1 "relattn: t.csv: has 3 columns, which 2 heads do not divide" relattn -H 2 -Q q.csv -K k.csv -V t.csv
	refused 1 "relattn: t.csv: has 4 rows, k.csv has 6" relattn -Q q.csv -K k.csv -V t.csv
	refused 1 "relattn: narrow.csv: has 6 columns, --dv says 7" relattn -Q q.csv -K k.csv -V narrow.csv --dv 7
	refused 1 "relattn: q.csv: line 1, column 5: row has 8 columns, 4 are due" relattn -d 4 q.csv
}

@test "error: shapes of projections" {
	refused 1 "relattn: t.csv: has 4 rows, rows of q.csv have 8 columns" relattn --wq t.csv q.csv
	refused 1 "relattn: t.csv: has 4 rows, rows of k.csv have 8 columns" relattn --wk t.csv -Q q.csv -K k.csv
	zeros 8 3 >down.csv
	refused 1 "relattn: k.csv: has 8 columns, down.csv has 3" relattn --wq down.csv -Q q.csv -K k.csv
	refused 1 "relattn: down.csv: has 3 columns, which 2 heads do not divide" relattn --wq down.csv -Q q.csv -H 2
	refused 1 "relattn: t.csv: has 4 rows, rows of down.csv have 3 columns" relattn --wq down.csv --wk down.csv -W t.csv q.csv
	refused 1 "relattn: t.csv: has 4 rows, rows of the output have 8 columns" relattn --wo t.csv q.csv
}

@test "error: shapes of position tables" {
	refused 1 "relattn: t.csv: has 3 columns, heads are 1" relattn --t5 t.csv q.csv
	refused 1 "relattn: t.csv: has 3 columns, heads are 2" relattn -H 2 --rel-bias t.csv q.csv
	refused 1 "relattn: t.csv: has 12 slopes, heads are 2" relattn -H 2 --alibi --alibi-slopes t.csv q.csv
	zeros 4 8 >even.csv
	zeros 4 1 >column.csv
	refused 1 "relattn: even.csv: has 4 rows, an odd count is due (2K+1: offsets -K to K)" relattn --shaw-k even.csv q.csv
	refused 1 "relattn: even.csv: has 4 rows, an odd count is due (2K+1: offsets -K to K)" relattn --shaw-v even.csv q.csv
	refused 1 "relattn: even.csv: has 4 rows, an odd count is due (2L-1: offsets 1-L to L-1)" relattn --huang even.csv q.csv
	refused 1 "relattn: column.csv: has 4 rows, an odd count is due (2K+1: offsets -K to K)" relattn --rel-bias column.csv q.csv
	run -0 relattn -c --huang even.csv q.csv
	refused 1 "relattn: t.csv: has 3 columns, a head has 8" relattn --shaw-k t.csv q.csv
	refused 1 "relattn: t.csv: has 3 columns, 4 (shared by heads) or 8 (2 heads) are due" relattn -H 2 --huang t.csv q.csv
	refused 1 "relattn: t.csv: has 3 columns, 4 (shared by heads) or 8 (2 heads) are due" relattn -H 2 --shaw-v t.csv q.csv
}

@test "error: untied positions end where their table does" {
	zeros 5 4 >p.csv
	zeros 4 6 >u.csv
	zeros 3 6 >short.csv
	zeros 4 5 >five.csv
	refused 1 "relattn: position 5: p.csv has rows 0..4" relattn -Q q.csv -K k.csv --pos p.csv --pos-wq u.csv --pos-wk u.csv
	refused 1 "relattn: position 5: p.csv has rows 0..4" relattn q.csv --pos p.csv --pos-wq u.csv --pos-wk u.csv --query-start 1
	refused 1 "relattn: position -1: p.csv has rows 0..4" relattn q.csv --pos p.csv --pos-wq u.csv --pos-wk u.csv --query-start -1
	refused 1 "relattn: position 4: p.csv has positions 0..3" relattn q.csv --pos p.csv --pos-wq u.csv --pos-wk u.csv --cls
	refused 1 "relattn: short.csv: has 3 rows, rows of p.csv have 4 columns" relattn q.csv --pos p.csv --pos-wq u.csv --pos-wk short.csv
	refused 1 "relattn: five.csv: has 5 columns, u.csv has 6" relattn q.csv --pos p.csv --pos-wq u.csv --pos-wk five.csv
	refused 1 "relattn: five.csv: has 5 columns, which 2 heads do not divide" relattn -H 2 q.csv --pos p.csv --pos-wq five.csv --pos-wk five.csv
	refused 1 "relattn: row.csv: has 1 row, with --cls row t + 1 is position t" relattn q.csv --pos "$(zeros 1 4 >row.csv; echo row.csv)" --pos-wq u.csv --pos-wk u.csv --cls
}

@test "error: an odd head does not turn" {
	refused 1 "relattn: t.csv: a head's columns: must be even: '3'" relattn --rope t.csv
}

@test "error: rows of --bias, and of --terms, are counted" {
	zeros 4 6 >four.csv
	zeros 11 6 >eleven.csv
	refused 1 "relattn: t.csv: has 3 columns, keys are 6" relattn -Q q.csv -K k.csv --bias t.csv
	refused 1 "relattn: four.csv: has 4 rows, queries are 5" relattn -Q <(pe-cat -t npy q.csv) -K k.csv --bias four.csv
	refused 1 "relattn: four.csv: has 4 rows, queries are 5" relattn -H 2 -Q q.csv -K k.csv --bias four.csv
	refused 1 "relattn: eleven.csv: has more than 10 rows, queries are 5" relattn -H 2 -Q q.csv -K k.csv --bias eleven.csv
	run -1 --separate-stderr relattn -Q q.csv -K k.csv --bias eleven.csv
	assert_equal "$stderr" "relattn: eleven.csv: has more than 5 rows, queries are 5"
	pe-cat -t npy four.csv -o four.npy
	refused 1 "relattn: four.npy: has 4 rows, queries are 5" relattn -H 2 -Q q.csv -K k.csv --bias four.npy
	refused 1 "relattn: k.csv: has 6 rows, q.csv has 5" relattn --terms k.csv q.csv
	refused 1 "relattn: t.csv: has 3 columns, q.csv has 8" relattn --terms t.csv q.csv
	refused 1 "relattn: q.csv: has 5 rows, -n says 6" relattn --emit bias -n 6 --shaw-k <(zeros 3 8) -Q q.csv
	refused 1 "relattn: q.csv: has 5 rows, -n says 6" relattn -H 2 --emit bias -n 6 --shaw-k <(zeros 3 8) -Q q.csv
	refused 1 "relattn: q.csv: has more than 4 rows, -n says 4" relattn -H 2 --emit bias -n 4 --shaw-k <(zeros 3 8) -Q q.csv
	run -1 --separate-stderr relattn --emit bias -n 4 --shaw-k <(zeros 3 8) -Q q.csv
	assert_equal "$stderr" "relattn: q.csv: has more than 4 rows, -n says 4"
}

@test "error: empty inputs" {
	: >empty.csv
	printf '\x93NUMPY\1\0\x76\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 8), }" >empty.npy
	refused 1 "relattn: empty.csv: empty input (was it also the output?)" relattn empty.csv
	refused 1 "relattn: empty.npy: has no rows" relattn --wq empty.npy q.csv
	refused 1 "relattn: empty.npy: has no rows, so the matrix has no columns" relattn -Q q.csv -K empty.npy --emit weights
}

@test "error: a value beyond f32 is a data fault where the arithmetic is f32" {
	printf '1,2\n3,1e300\n' >big.csv
	refused 1 "relattn: big.csv: row 1, column 1: overflows f32: '1e+300'" relattn --compute f32 big.csv
	run -0 relattn --compute f32 <(printf '1,nan\n3,inf\n')
}

@test "error: what is wrong in a file is said with its place" {
	printf '0,0,0,0,0,0,0,0\n0,x,0,0,0,0,0,0\n' >bad.csv
	zeros 8 8 >k8.csv
	for option in "-Q bad.csv -K k.csv" "-Q q.csv -K bad.csv" "q.csv --t5 bad.csv" "-Q q.csv -K k8.csv --bias bad.csv" "q.csv --shaw-k bad.csv"; do
		run -1 --separate-stderr relattn $option
		[[ $stderr == "relattn: bad.csv: line 2, column 2: not a number"*"'x'" ]] || fail "$option: $stderr"
	done
}

@test "error: a full disk and a closed output are status 1" {
	[ -c /dev/full ] || skip "no full device"
	for emit in output weights logits bias lse; do
		run -1 --separate-stderr bash -c "relattn --emit $emit q.csv >/dev/full"
		assert_equal "$stderr" "relattn: <stdout>: No space left on device"
		run -1 bash -c "relattn --emit $emit q.csv >&-"
	done
	run -1 bash -c "relattn --terms q.csv q.csv >/dev/full"
}

@test "error: a failure leaves the old file of -o alone" {
	echo old >out.csv
	run -1 relattn -Q q.csv -K k.csv --bias "$(zeros 3 6 >three.csv; echo three.csv)" -o out.csv
	assert_equal "$(cat out.csv)" old
	relattn -Q q.csv -K k.csv -o out.csv
	run -0 cmp out.csv <(relattn -Q q.csv -K k.csv)
}
