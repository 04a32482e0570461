#!/usr/bin/env bash
# The program that writes the manual refuses a routine without a text, a text without a routine, and a text that is damaged.
# Usage: check_manual_errors.sh WRITE_MANUAL PROJECT
set -euo pipefail
program=$(realpath "$1")
project=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect MESSAGE: the program fails with it. The texts and headers are then restored.
expect() {
  if "$program" "$work/families" "$work/include" "$work/out" 2>"$work/errors"; then
    echo "no error, expected: $1"
    exit 1
  fi
  grep -qF -- "$1" "$work/errors" || { echo "expected: $1"; cat "$work/errors"; exit 1; }
  restore
}

restore() {
  rm -rf "$work/families" "$work/include"
  cp -r "$project/docs/man/families" "$project/include" "$work"
}

restore
"$program" "$work/families" "$work/include" "$work/out" || { echo "unchanged texts are refused"; exit 1; }
sed -i '/^put_nbi:/d' "$work/families/shmem_put.txt"
expect "no family has the operation 'put_nbi' of shmem_"
sed -i 's/^put_nbi:/put_soon:/' "$work/families/shmem_put.txt"
expect "shmem_put: no routine has the operation 'put_soon'"
sed -i '/^shmem_get$/d' "$work/families/index.txt"
expect "no family has the operation 'get' of shmem_"
sed -i 's/^title:/title/' "$work/families/shmem_put.txt"
expect "shmem_put: 'title"
rm "$work/families/shmem_put.c"
expect "cannot read $work/families/shmem_put.c"
echo 'SHMEMX_API int shmemx_unknown(int pe_) SHMEMX_NOEXCEPT;' >>"$work/include/shmemx/active.h"
expect "no family has the operation 'shmemx_unknown' of shmemx_unknown"
