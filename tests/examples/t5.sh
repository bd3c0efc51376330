#!/usr/bin/env bash
# T5's buckets against the offset, and a bias drawn through them: exact near by, coarser and coarser far off.
source "$(dirname "$0")/plot.bash"

t5-bucket --range -150:150 -t txt -o buckets.txt
# a made-up table of 32 buckets and two heads: one likes neighbours, one the words before
awk 'BEGIN { for (b = 0; b < 32; b++) { n = b % 16; print 2 - 0.3 * n "," (b < 16 ? 0.12 * n : -1.2 - 0.05 * n) } }' >table.csv
t5-bucket --range -150:150 --bias table.csv -t txt -o bias.txt
plot 1000,900 <<'END'
set multiplot layout 2,1
set xrange [-150:150]
set xtics 50
set xlabel "offset: key − query"
set ylabel "bucket"
unset key
set yrange [0:32]
set ytics 8
set title "T5 relative buckets: 32, both directions, distances up to 128"
plot "buckets.txt" using 1:2 with steps lw 2 lc rgb blue notitle
set ylabel "bias"
set key
set yrange [-3:2.5]
set ytics 1
set title "Bias of two heads through these buckets"
plot "bias.txt" using 1:2 with steps lw 2 lc rgb red title "head 0", \
     "bias.txt" using 1:3 with steps lw 2 lc rgb green title "head 1"
END
