#!/usr/bin/env bash
# A head that looks k tokens back: the bilinear form 8 M_k between position vectors, M_k the shift by k. The score of
# query m and key n is 8 times the similarity of m and n + k: its peak, 8 d/2 = 32 for d = 8, is at n = m - k.
# shellcheck disable=SC2016  # programs of awk
source "$(dirname "$0")/experiment.bash"

pe-table -n 20 -d 8 >p.csv

# peaks K: each query, the key that it weighs most, and that score
peaks() {
	relattn -W <(pe-shift -k "$1" -d 8 -g 8) --scale 1 --emit logits p.csv |
		awk -F, '{ top = 1; for (i = 2; i <= NF; i++) if ($i > $top) top = i; printf "%d %d %.9f\n", NR - 1, top - 1, $top }'
}
for k in 1 2 5; do
	claim "8 M_$k: every query from $k on looks $k back, with a score of 32" \
		awk -v k="$k" '$1 >= k && ($2 != $1 - k || $3 != 32) { bad = 1 } END { exit bad }' <(peaks "$k")
done
claim "8 M_0: every query looks at itself" awk '$2 != $1 { bad = 1 } END { exit bad }' <(peaks 0)
