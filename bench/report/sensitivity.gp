# sensitivity.gp - which initial heights the height of one cell depends on; data and image are set by demo.py
set terminal pngcairo size 800,700 enhanced font "sans,12"
set output image
set title "dh_{cell}(0.05) / dh(0): one adjoint run"
set xlabel "x from the cell"
set ylabel "y from the cell"
set size ratio -1
set autoscale xfix
set autoscale yfix
stats data using 3 nooutput
m = abs(STATS_min) > abs(STATS_max) ? abs(STATS_min) : abs(STATS_max)
set cbrange [-m:m]
set palette defined (-1 "#2166ac", -0.3 "#92c5de", 0 "#f7f7f7", 0.3 "#f4a582", 1 "#b2182b")
plot data using 1:2:3 with image notitle
