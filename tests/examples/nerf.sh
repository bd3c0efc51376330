#!/usr/bin/env bash
# NeRF's bands: each octave twice as fast as the one before (Mildenhall et al. 2020).
source "$(dirname "$0")/plot.bash"

seq -1 0.004 1 | pe-fourier --nerf 6 --pi -t txt -o bands.txt
plot 1000,700 <<'END'
set title "NeRF features of one coordinate: sin 2^k π x"
set xlabel "x"
set ylabel "band k"
set xrange [-1:1]
set yrange [-0.6:5.6]
set ytics 0,1
set xtics 0.5
unset key
plot for [k=0:5] "bands.txt" using 1:(column(2+2*k)*0.42+k) with lines lw 1.8 lc rgb (k % 2 ? red : blue) notitle
END
