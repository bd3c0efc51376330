#!/usr/bin/env bash
# Similarity of two positions by their offset: which distances a base can tell apart.
source "$(dirname "$0")/plot.bash"

for base in 100 10000 500000; do
	pe-sim -d 64 -b "$base" --offsets 0:1000 -t txt -o "$base.txt"
done
plot 1000,700 <<'END'
set title "Similarity of two positions, d = 64"
set xlabel "offset between them"
set ylabel "dot product / 32"
set xrange [0:1000]
set yrange [-0.4:1.05]
set xtics 0,200
plot 0 lc rgb "#888888" notitle, \
     "500000.txt" using 1:3 with lines lw 2.5 lc rgb red   title "base 500000", \
     "10000.txt"  using 1:3 with lines lw 2.5 lc rgb blue  title "base 10000", \
     "100.txt"    using 1:3 with lines lw 1.2 lc rgb amber title "base 100"
END
