#!/usr/bin/env bash
# matrix_test.sh SCRIPT: the picture of a job's matrix names all PEs; text without a matrix is refused.
set -u
script=$1
command -v gnuplot >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
SHMEM_STATS=1 "$OSHRUN" -q -n 3 "$OBSERVED" >summary || exit 1
"$script" summary picture.svg || { echo "no picture"; exit 1; }
for name in 0 1 2; do
  [ "$(grep -c ">$name<" picture.svg)" -ge 2 ] || { echo "PE $name has no row and column"; exit 1; }
done
grep -q '<image' picture.svg && { echo "the matrix is an image, which browsers blur"; exit 1; }
"$script" - other.svg <summary && cmp -s picture.svg other.svg || { echo "standard input gives another picture"; exit 1; }
echo nothing >empty
"$script" empty none.svg 2>said && { echo "a text without a matrix is accepted"; exit 1; }
grep -q 'holds no matrix' said || { cat said; exit 1; }
