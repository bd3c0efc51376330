#!/usr/bin/env bash
# The score of a rotated query and key against their offset: it knows nothing else, and fades (Su et al. 2021).
source "$(dirname "$0")/plot.bash"

row=$(seq 128 | sed 's/.*/1/' | paste -s -d , -)
for base in 10000 500000; do
	seq 513 | sed "s/.*/$row/" | pe-rope -b "$base" | pe-sim --by-offset --metric dot -t txt -o "$base.txt"
done
plot 1000,700 <<'END'
set title "Rotary score of equal query and key, d = 128"
set xlabel "offset between query and key"
set ylabel "q·k / 128"
set xrange [0:512]
set yrange [0:1]
set xtics 64
plot "500000.txt" using 1:($2/128) with lines lw 2 lc rgb red  title "base 500000", \
     "10000.txt"  using 1:($2/128) with lines lw 2 lc rgb blue title "base 10000"
END
