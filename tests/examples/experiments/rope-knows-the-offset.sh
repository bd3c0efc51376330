#!/usr/bin/env bash
# Rotated queries and keys: equal words score by their offset alone (Su et al. 2021, section 3.2.2), wherever they stand.
source "$(dirname "$0")/experiment.bash"

random 1 16 1 >q.csv
random 1 16 2 >k.csv
repeat "$(cat q.csv)" 64 >queries.csv
repeat "$(cat k.csv)" 64 >keys.csv
spread() { # the widest range of scores on a diagonal
	awk -F, '{ for (n = 1; n <= NF; n++) { k = n - NR
		if (!(k in low) || $n < low[k]) low[k] = $n
		if (!(k in high) || $n > high[k]) high[k] = $n } }
		END { for (k in low) if (high[k] - low[k] > most) most = high[k] - low[k]; printf "%.3g\n", most }'
}
for pairs in interleaved halves; do
	wide=$(relattn -Q queries.csv -K keys.csv --rope --rope-pairs $pairs --emit logits | spread)
	echo "   $pairs: scores of one offset differ by at most $wide"
	claim "$pairs: they are the same within rounding" awk -v x="$wide" 'BEGIN { exit !(x < 1e-14) }'
done
relattn -Q queries.csv -K keys.csv --rope --emit logits >scores.csv
claim "a million positions later, too" same \
	<(pe-rope -s 1000000 queries.csv | relattn -Q - -K <(pe-rope -s 1000000 keys.csv) --emit logits) scores.csv
claim "added positions give no such scores" differ \
	<(pe-table --add queries.csv | relattn -Q - -K <(pe-table --add keys.csv) --emit logits | head -n 63 | cut -d, -f1-63) \
	<(pe-table --add queries.csv | relattn -Q - -K <(pe-table --add keys.csv) --emit logits | tail -n 63 | cut -d, -f2-64)
