#!/usr/bin/env bash
# The d/2 clocks of a table by their wavelengths: a geometric row from 2 pi up to nearly 2 pi times the base.
source "$(dirname "$0")/plot.bash"

for base in 100 10000 500000; do
	pe-table --freqs -d 128 -b "$base" -t txt -o "$base.txt"
done
plot 1000,700 <<'END'
set title "Wavelengths of the 64 clocks, d = 128"
set xlabel "pair i"
set ylabel "wavelength in positions"
set logscale y
set format y "10^{%T}"
set yrange [5:5e6]
set xrange [-1:64]
set key top left
plot "500000.txt" using 1:3 with points pt 7 ps 0.9 lc rgb red   title "base 500000", \
     "10000.txt"  using 1:3 with points pt 7 ps 0.9 lc rgb blue  title "base 10000", \
     "100.txt"    using 1:3 with points pt 7 ps 0.9 lc rgb amber title "base 100"
END
