#!/bin/sh
# shmem_info_test.sh SHMEM_INFO: both forms list the same variables; values and sources follow the environment.
. "$(dirname "$0")/../support/script.sh"
info=$1
text=$("$info") || die "shmem_info"
json=$("$info" --json) || die "shmem_info --json"
for word in OpenSHMEM memfd cross_memory_attach usable pes_per_node SHMEM_SYMMETRIC_SIZE SHMEM_DEBUG; do
  case $text in *"$word"*) ;; *) die "the text lacks $word" ;; esac
  case $json in *"$word"*) ;; *) die "the JSON lacks $word" ;; esac
done
# All ways to start a PE; sizes with units in the text, exact in the JSON.
for word in oshrun PMI-1 PMI-2 PMIx Slurm shmemx_init_attr; do
  case $text in *"launchers "*"$word"*cpu*) ;; *) [ $word = PMIx ] || die "the launchers lack $word" ;; esac
done
page=$(getconf PAGESIZE)
printf '%s\n' "$text" | grep -Eq "^  page  *$((page / 1024)) KiB\$" || die "the page size has no unit"
printf '%s\n' "$text" | grep -Eq '^  total  *[0-9.]+ [MGTP]iB$' || die "the memory has no unit"
printf '%s\n' "$text" | sed '/environment variables/,$d' | grep -E '[0-9]{7}' | grep -v '^  pes ' && die "sizes without a unit"
printf '%s\n' "$json" | grep -q "\"page_bytes\": $page," || die "the JSON lacks the page size in bytes"
config=$("$info" --config) || die "shmem_info --config"
case $config in *memfd*) die "--config shows more than variables" ;; esac
SHMEM_SYMMETRIC_SIZE=64M "$info" --config --json | grep '"source": "environment"' >/dev/null || die "the environment is not named as source"
SHMEM_SYMMETRIC_SIZE=64M "$info" --config | grep 'SHMEM_SYMMETRIC_SIZE.*environment' >/dev/null || die "the text lacks the source"
if SHMEM_WAIT=sometimes "$info" >/dev/null 2>&1; then die "a bad value gives status 0"; fi
if command -v python3 >/dev/null; then
  printf %s "$json" | python3 -c '
import json, sys
all = json.load(sys.stdin)
assert set(all) == {"library", "machine", "limits", "variables"}, all.keys()
assert all["machine"]["cpu"]["usable"] >= 1
assert all["machine"]["memory"]["memfd"] == "yes"
for row in all["variables"]:
    assert row["meaning"] and row["default"] and row["source"] == "default" or row["source"] != "default", row
' || die "the JSON is wrong"
fi
"$info" --bogus 2>err
[ $? = 2 ] && grep -q '^shmem_info: .*--bogus.*; see shmem_info --help$' err || die "--bogus is not refused with status 2"
# The variables of a group, and those that are set; JSON has all of them unless asked.
variables_of() { "$info" --config "$@" | grep -oE '^  SHMEMX?_[A-Z_]+' | wc -l; }
everyday=$(variables_of)
[ "$everyday" -lt 20 ] || die "everyday variables are $everyday"
[ "$(SHMEMX_LMT=copy variables_of)" = $((everyday + 1)) ] || die "a variable that is set is not shown"
[ "$(variables_of --group all)" = $((everyday + $(variables_of --group network,measuring) + $(variables_of --group tests))) ] ||
  die "the groups are not all variables"
"$info" --config --group network | grep -q '^  SHMEMX_REGISTRATION_CACHE = 1 GiB *\[default\]$' || die "a number of bytes has no unit"
SHMEM_SYMMETRIC_SIZE=1536m "$info" --config | grep -q '^  SHMEM_SYMMETRIC_SIZE = 1.5 GiB .*\[environment; default auto\]$' || die "1536m is not 1.5 GiB"
[ "$("$info" --json | grep -c '"variable"')" = "$(variables_of --group all)" ] || die "the JSON lacks variables"
[ "$("$info" --json --config --group tests | grep -c '"group": "tests"')" = "$(variables_of --group tests)" ] || die "the JSON has another group"
"$info" --group some 2>err
[ $? = 2 ] && grep -q '^shmem_info: --group: some not in {all,everyday,network,measuring,tests}' err || die "--group some is not refused"
"$info" --config --peers 2>/dev/null
[ $? = 2 ] || die "--config --peers is not refused with status 2"
oshrun=$(dirname "$info")/oshrun
alone=$("$info" --peers) || die "shmem_info --peers"
for word in "1 node" "loads and stores" "tcp: can be used" ucx ofi; do
  case $alone in *"$word"*) ;; *) die "--peers alone lacks '$word': $alone" ;; esac
done
peers=$(SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=tcp "$oshrun" -n 5 --timeout 60 "$info" --peers) || die "--peers of 5 PEs"
for word in "3 nodes" "same node *PE 1: mapped" "networks *tried in the order tcp (because: SHMEMX_TRANSPORT)" "other nodes *PE 2..4 (3): tcp" "progress: a thread" "not *ucx: not asked for"; do
  printf '%s\n' "$peers" | grep -q "$word" || die "--peers lacks '$word': $peers"
done
printf '%s\n' "$peers" | grep -q "PE 2 on $(uname -n | cut -c 1-40): " || die "--peers does not name the host: $peers"
printf '%s\n' "$peers" | grep -Eqi 'bod(y|ies)' && die "--peers speaks of bodies: $peers"
for transport in tcp ucx ofi; do
  json=$(SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=$transport "$oshrun" -n 5 --timeout 60 "$info" --peers --json) || continue  # not available
  printf '%s\n' "$json" | grep -Eqi 'bod(y|ies)' && die "--peers over $transport speaks of bodies: $json"
  command -v python3 >/dev/null || continue
  printf %s "$json" | python3 -c '
import json, sys
peers = json.load(sys.stdin)["peers"]
assert "5 PEs" in peers["summary"] and "3 nodes" in peers["summary"], peers
rows = {row["name"]: row["text"] for row in peers["rows"]}
assert rows["same node"][0].startswith("PE 1: mapped"), rows
assert rows["other nodes"][0] == "PE 2..4 (3): " + sys.argv[1] and rows["other nodes"][2:], rows
' "$transport" || die "the JSON of --peers over $transport is wrong: $json"
done
[ "$(printf '%s\n' "$peers" | grep -c 'how PE 0 reaches')" = 1 ] || die "more than PE 0 prints"
SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp SHMEMX_PROGRESS=off "$oshrun" -n 2 --timeout 60 "$info" --peers |
  grep -q 'SHMEMX_PROGRESS=off' || die "--peers does not report SHMEMX_PROGRESS=off"
# SHMEM_INFO=1 prints a line for each everyday variable, all prints every one.
SHMEM_INFO=1 "$oshrun" -n 2 --timeout 60 "$(dirname "$info")/shmem_perf" sync -i 1 --csv >out || die "SHMEM_INFO=1"
[ "$(grep -cE '^  SHMEMX?_[A-Z_]+ = ' out)" = "$everyday" ] && [ "$(wc -l <out)" -le $((everyday + 6)) ] || die "SHMEM_INFO=1 prints $(wc -l <out) lines"
SHMEM_INFO=all "$oshrun" -n 2 --timeout 60 "$(dirname "$info")/shmem_perf" sync -i 1 --csv >out || die "SHMEM_INFO=all"
[ "$(grep -cE '^  SHMEMX?_[A-Z_]+ = ' out)" = "$(variables_of --group all)" ] || die "SHMEM_INFO=all lacks variables"
exit 0
