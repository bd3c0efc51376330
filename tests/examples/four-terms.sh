#!/usr/bin/env bash
# The score of two tokens falls into four terms: what they are and where they stand, in each pairing.
source "$(dirname "$0")/plot.bash"

# embeddings from a small linear congruential generator, so that the picture is the same everywhere
awk 'BEGIN { s = 7; for (r = 0; r < 24; r++) for (c = 0; c < 16; c++) { s = (s * 16807) % 2147483647
	printf "%.6f%s", s / 1073741823.5 - 1, c < 15 ? "," : "\n" } }' >e.csv
pe-shift -k 1 -d 16 -o w.csv
pe-table -n 24 -d 16 | relattn --terms - -W w.csv e.csv -o terms.csv
for term in 0 1 2 3; do
	pe-cat --rows $((24 * term)):$((24 * term + 24)) terms.csv -t txt -o "$term.txt"
done
plot 1000,950 <<'END'
eval signed
set multiplot layout 2,2 title "Four terms of a score, query m by key n; W = M_1"
set size ratio 1
set cbrange [-8:8]
set xrange [-0.5:23.5]
set yrange [23.5:-0.5]
set xtics 0,6
set ytics 0,6
set xlabel "key position n"
set ylabel "query position m"
set title "content · content"
plot "0.txt" matrix with image notitle
set title "content · position"
plot "1.txt" matrix with image notitle
set title "position · content"
plot "2.txt" matrix with image notitle
set title "position · position"
plot "3.txt" matrix with image notitle
END
