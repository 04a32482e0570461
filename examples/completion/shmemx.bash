# Completion of oshrun, shmem_info, shmem_perf, shmem_trace_join, shmemx-rma and the compiler wrappers for bash.
#
# Installed where bash-completion finds it. Without that package: source this file in ~/.bashrc.

# _shmemx_words WORDS CURRENT: offers those of WORDS that begin with CURRENT.
_shmemx_words() {
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

# Succeeds if the words before the current one already name the program, whose arguments follow.
_shmemx_oshrun_program() {
  local i word
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    case $word in
      -n | -np | --np | -x | --wdir | -wdir | --bind-to | --timeout | --host | -host | -hosts | -H | --hostfile | -hostfile | \
        -machinefile | -f | --ppn | -ppn | --launcher | --status) ((++i)) ;;
      :) ;;
      -*) ;;
      *)
        # Options again after a colon.
        while ((++i < COMP_CWORD)) && [ "${COMP_WORDS[i]}" != : ]; do :; done
        ((i < COMP_CWORD)) || return 0
        ;;
    esac
  done
  return 1
}

_shmemx_oshrun() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if _shmemx_oshrun_program; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  case $previous in
    -n | -np | --np | --ppn | -ppn | --timeout) return ;;
    --bind-to) _shmemx_words "none core socket numa" "$current" ;;
    --launcher) _shmemx_words "hydra srun mpirun" "$current" ;;
    --status) _shmemx_words "$(pgrep -x oshrun)" "$current" ;;
    --wdir | -wdir) COMPREPLY=($(compgen -d -- "$current")) ;;
    --hostfile | -hostfile | -machinefile | -f) COMPREPLY=($(compgen -f -- "$current")) ;;
    --host | -host | -hosts | -H) COMPREPLY=($(compgen -A hostname -- "$current")) ;;
    -x) COMPREPLY=($(compgen -W "$(_shmemx_variables)" -- "$current") $(compgen -e -- "$current")) ;;
    *)
      if [[ $current == -* ]]; then
        _shmemx_words "-n --np -x --wdir --bind-to --bind -l --tag-output --timeout --status --gdb --attach-on-abort -v --verbose -q --quiet --oversubscribe
          --allow-run-as-root --host --hostfile --ppn --launcher --help --version" "$current"
      else
        COMPREPLY=($(compgen -c -- "$current") $(compgen -f -- "$current"))
      fi
      ;;
  esac
}

# Prints the variables that the installed library knows.
_shmemx_variables() {
  shmem_info --config --group all 2>/dev/null | grep -oE '\bSHMEMX?_[A-Z_0-9]+' | sort -u
}

_shmemx_shmem_info() {
  if [ "${COMP_WORDS[COMP_CWORD - 1]}" = --group ]; then
    _shmemx_words "everyday network measuring tests all" "${COMP_WORDS[COMP_CWORD]}"
  else
    _shmemx_words "--json --config --group --peers --help --version" "${COMP_WORDS[COMP_CWORD]}"
  fi
}

_shmemx_shmem_trace_join() {
  local current=${COMP_WORDS[COMP_CWORD]}
  if [[ $current == -* ]]; then
    _shmemx_words "--help --version" "$current"
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}

_shmemx_shmem_perf() {
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    -m | --memory) _shmemx_words "heap static window" "$current" ;;
    --target) _shmemx_words "waits computes" "$current" ;;
    -s | --sizes | --from | --to | -i | --iterations | -w | --warm-up | -t | --time | -b | --burst) ;;
    *)
      if [[ $current == -* ]]; then
        _shmemx_words "-s --sizes --from --to --together -m --memory --target -i --iterations -w --warm-up -t --time -b --burst --json
          --csv --list --help --version" "$current"
      else
        _shmemx_words "all $(shmem_perf --list 2>/dev/null | awk '{ print $1 }')" "$current"
      fi
      ;;
  esac
}

_shmemx_oshcc() {
  local current=${COMP_WORDS[COMP_CWORD]}
  # bash splits words at colons: --showme : link
  if [[ ${COMP_WORDS[COMP_CWORD - 1]} == : || $current == : ]]; then
    [[ $current != : ]] || current=
    _shmemx_words "compile link incdirs libdirs libs command version help" "$current"
  elif [[ $current == -* ]]; then
    _shmemx_words "-static -fshmem-races -show --showme --showme:compile --showme:link --showme:incdirs --showme:libdirs --showme:libs
      --showme:command --showme:version --showme:help -compile_info -link_info -c -g -o -O2 -O3 -Wall -Wextra -I -L -l -std=c11
      -std=c++20" "$current"
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}

_shmemx_rma() {
  local current=${COMP_WORDS[COMP_CWORD]}
  if ((COMP_CWORD > 1)); then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ $current == -* ]]; then
    _shmemx_words "--help --version" "$current"
  else
    COMPREPLY=($(compgen -c -- "$current") $(compgen -f -- "$current"))
  fi
}

complete -o filenames -F _shmemx_oshrun oshrun
complete -o filenames -F _shmemx_rma shmemx-rma
complete -F _shmemx_shmem_info shmem_info
complete -o filenames -F _shmemx_shmem_trace_join shmem_trace_join
complete -F _shmemx_shmem_perf shmem_perf
complete -o filenames -F _shmemx_oshcc oshcc oshc++ oshcxx oshCC
