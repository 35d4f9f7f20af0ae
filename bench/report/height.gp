# height.gp - the water surface; data and image are set by demo.py
set terminal pngcairo size 900,700 enhanced font "sans,12"
set output image
set title "Water height at t = 0.05: the hump at the centre has become a ring, half way to the boundary"
set xrange [-2.9:3]
set yrange [-2.9:3]
set xlabel "x"
set ylabel "y"
set ticslevel 0
set view 38, 30
set hidden3d
set pm3d depthorder border linecolor rgb "#40404040" linewidth 0.3
set palette defined (0 "#08306b", 1 "#2171b5", 2 "#6baed6", 3 "#c6dbef", 4 "#ffffff")
set cblabel "h"
set rmargin at screen 0.86
set colorbox user origin 0.9, 0.25 size 0.025, 0.5
splot data using 1:2:3 with pm3d notitle
