# hybrid.gp - a ball on a vibrating table, and its derivative by the drop height; data and image are set by demo.py
set terminal pngcairo size 900,800 enhanced font "sans,12"
set output image
set grid linecolor rgb "#dddddd"
set lmargin 10
set xrange [0:2.6]
set multiplot layout 2,1
set title "A ball on a vibrating table: height, and where events change its speed"
set ylabel "height"
set yrange [-0.1:1.3]
set key top right horizontal
plot data index 0 using 1:6 with lines linecolor rgb "#969696" title "table", \
    data index 0 using 1:2 with lines linewidth 2 linecolor rgb "#1f78b4" title "ball", \
    data index 1 using 1:2 with points pointtype 7 pointsize 0.8 linecolor rgb "#d95f02" title "impacts"
set title "Its derivative by the height it was dropped from: exact through each impact, where it jumps"
set autoscale y
set ylabel "dy / dheight"
set xlabel "t"
plot data index 0 using 1:4 with lines linewidth 2 linecolor rgb "#7570b3" title "tangent", \
    0 with lines linecolor rgb "#bbbbbb" notitle
unset multiplot
