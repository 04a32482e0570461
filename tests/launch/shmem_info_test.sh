#!/bin/sh
# shmem_info: both forms hold the same variables, and values and sources follow the environment.
set -u
info=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
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
"$info" --bogus 2>"$dir/err"
[ $? = 2 ] && grep -q '^shmem_info: .*--bogus.*; see shmem_info --help$' "$dir/err" || fail "--bogus is not refused with status 2"
"$info" --config --peers 2>/dev/null
[ $? = 2 ] || fail "--config --peers is not refused with status 2"
oshrun=$(dirname "$info")/oshrun
alone=$("$info" --peers) || fail "shmem_info --peers"
for word in "1 node" "loads and stores" "tcp: can be used" ucx ofi; do
  case $alone in *"$word"*) ;; *) fail "--peers alone lacks '$word': $alone" ;; esac
done
peers=$(SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=tcp "$oshrun" -n 5 --timeout 60 "$info" --peers) || fail "--peers of 5 PEs"
for word in "3 nodes" "same node *PE 1: mapped" "other nodes *PE 2..4 (3): tcp" "progress: a thread" "not *ucx: not asked for"; do
  printf '%s\n' "$peers" | grep -q "$word" || fail "--peers lacks '$word': $peers"
done
printf '%s\n' "$peers" | grep -q "PE 2 on $(uname -n | cut -c 1-40): " || fail "--peers does not name the host: $peers"
printf '%s\n' "$peers" | grep -Eqi 'bod(y|ies)' && fail "--peers speaks of bodies: $peers"
for transport in tcp ucx ofi; do
  json=$(SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=$transport "$oshrun" -n 5 --timeout 60 "$info" --peers --json) || continue  # not here
  printf '%s\n' "$json" | grep -Eqi 'bod(y|ies)' && fail "--peers over $transport speaks of bodies: $json"
  command -v python3 >/dev/null || continue
  printf %s "$json" | python3 -c '
import json, sys
peers = json.load(sys.stdin)["peers"]
assert "5 PEs" in peers["summary"] and "3 nodes" in peers["summary"], peers
rows = {row["name"]: row["text"] for row in peers["rows"]}
assert rows["same node"][0].startswith("PE 1: mapped"), rows
assert rows["other nodes"][0] == "PE 2..4 (3): " + sys.argv[1] and len(rows["other nodes"]) > 2, rows
' "$transport" || fail "the JSON of --peers over $transport is not as it should be: $json"
done
[ "$(printf '%s\n' "$peers" | grep -c 'how PE 0 reaches')" = 1 ] || fail "more than PE 0 prints"
SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp SHMEMX_PROGRESS=off "$oshrun" -n 2 --timeout 60 "$info" --peers |
  grep -q 'SHMEMX_PROGRESS=off' || fail "--peers does not say who makes no progress"
exit 0
