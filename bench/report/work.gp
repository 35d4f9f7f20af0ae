# work.gp - error against time, all families, three problems, forward and gradient; data and image are set by demo.py
set terminal pngcairo size 1100,1350 enhanced font "sans,12"
set output image
set logscale xy
set format xy "10^{%L}"
set grid linecolor rgb "#dddddd"
set xlabel "relative error (rtol from 10^{-3} to 10^{-7})"
set ylabel "seconds"
set key top right
set offsets graph 0.05, graph 0.05, graph 0.1, graph 0.1
set style line 1 linecolor rgb "#d95f02" linewidth 2 pointtype 7
set style line 2 linecolor rgb "#1b9e77" linewidth 2 pointtype 7
set style line 3 linecolor rgb "#7570b3" linewidth 2 pointtype 7
set style line 4 linecolor rgb "#e7298a" linewidth 2 pointtype 7
set style line 5 linecolor rgb "#1f78b4" linewidth 2 pointtype 7
set multiplot layout 3,2
set title "Shallow water, 4800 unknowns, not stiff: forward"
plot for [k=0:3] data index k using 1:2 with linespoints linestyle k+1 title columnheader(1)
set title "the same: forward and gradient"
plot for [k=4:7] data index k using 1:2 with linespoints linestyle k-3 title columnheader(1)
set title "Brusselator with diffusion, 2048 unknowns, mildly stiff: forward"
plot for [k=8:12] data index k using 1:2 with linespoints linestyle k-7 title columnheader(1)
set title "the same: forward and gradient"
plot for [k=13:17] data index k using 1:2 with linespoints linestyle k-12 title columnheader(1)
set title "Polluted air in a column, 800 unknowns, stiff: forward"
plot for [k=18:20] data index k using 1:2 with linespoints linestyle k-16 title columnheader(1), \
    for [k=24:25] data index k using 1:2 with lines linecolor rgb "white" title columnheader(1)
set title "the same: forward and gradient"
plot for [k=21:23] data index k using 1:2 with linespoints linestyle k-19 title columnheader(1)
unset multiplot
