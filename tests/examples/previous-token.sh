#!/usr/bin/env bash
# A head that looks one token back, made from the shift matrix alone: W = 8 M_1 between query and key.
source "$(dirname "$0")/plot.bash"

pe-table -n 20 -d 8 | relattn -W <(pe-shift -k 1 -d 8 -g 8) --scale 1 --emit weights -t txt -o weights.txt
plot 820,700 <<'END'
eval weight
set title "Previous-token head: softmax of q · 8M_1 · k"
set xlabel "key position n"
set ylabel "query position m"
set cblabel "weight"
set cbrange [0:1]
set xrange [-0.5:19.5]
set yrange [19.5:-0.5]
set xtics 0,2
set ytics 0,2
plot "weights.txt" matrix with image notitle
END
