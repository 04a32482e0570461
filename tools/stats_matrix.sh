#!/usr/bin/env bash
# stats_matrix.sh [SUMMARY [PICTURE]]: draws the matrix of bytes in a summary of SHMEM_STATS=1, from PEs that call (rows)
# to PEs whose memory it is (columns). SUMMARY: what the job has printed, - for standard input. PICTURE: an .svg or .png
# file, matrix.svg by default. Needs gnuplot.
set -eu
summary=${1:--}
picture=${2:-matrix.svg}
[ "$summary" = - ] && summary=/dev/stdin
case $picture in
  *.svg) terminal='svg size 720,640 dynamic background "white"' ;;
  *.png) terminal='pngcairo size 720,640' ;;
  *) echo "stats_matrix.sh: '$picture' ends neither in .svg nor in .png" >&2; exit 2 ;;
esac
command -v gnuplot >/dev/null || { echo "stats_matrix.sh: gnuplot is not installed" >&2; exit 2; }

# One line for each cell: column, row, bytes, names of both.
cells=$(awk '
  BEGIN { row = 0; split("Ki Mi Gi Ti Pi Ei", units, " ") }
  function bytes(text,   i, value) {
    if (text == ".") return 0
    value = text + 0
    for (i = 1; i <= 6; i++) if (index(text, units[i])) value *= 1024 ^ i
    return value
  }
  /^bytes from PEs/ { inside = 1; next }
  inside && $1 == "from\\to" { for (i = 2; i <= NF; i++) name[i] = $i; next }
  inside && /^  [0-9]/ { for (i = 2; i <= NF; i++) print i - 2, row, bytes($i), name[i], $1; row++; next }
  inside { exit }
' "$summary")
[ -n "$cells" ] || { echo "stats_matrix.sh: $1 holds no matrix" >&2; exit 1; }

gnuplot <<END
set terminal $terminal
set output "$picture"
\$cells << DATA
$cells
DATA
set title "bytes from PE (row) to PE (column)"
set palette defined (0 "white", 1 "#9ecae1", 2 "#08519c")
set cbrange [0:*]
set format cb "%.1s%cB"
unset key
set size square
set xlabel "PE whose memory it is"
set ylabel "PE that calls"
set yrange [] reverse
set xtics rotate
plot \$cells using 1:2:3:xtic(4):ytic(5) with image pixels
END
