#!/usr/bin/env bash
# All pages are free of warnings of groff, and of mandoc where it is installed. A page that only leads to another one is none.
# Usage: check_roff.sh PAGES_OF_COMMANDS MANUAL_DIRECTORY. Status 77 without groff.
set -euo pipefail
command -v groff >/dev/null || { echo "skipped: no groff"; exit 77; }

count=0
wrong=0
for page in "$1"/*.1 "$2"/man3/*.3 "$2"/man7/*.7; do
  if [ "$(head -c 4 "$page")" = ".so " ]; then continue; fi
  count=$((count + 1))
  warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
  if [ -z "$warnings" ] && command -v mandoc >/dev/null; then warnings=$(mandoc -T lint -W error "$page" 2>&1 || true); fi
  if [ -n "$warnings" ]; then
    printf '%s\n' "$warnings"
    wrong=1
  fi
done
[ "$count" -ge 40 ] || { echo "only $count pages were seen"; exit 1; }
echo "$count pages"
exit $wrong
