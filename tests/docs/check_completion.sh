#!/usr/bin/env bash
# The completion of command lines: what bash offers, and that each option of the programs is among it.
# Usage: check_completion.sh PROJECT DIRECTORY_OF_PROGRAMS
set -euo pipefail
project=$1
programs=$2
PATH=$programs:$PATH
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
touch hello_of_mine other.c
mkdir folder
# shellcheck source=/dev/null
source "$project/examples/completion/shmemx.bash"

# offered WORD...: sets `words` to what is offered for the last word of a command line, one a line.
offered() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  local function
  function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')
  "$function" "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}" || true
  words=$(printf '%s\n' "${COMPREPLY[@]}" | sort -u)
}

# expect "WORDS" COMMAND LINE...: exactly these are offered.
expect() {
  local wanted=$1
  shift
  offered "$@"
  [ "$(xargs <<<"$words")" = "$wanted" ] || { echo "'$*': offered are '$(xargs <<<"$words")', expected '$wanted'"; exit 1; }
}

expect "--ppn" oshrun --pp
expect "--verbose --version" oshrun -n 2 --ver
expect "core" oshrun --bind-to c
expect "hydra mpirun srun" oshrun --launcher ""
expect "folder" oshrun --wdir f
expect "" oshrun -n ""
expect "" oshrun --status x
expect "hello_of_mine" oshrun -n 2 ./x hel
expect "" oshrun -n 2 ./x --ti
expect "--timeout" oshrun -n 2 ./x : --ti
expect "SHMEM_SYMMETRIC_SIZE" oshrun -x SHMEM_SYMMETRIC_S
expect "hello_of_mine" oshrun hello_of
expect "--config" shmem_info --c
expect "measuring" shmem_info --group m
expect "--target --time --to --together" shmem_perf --t
expect "put_bandwidth put_latency put_rate put_signal_latency" shmem_perf put
expect "heap static window" shmem_perf -m ""
expect "" shmem_perf -s ""
expect "--showme:libdirs --showme:libs --showme:link" oshcc --showme:l
expect "libdirs libs link" oshcc --showme : l
expect "other.c" oshc++ -c oth
expect "-static" oshCC -stat
expect "--help --version" shmemx-rma --
expect "hello_of_mine" shmemx-rma hello_of
expect "hello_of_mine" shmemx-rma mpiexec -n 4 hel
expect "" shmemx-rma mpiexec --h

# Every option that a help text names is offered.
for program in oshrun shmem_info shmem_perf shmem_trace_join; do
  offered $program -
  options=$("$programs/$program" --help | grep -vE "^  (oshrun|shmem_info|shmem_trace_join) " | sed 's/   .*//' | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' | sort -u)
  [ "$(wc -l <<<"$options")" -ge 2 ] || { echo "$program --help names too few options"; exit 1; }
  for option in $options; do
    case $option in -h) continue ;; esac
    grep -qxF -- "$option" <<<"$words" || { echo "$program: $option is not offered"; exit 1; }
    grep -qF -- "$option" "$project/examples/completion/_shmemx" || grep -qF -- "${option#--}" "$project/examples/completion/_shmemx" ||
      { echo "$program: zsh is not offered $option"; exit 1; }
  done
done

# Every help text ends in examples that call the program.
for program in "$programs"/{oshrun,shmem_info,shmem_perf,shmem_trace_join,oshcc,oshc++,oshcxx,oshCC,shmemx-rma}; do
  [ -x "$program" ] || [ "${program##*/}" = shmemx-rma ] || { echo "$program is missing"; exit 1; }
  [ ! -x "$program" ] || "$program" --help | sed '1,/^Examples:$/d' | grep -qF -- "${program##*/} " ||
    { echo "$program --help has no examples"; exit 1; }
done

echo "completion is as it should be"
