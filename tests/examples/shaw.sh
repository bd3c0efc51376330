#!/usr/bin/env bash
# Shaw's clipping: with K = 2 every key farther than two away shares a vector with the second (Shaw et al. 2018).
source "$(dirname "$0")/plot.bash"

# relative vectors for offsets -8..8: the sinusoidal rows; K = 2 is their middle
pe-table -s -8 -n 17 -d 16 -o k8.csv
pe-cat --rows 6:11 k8.csv -o k2.csv
pe-table -n 1 -d 16 -o query.csv
pe-table -n 33 -d 16 -g 0 -o keys.csv
for k in 8 2; do
	relattn -Q query.csv -K keys.csv --shaw-k "k$k.csv" --query-start 16 --scale 1 --emit logits -t txt |
		tr ' ' '\n' >"$k.txt"
done
plot 1000,700 <<'END'
set title "Shaw's relative term q·a, query at position 16"
set xlabel "offset: key − query"
set ylabel "q·a"
set xrange [-16:16]
set xtics 4
set arrow from -2,graph 0 to -2,graph 1 nohead dt 2 lc rgb "#888888"
set arrow from 2,graph 0 to 2,graph 1 nohead dt 2 lc rgb "#888888"
plot "8.txt" using ($0-16):1 with linespoints pt 7 ps 0.8 lw 2 lc rgb blue title "K = 8", \
     "2.txt" using ($0-16):1 with linespoints pt 7 ps 0.8 lw 2 lc rgb red  title "K = 2"
END
