#!/bin/sh
# shmem_perf_test.sh SHMEM_PERF: rows, their structure and routes, and what is refused. Never times.
. "$(dirname "$0")/../support/script.sh"
perf=$1
oshrun=$(dirname "$perf")/oshrun

# perf_of PES ARGUMENTS...: output of a job in out and err, its status in $rc
perf_of() {
  pes=$1
  shift
  "$oshrun" -q -n "$pes" --timeout 60 "$perf" "$@" >out 2>err
  rc=$?
}
# passes PES ARGUMENTS...
passes() {
  perf_of "$@"
  [ $rc = 0 ] || die "shmem_perf $* failed"
}
# refuses TEXT PES ARGUMENTS...: status 2 and one line of PE 0 with the text
refuses() {
  wanted=$1
  shift
  perf_of "$@"
  [ $rc = 2 ] || die "shmem_perf $* is not refused"
  [ "$(grep -c '^shmem_perf: ' err)" = 1 ] || die "shmem_perf $*: not one line"
  grep '^shmem_perf: ' err | grep -qF -- "$wanted" || die "shmem_perf $* does not say '$wanted'"
}
rows() { grep -c "^$1,$2\$" out; }

# Every test runs, with one PE as well.
tests=$("$perf" --list | awk '{ print $1 }')
[ "$(printf '%s\n' "$tests" | wc -l)" -ge 21 ] || die "--list names too few tests"
passes 3 all -i 12 --csv
for test in $tests; do
  [ "$(grep -c "^$test," out)" = 1 ] || die "$test has no row"
done
[ "$(wc -l <out)" = $(($(printf '%s\n' "$tests" | wc -l) + 1)) ] || die "there are other rows than those of all tests"
[ "$(rows put_latency '8,0,1,12,.*,mapped')" = 1 ] || die "put_latency has another row"
[ "$(rows put_bandwidth '1048576,0,1,768,.*,mapped')" = 1 ] || die "put_bandwidth has another row"
[ "$(rows put_signal_latency '8,0,1,24,.*,mapped')" = 1 ] || die "put_signal_latency has another row"
[ "$(rows barrier '0,all,all,12,.*,mapped')" = 1 ] || die "barrier has another row"
awk -F, 'NR > 1 { if (NF != 11 || $6 <= 0 || $7 > $6 || $6 > $8) exit 1 }' out || die "times are not least <= median <= p99"
passes 1 put_latency barrier -i 3 --csv
[ "$(rows put_latency '8,0,0,3,.*,itself')" = 1 ] || die "one PE is not its own target"

# Sizes, pairs, bursts.
passes 2 put_latency reduce -s 1:16,3,1K -i 4 --csv
[ "$(grep '^put' out | cut -d, -f2 | xargs)" = "1 2 3 4 8 16 1024" ] || die "the sizes are wrong"
[ "$(grep '^reduce' out | cut -d, -f2 | xargs)" = "8 16 1024" ] || die "the sizes of reduce are wrong"
passes 2 get_rate -s 1:1M:1K -b 5 -i 4 --csv
[ "$(cut -d, -f2,5 out | tail -n +2 | xargs)" = "1,20 1024,20 1048576,20" ] || die "factor or burst is wrong"
passes 4 put_latency --from 0,2 --to all -i 2 --csv
[ "$(cut -d, -f3,4 out | tail -n +2 | xargs)" = "0,1 0,2 0,3 2,0 2,1 2,3" ] || die "the pairs are wrong"
passes 4 put_signal_latency fetch_add_latency --from 0..1 --to 3,2 --together -i 50 --csv
[ "$(cut -d, -f1,3,4 out | tail -n +2 | xargs)" = "put_signal_latency,0,3 put_signal_latency,1,2 fetch_add_latency,0,3 fetch_add_latency,1,2" ] ||
  die "the pairs at the same time are wrong"
passes 3 add_latency --from all --to 1,2,0 --together --target computes -i 50 --csv
[ "$(cut -d, -f3,4 out | tail -n +2 | xargs)" = "0,1 1,2 2,0" ] || die "a ring is not measured"
passes 2 p_latency -t 0.001 --csv
[ "$(grep -c '^p_latency' out)" = 1 ] || die "no row with a time"

# Memory and routes.
passes 2 all -m window -i 3 --csv
[ "$(cut -d, -f1 out | tail -n +2 | xargs)" = "put_latency get_latency fetch_add_latency compare_swap_latency put_bandwidth get_bandwidth put_rate get_rate" ] ||
  die "the tests of windows are others"
passes 2 all -m static -s 64 -i 3 --csv
[ "$(tail -n +2 out | wc -l)" = "$(printf '%s\n' "$tests" | wc -l)" ] || die "static data lack tests"
export SHMEMX_NODE_PATH=queue
passes 2 all -i 3 -s 96 --target computes --csv
[ "$(grep -c ',queue$' out)" = "$(printf '%s\n' "$tests" | wc -l)" ] || die "the route is not the queue"
unset SHMEMX_NODE_PATH
export SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=tcp
passes 4 put_latency barrier --to all -i 3
for line in '^put_latency *8 *0 *1 .* mapped$' '^put_latency *8 *0 *3 .* tcp$' '^barrier *0 *all *all .* mapped+tcp$' \
  '^# PE 0 to PE 1: mapped: loads' '^# PE 0 to PE 3: tcp: '; do
  grep -q "$line" out || die "the table lacks '$line'"
done
passes 4 all -m window --from 3 --to 0 -s 20000 -i 3 --csv
[ "$(grep -c ',messages$' out)" = 8 ] || die "the path of windows is not messages"
unset SHMEMX_PES_PER_NODE SHMEMX_TRANSPORT

# JSON.
passes 2 put_latency barrier -i 4 --json
if command -v python3 >/dev/null; then
  python3 -c '
import json, sys
all = json.load(open("out"))
assert all["program"] == "shmem_perf" and all["pes"] == 2 and all["memory"] == "heap" and all["target"] == "waits", all
put, barrier = all["rows"]
assert (put["test"], put["bytes"], put["from"], put["to"], put["operations"], put["route"]) == ("put_latency", 8, 0, 1, 4, "mapped"), put
assert put["route_text"].startswith("mapped: ") and put["min_ns"] <= put["median_ns"] <= put["p99_ns"], put
assert "from" not in barrier and "bytes_per_s" not in barrier and barrier["operations_per_s"] > 0, barrier
' || die "the JSON is wrong"
fi

# What is refused.
refuses "no test is named" 2
refuses "there is no test 'put_lat'" 2 put_lat
refuses "'5' is not a PE, allowed are 0..1, and 'all'" 2 put_latency --to 5
refuses "'x' is not a size" 2 put_latency -s x
refuses "'0' is not a size" 2 put_latency -s 0
refuses "'8:4' ends before it begins" 2 put_latency -s 8:4
refuses "'1:4:1': the factor is at least 2" 2 put_latency -s 1:4:1
refuses "reduce: none of the sizes is a multiple of 8" 2 reduce -s 1:4
refuses "--from names 2 PEs, --to names 1" 2 put_latency --from all --to 1 --together
refuses "a PE stands twice in --from" 2 put_latency --from 0,0 --to 1,1 --together
refuses "message_latency needs two PEs" 1 message_latency
refuses "put_signal_latency needs two PEs for each pair, and no PE in two pairs" 3 put_signal_latency --from all --to 1,2,0 --together
refuses "no pair of different PEs" 3 put_latency --from 0,0 --to 0
refuses "barrier has no form for windows" 2 barrier -m window
refuses "--memory static: at most 4194304 bytes" 2 put_latency -m static -s 8M
refuses "--memory" 2 put_latency -m disk
refuses "--json excludes --csv" 2 put_latency --json --csv
refuses "--bogus" 2 put_latency --bogus
export SHMEM_SYMMETRIC_SIZE=1M
perf_of 2 put_latency -s 1M
[ $rc = 1 ] && grep -q 'shmem_perf: no memory (heap) for two blocks of 1048576 bytes on each PE' err || die "too small a heap is not reported"
exit 0
