#!/usr/bin/env bash
# A decoder without any position vector can still count: a causal head of even weights gives token t, from 0, the
# mean of t + 1 values; if the first token's value is 1 and all others' 0 that is 1/(t+1) (Kazemnejad et al. 2023, theorem 1).
# shellcheck disable=SC2016  # programs of awk
source "$(dirname "$0")/experiment.bash"

printf '1\n0\n0\n0\n0\n0\n0\n0\n' >first.csv
relattn -c --scale 0 first.csv >carried.csv
echo "   1/(t+1): $(paste -sd' ' carried.csv)"
claim "token t carries 1/(t+1)" awk '{ x = $1 * NR - 1; if (x * x > 1e-30) exit 1 }' carried.csv
claim "each of t + 1 tokens weighs 1/(t+1), later ones 0" awk -F, '{
	for (n = 1; n <= NF; n++) { x = $n - (n <= NR ? 1 / NR : 0); if (x * x > 1e-30) exit 1 } }' <(relattn -c --scale 0 --emit weights first.csv)
claim "without the mask nothing is counted" [ "$(relattn --scale 0 first.csv | sort -u | wc -l)" -eq 1 ]
