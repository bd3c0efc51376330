# bench.gp - the ratios of bench.tsv as bars; `data` and `out` are given by the caller.
set datafile separator "\t"
stats data using 5 every ::1 nooutput
rows = STATS_records
set terminal pngcairo noenhanced size 1200, 120 + 34 * rows font "sans,12"
set output out
set title "Time of posenc as a share of the other side's"
set logscale x
set xrange [0.001:10]
set yrange [rows:-1]
set xlabel "ratio of whole-process seconds, medians"
set grid x
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 2
set lmargin 66
unset key
set style fill solid 0.7
set ytics scale 0
plot data every ::1 using (0.001):($0):(0.001):5:($0 - 0.35):($0 + 0.35):ytic(sprintf("%s / %s", strcol(1), strcol(2))) with boxxyerror lc rgb "#3366aa", \
     data every ::1 using 5:($0):(sprintf("  %.3g", $5)) with labels left font "sans,11"
