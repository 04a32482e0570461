#!/bin/sh
# shmem_info: both forms hold the same variables, and values and sources follow the environment.
set -u
info=$1
fail() { echo "FAILED: $*" >&2; exit 1; }
text=$("$info") || fail "shmem_info"
json=$("$info" --json) || fail "shmem_info --json"
for word in OpenSHMEM memfd cross_memory_attach usable pes_per_node SHMEM_SYMMETRIC_SIZE SHMEM_DEBUG; do
  case $text in *"$word"*) ;; *) fail "the text lacks $word" ;; esac
  case $json in *"$word"*) ;; *) fail "the JSON lacks $word" ;; esac
done
config=$("$info" --config) || fail "shmem_info --config"
case $config in *memfd*) fail "--config shows more than variables" ;; esac
SHMEM_SYMMETRIC_SIZE=64M "$info" --config --json | grep -q '"source": "environment"' || fail "the environment is not named as source"
SHMEM_SYMMETRIC_SIZE=64M "$info" --config | grep -q 'SHMEM_SYMMETRIC_SIZE.*environment' || fail "the text does not name the source"
if SHMEM_WAIT=sometimes "$info" >/dev/null 2>&1; then fail "a bad value gives status 0"; fi
if command -v python3 >/dev/null; then
  printf %s "$json" | python3 -c '
import json, sys
all = json.load(sys.stdin)
assert set(all) == {"library", "machine", "limits", "variables"}, all.keys()
assert all["machine"]["cpu"]["usable"] >= 1
assert all["machine"]["memory"]["memfd"] == "yes"
for row in all["variables"]:
    assert row["meaning"] and row["default"] and row["source"] == "default" or row["source"] != "default", row
' || fail "the JSON is not as it should be"
fi
exit 0
