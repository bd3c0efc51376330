#!/usr/bin/env bash
# The score of words with positions added falls into content-content, content-position, position-content and
# position-position (Dai et al. 2019, section 3.3; Ke et al. 2021 untie the last from the first).
# shellcheck disable=SC2016  # programs of awk
source "$(dirname "$0")/experiment.bash"

random 6 8 1 >e.csv
random 8 8 2 >w.csv
pe-table -n 6 -d 8 | relattn --terms - -W w.csv e.csv >terms.csv
pe-table --add e.csv | relattn -W w.csv --scale 1 --emit logits >score.csv
awk -F, '{ for (i = 1; i <= NF; i++) s[(NR - 1) % 6, i] += $i }
	END { for (r = 0; r < 6; r++) for (i = 1; i <= 6; i++) printf "%.17g%s", s[r, i], i < 6 ? "," : "\n" }' terms.csv >sum.csv
claim "the four terms add up to the score" same sum.csv score.csv
claim "the first is the score of the words alone" same <(head -n 6 terms.csv) <(relattn -W w.csv --scale 1 --emit logits e.csv)
claim "the last is that of the positions alone" same <(tail -n 6 terms.csv) <(pe-table -n 6 -d 8 | relattn -W w.csv --scale 1 --emit logits)
claim "without W the position term knows the offset only" awk -F, '
	{ for (n = 1; n <= 6; n++) { k = n - NR; if (k in seen && (seen[k] - $n) ^ 2 > 1e-28) exit 1; seen[k] = $n } }' \
	<(pe-table -n 6 -d 8 | relattn --terms - e.csv | tail -n 6)
