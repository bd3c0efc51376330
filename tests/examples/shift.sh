#!/usr/bin/env bash
# The shift matrix M_k for two shifts: a rotation in each pair; slow clocks hardly turn.
source "$(dirname "$0")/plot.bash"

for k in 1 16; do
	pe-shift -k "$k" -d 32 -t txt -o "$k.txt"
done
plot 1200,620 <<'END'
eval signed
set multiplot layout 1,2
set xlabel "column"
set ylabel "row"
set cbrange [-1:1]
set size ratio 1
set xrange [-0.5:31.5]
set yrange [31.5:-0.5]
set xtics 0,8
set ytics 0,8
set title "M_{1}, d = 32"
plot "1.txt" matrix with image notitle
set title "M_{16}, d = 32"
plot "16.txt" matrix with image notitle
END
