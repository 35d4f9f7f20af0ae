# layer.gp - a boundary layer that becomes thinner, and the mesh that follows it; data and image are set by demo.py
set terminal pngcairo size 900,800 enhanced font "sans,12"
set output image
set grid linecolor rgb "#dddddd"
set lmargin 10
set logscale x
set format x "10^{%L}"
set xrange [1e-5:1]
set multiplot layout 2,1
set title "A boundary layer at t = 0: {/Symbol e} y'' + y y' = 0, by continuation"
set ylabel "y"
set yrange [0.2:1.05]
set key bottom right
array colour[4] = [0x969696, 0x1f78b4, 0x7570b3, 0xd95f02]
array eps[4] = [0.1, 0.01, 0.001, 0.0001]
plot for [k=1:4] data index k - 1 using 2:3 with linespoints linewidth 2 pointtype 7 pointsize 0.5 \
    linecolor rgb colour[k] title sprintf("{/Symbol e} = %g", eps[k])
set title "Mesh points: they move into the layer, which becomes thinner by a factor of ten each time"
set ylabel "{/Symbol e}"
set xlabel "t"
set logscale y
set format y "10^{%L}"
set yrange [3e-5:0.3]
unset key
plot for [k=1:4] data index k - 1 using 2:1 with points pointtype 7 pointsize 0.6 linecolor rgb colour[k]
unset multiplot
