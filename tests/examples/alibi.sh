#!/usr/bin/env bash
# ALiBi: a straight line down from the query, a slope per head (Press et al. 2022).
source "$(dirname "$0")/plot.bash"

alibi -H 8 -n 1x65 --query-start 64 --form causal | pe-cat --transpose -t txt -o bias.txt
plot 1000,700 <<'END'
set title "ALiBi bias of 8 heads, query at position 64"
set xlabel "key position n"
set ylabel "bias"
set xrange [0:64]
set yrange [-32:1]
set xtics 0,8
set key bottom right title "slope"
set palette defined (0 "#a50026", 0.5 "#fdae61", 1 "#2166ac")
unset colorbox
plot for [h=1:8] "bias.txt" using 0:h with lines lw 2.5 lc palette frac (h-1)/7.0 title sprintf("1/%d", 2**h)
END
