#!/usr/bin/env bash
# The sinusoidal table as a heat map: each pair of columns is a clock, fast ones left (Vaswani et al. 2017).
source "$(dirname "$0")/plot.bash"

pe-table -n 128 -d 128 -t txt -o table.txt
plot 1000,700 <<'END'
eval signed
set title "Sinusoidal position table, d = 128, base 10000"
set xlabel "column: sine, cosine of pair 0, of pair 1, …"
set ylabel "position t"
set cblabel "value"
set cbrange [-1:1]
set xrange [-0.5:127.5]
set yrange [127.5:-0.5]
set xtics 0,16
set ytics 0,16
plot "table.txt" matrix with image notitle
END
