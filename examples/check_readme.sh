#!/usr/bin/env bash
# Follows the README as a newcomer would: takes the first C program and the first command lines out
# of it, word for word, and runs them with the built programs in the path. Checks that the files it names exist.
#
# Usage: check_readme.sh README.md BUILD_DIRECTORY
set -euo pipefail

readme=$(realpath "$1")
build=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fenced LANGUAGE: the first block fenced as that language.
fenced() {
  awk -v open="\`\`\`$1" '$0 == open && !seen { inside = seen = 1; next } inside && /^```/ { exit } inside' "$readme"
}
fail() {
  echo "check_readme.sh: $*" >&2
  exit 1
}

cd "$work"
fenced c >ring.c
fenced sh >commands.sh
[ -s ring.c ] || fail "no C program found"
grep -q '^oshcc ' commands.sh && grep -q '^oshrun ' commands.sh || fail "no oshcc and oshrun lines found"

PATH=$build/bin:$PATH bash -e commands.sh | tee output
for pe in 0 1 2 3; do
  grep -qx "PE $pe of 4 got $(((pe + 3) % 4))" output || fail "wrong or no line of PE $pe"
done
[ "$(wc -l <output)" -eq 4 ] || fail "expected 4 lines, got $(wc -l <output)"

for path in $(grep -oE '\]\([^):]+\)' "$readme" | tr -d '](()' | sort -u) examples/run.sh tests/run.sh bench/run.sh; do
  [ -e "$(dirname "$readme")/$path" ] || fail "the README names '$path', which does not exist"
done
