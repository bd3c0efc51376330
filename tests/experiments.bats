#!/usr/bin/env bats
# The experiments of the source papers: each script of tests/examples/experiments makes its claims come true.
load helper


experiment() {
	run -0 "$ROOT/tests/examples/experiments/$1.sh"
	assert_line --regexp '^yes: '
	refute_line --regexp '^NO: '
}

@test "law: without positions and mask, shuffled words get the same, shuffled" { experiment order-is-invisible; }
@test "golden: the toy head, with and without position vectors" { experiment toy-head; }
@test "golden: a gain times a shift matrix looks that many tokens back" { experiment previous-token; }
@test "golden: an even causal head carries 1/(t+1)" { experiment nope-counts; }
@test "law: four terms add up to the score" { experiment four-terms; }
@test "law: clipping at two blurs what is farther, and nothing else" { experiment shaw-clipping; }
@test "limit: a learned table ends, the biases of T5 and ALiBi go on" { experiment longer-than-trained; }
@test "law: scores of rotated rows depend on the offset only" { experiment rope-knows-the-offset; }
@test "golden: ALiBi's slopes, and its recency" { experiment alibi-recency; }

@test "law: every experiment is run here" {
	local script
	for script in "$ROOT"/tests/examples/experiments/*.sh; do
		grep -q "experiment $(basename "$script" .sh);" "$BATS_TEST_FILENAME" || fail "$script"
	done
}

@test "error: an experiment whose claim does not hold fails" {
	cp "$ROOT/tests/examples/experiments/experiment.bash" "$BATS_TEST_TMPDIR"
	printf 'source "$(dirname "$0")/experiment.bash"\nclaim "one is two" [ 1 -eq 2 ]\n' >"$BATS_TEST_TMPDIR/wrong.sh"
	POSENC_BIN=$BIN run -1 bash "$BATS_TEST_TMPDIR/wrong.sh"
	assert_output "NO:  one is two"
}
