#!/bin/sh
# Measures the library, the physical limit, Open MPI (OSHMEM and MPI) and MPICH in one run.
#   bench/run.sh rma [shapes]
#   bench/run.sh links
#   bench/run.sh guidelines [quick|full] [options of bench/guidelines/guidelines.py, such as --place tcp]
#   bench/run.sh [net|ethernet|scale|tasks] [quick|full] [further options of bench_driver, such as --only p,g,barrier]
# net: between nodes only, on virtual hosts (as root or where user namespaces are allowed), else on pretended nodes.
# rma: one-sided MPI under the interposer, the MPIs alone, and SHMEM. Writes results_rma_node.txt and
#   results_rma_hosts.txt. shapes: 147 shapes of programs with 2 and 4 processes on this machine, and the rows that are
#   behind. Writes results_rma_shapes.txt.
# links: two networks beside one, and a link that is cut, on virtual hosts. Writes results_links.txt.
# ethernet: the figures of the Open-MX paper, raw Ethernet beside tcp, on virtual hosts with several MTUs, delays and
#   losses. Writes results_ethernet.txt, .csv and .json. BENCH_PARTS: some of "figures pull loss fairness".
# guidelines: ratios that should hold on any machine, and those that do not. Writes results_guidelines.txt and .json.
# scale: many PEs on one node only. Writes results_scale.json and results_scale.txt.
# tasks: remote tasks and collectives in the background, on the node and on pretended nodes. Writes results_tasks.json
#   and results_tasks.txt.
# Writes results.json, results.txt, results_net.txt and plots into build/bench. BUILD_DIR names another build folder.
# node, net, scale, ethernet and tasks end with a table of the rows behind a bar or a peer, the worst first (bench/behind.py).
set -eu

mode=quick
where="node net"
case "${1:-}" in net | ethernet | scale | tasks | rma | links | guidelines) where=$1; shift ;; esac
shapes=no
if [ "$where" = rma ] && [ "${1:-}" = shapes ]; then shapes=yes; shift; fi
case "${1:-}" in
  quick | full) mode=$1; shift ;;
  -h | --help) sed -n '2,18p' "$0"; exit 0 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
programs="latency atomics bandwidth distances pingpong barrier collectives idle_cpu threads_rate instructions"
message_programs="two_sided/sendrecv two_sided/alltoall_messages two_sided/message_instructions halo/halo
  message_barrier/message_barrier"

tasks_programs="tasks/background tasks/collect tasks/messages tasks/match_misses tasks/stencil_mpi"
net_programs="one_sided collectives gups"
hosts=h0,h1,h2,h3

say() { echo "bench: $*" >&2; }

# Installs what is missing, where that is possible; the benches do without the optional ones.
install_packages() {
  "$root/cmake/install_packages.sh" build bench || say "not all packages are there: some figures will be missing"
}

build_ours() {
  if ! grep -qs '^SHMEMX_BUILD_BENCH:BOOL=ON' "$build/CMakeCache.txt"; then
    options=""
    if [ ! -f "$build/CMakeCache.txt" ]; then options="-G Ninja -DSHMEMX_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=Release"; fi
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$build" $options -DSHMEMX_BUILD_BENCH=ON >/dev/null
  fi
  cmake --build "$build" --target bench_all --parallel >"$build/bench-build.log" 2>&1 || {
    tail -n 40 "$build/bench-build.log" >&2
    say "the build failed"
    exit 1
  }
}

# Is program $1 newer than all sources of the benches?
is_fresh() {
  [ -x "$1" ] && [ -z "$(find "$root/bench" -newer "$1" \( -name '*.cpp' -o -name '*.hpp' \) -print)" ]
}

# Debian's wrapper by its full path: a build of ours may stand in PATH under the same name.
build_peer() {
  peer_cxx=/usr/bin/oshcxx
  peer_cc=/usr/bin/oshcc
  if ! [ -x "$peer_cxx" ] || ! [ -x /usr/bin/oshrun ]; then
    say "Open MPI's OSHMEM is not installed: its figures will be null"
    return 1
  fi
  mkdir -p "$build/bench/peer"
  for program in $programs; do
    target=$build/bench/peer/$program
    if is_fresh "$target"; then continue; fi
    "$peer_cxx" -O2 -std=c++20 -pthread "$root/bench/$program.cpp" -o "$target" ||
      say "$program does not build with Open MPI's OSHMEM"
  done
  for program in $net_programs; do
    target=$build/bench/peer/net_$program
    if is_fresh "$target"; then continue; fi
    "$peer_cxx" -O2 -std=c++20 -pthread -DBENCH_PEER "$root/bench/net/$program.cpp" -o "$target" ||
      say "net/$program does not build with Open MPI's OSHMEM"
  done
  for program in is cg ft; do
    target=$build/bench/peer/kernel_$program
    if is_fresh "$target"; then continue; fi
    "$peer_cxx" -O2 -std=c++20 -pthread "$root/bench/kernels/$program.cpp" -o "$target" ||
      say "kernels/$program does not build with Open MPI's OSHMEM"
  done
  "$peer_cc" -O2 "$root/bench/hello.c" -o "$build/bench/peer/hello"
}

# An MPI's programs: build_mpi openmpi|mpich <launcher>
build_mpi() {
  compiler=/usr/bin/mpicxx.$1
  if ! [ -x "$compiler" ] || ! [ -x "$2" ]; then
    say "the MPI of $1 is not installed: its figures will be null"
    return 1
  fi
  mkdir -p "$build/bench/mpi/$1"
  for program in $message_programs net/collectives net/sendrecv net/one_sided_mpi $tasks_programs; do
    target=$build/bench/mpi/$1/$(basename "$program")
    case $program in
      net/*) target=$build/bench/mpi/$1/net_$(basename "$program" _mpi) ;;
      tasks/*) target=$build/bench/mpi/$1/tasks_$(basename "$program" _mpi) ;;
    esac
    if is_fresh "$target"; then continue; fi
    "$compiler" -O2 -std=c++20 -pthread -DBENCH_MPI -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$root/bench/$program.cpp" \
      -o "$target" || say "$program does not build with $1"
  done
  "/usr/bin/mpicc.$1" -O2 "$root/bench/net/empty_mpi.c" -o "$build/bench/mpi/$1/net_empty_mpi"
}

# Open MPI's OSHMEM finds the static data of a program by its path, which must have no blank.
# The OpenSHMEM whose compiler wrapper PEER_OSHCC names, beside puts and gets past the target's CPU. Its wrapper for C++ and
# its launcher stand in the same folder, unless PEER_OSHCXX and PEER_OSHRUN, with its options, name others.
build_rma_peer() {
  [ -n "${PEER_OSHCC:-}" ] || return 1
  wrapper=$(command -v "$PEER_OSHCC") || { say "PEER_OSHCC: there is no $PEER_OSHCC"; return 1; }
  rma_cxx=${PEER_OSHCXX:-}
  for name in oshcxx oshc++ oshCC; do
    if [ -z "$rma_cxx" ] && [ -x "$(dirname "$wrapper")/$name" ]; then rma_cxx=$(dirname "$wrapper")/$name; fi
  done
  if [ -z "$rma_cxx" ]; then say "PEER_OSHCC: no wrapper for C++ stands beside $wrapper"; return 1; fi
  rma_name=$wrapper
  rma_run=${PEER_OSHRUN:-$(dirname "$wrapper")/oshrun}
  if version=$("$wrapper" --showme:version 2>/dev/null); then
    rma_name="Open MPI's OSHMEM$(echo "$version" | sed -n 's/^[^:]*: Open[A-Z ]*\( [0-9.]*\).*/\1/p')"
    rma_run="$rma_run --allow-run-as-root --oversubscribe --bind-to none"
  fi
  mkdir -p "$build/bench/rma_peer"
  "$rma_cxx" -O2 -std=c++20 -pthread -DBENCH_PEER "$root/bench/net/one_sided.cpp" -o "$build/bench/rma_peer/net_one_sided" ||
    { say "net_one_sided does not build with $rma_cxx"; return 1; }
}

place_peer() {
  case $build in
    *[[:space:]]*)
      moved=$(mktemp -d)
      cp "$build/bench/peer/"* "$moved"
      peer=$moved ;;
    *) peer=$build/bench/peer ;;
  esac
}

# Between nodes: the driver itself runs on the first of four virtual hosts. The launchers of the peers split the name of
# the program that enters a host at its blanks, so it is looked up in PATH.
measure_net() {
  vhosts=$build/tests/bin/vhosts
  PATH=$build/tests/bin:$PATH
  if [ -x "$vhosts" ] && "$vhosts" shell --hosts 4 -- true >/dev/null 2>&1; then
    "$vhosts" shell --hosts 4 --congestion reno -- "$@" --net --hosts "$hosts" --enter vhosts-enter
  else
    say "virtual hosts are not possible here: pretended nodes, without peers"
    "$@" --net
  fi
}

# One part of the figures of raw Ethernet on virtual hosts of one kind.
#   measure_ethernet_on <options of vhosts> <part> <what is special about them> <driver and its options>...
measure_ethernet_on() {
  kind=$1 part=$2 network=$3
  shift 3
  # shellcheck disable=SC2086
  "$vhosts" shell --hosts 2 --congestion reno $kind ${of_each_host:+--ip "$of_each_host"} -- "$@" --ethernet "$part" --network "$network" --hosts h0,h1 \
    --enter vhosts-enter || say "$part, $network: not measured"
}

measure_ethernet() {
  vhosts=$build/tests/bin/vhosts
  PATH=$build/tests/bin:$PATH
  if ! "$vhosts" shell --hosts 2 -- true >/dev/null 2>&1; then
    say "virtual hosts are not possible here: no figures of raw Ethernet"
    return 0
  fi
  rm -f "$build"/bench/results_ethernet.*
  of_each_host=""
  # Without it the kernel hands 64 KiB of TCP to a virtual link as one frame, which is delayed or lost as one.
  frame_by_frame="link set eth0 gso_max_segs 1"
  for part in ${BENCH_PARTS:-figures pull loss fairness}; do
    case $part in
      figures) for mtu in 1500 9000; do measure_ethernet_on "--mtu $mtu" "$part" "mtu $mtu" "$@"; done ;;
      pull)
        of_each_host=$frame_by_frame
        for mtu in 1500 9000; do measure_ethernet_on "--mtu $mtu --delay 70" "$part" "mtu $mtu, delay 70 us" "$@"; done
        of_each_host="" ;;
      loss)
        of_each_host=$frame_by_frame
        for loss in 0 0.1 1 5; do measure_ethernet_on "--delay 1 --loss $loss" "$part" "loss $loss %" "$@"; done
        of_each_host="" ;;
      fairness) measure_ethernet_on "--rate 300mbit" "$part" "link of 300 Mbit/s" "$@" ;;
      *) say "there is no part $part" ;;
    esac
  done
}

measure_rma_between_hosts() {
  vhosts=$build/tests/bin/vhosts
  if cmake --build "$build" --target vhosts vhosts-enter >&2 && "$vhosts" shell --hosts 2 -- true >/dev/null 2>&1; then
    "$vhosts" shell --hosts 2 --congestion reno -- "$root/bench/rma/run.sh" "$build" hosts
  else
    say "virtual hosts are not possible here: no one-sided MPI between hosts"
  fi
}

if [ "$where" = guidelines ]; then
  [ -f "$build/CMakeCache.txt" ] || cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$build" --target shmem_perf oshrun >&2
  exec python3 "$root/bench/guidelines/guidelines.py" --bin "$build/bin" --output "$build/bench" "$mode" "$@"
fi
install_packages
if [ "$where" = rma ]; then
  [ -f "$build/CMakeCache.txt" ] || cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  for mpi in mpich openmpi; do
    ! command -v "mpicxx.$mpi" >/dev/null || cmake --build "$build" --target "shmemx_rma_$mpi" >&2
  done
  cmake --build "$build" --target oshrun >&2
  if [ "$shapes" = yes ]; then exec "$root/bench/rma/shapes.sh" "$build"; fi
  "$root/bench/rma/run.sh" "$build" node
  measure_rma_between_hosts
  exit 0
fi
if [ "$where" = links ]; then
  [ -f "$build/CMakeCache.txt" ] || cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$build" --target shmemx vhosts >&2
  exec "$root/bench/links/run.sh" "$build"
fi
build_ours
BENCH_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
BENCH_RUN="$(date -u +%Y-%m-%dT%H:%M:%SZ) $BENCH_COMMIT"
export BENCH_COMMIT BENCH_RUN
# Open MPI leaves files behind when a job of its is ended; so does a program of ours that dies while it starts.
started=$(mktemp)
moved=""
clean_up() {
  find /dev/shm -maxdepth 1 \( -name "vader_segment.*" -o -name "shmemx-bench-*" \) -user "$(id -u)" -newer "$started" \
    -delete 2>/dev/null || true
  rm -f "$started"
  if [ -n "$moved" ]; then rm -rf "$moved"; fi
}
trap clean_up EXIT
# The driver and its options, before those of the caller.
if build_mpi mpich /usr/bin/mpiexec.hydra; then set -- --mpich-programs "$build/bench/mpi/mpich" "$@"; fi
if build_mpi openmpi /usr/bin/mpirun.openmpi; then set -- --openmpi-programs "$build/bench/mpi/openmpi" "$@"; fi
if build_peer && place_peer; then set -- --peer-programs "$peer" "$@"; fi
if build_rma_peer; then
  set -- --rma-peer "$rma_name" --rma-peer-launcher "$rma_run -n {n}" --rma-peer-programs "$build/bench/rma_peer" "$@"
fi
set -- "$build/bench/bench_driver" "$mode" --ours-programs "$build/bench/ours" --limit-programs "$build/bench/raw" \
  --plain-programs "$build/bench/plain" --output "$build/bench" --ours-launcher "\"$build/bin/oshrun\" -n {n}" "$@"
for place in $where; do
  case $place in
    node) "$@" ;;
    tasks) "$@" --tasks ;;
    scale) "$@" --scale ;;
    ethernet) measure_ethernet "$@" ;;
    net) measure_net "$@" ;;
  esac
done
case $where in
  scale | ethernet | tasks) results=$build/bench/results_$where.json ;;
  *) results=$build/bench/results.json ;;
esac
if [ -f "$results" ]; then python3 "$root/bench/behind.py" --run "$BENCH_RUN" "$results" | tee "$build/bench/behind.txt"; fi
