#!/bin/sh
# wrapper_test.sh BIN: the compiler wrappers: flags, relocation, quoting. Tests of the installed tree compile and link.
. "$(dirname "$0")/../support/script.sh"
bin=$1
has() { case $1 in *"$2"*) ;; *) die "'$1' lacks '$2'" ;; esac; }
lacks() { case $1 in *"$2"*) die "'$1' holds '$2'" ;; esac; }

# Prints the words that a shell reads from a printed command line, each between < and >.
words_of() { (eval "set -- $1"; printf '<%s>' "$@"); }

for wrapper in oshcc oshc++ oshcxx oshCC; do
  line=$("$bin/$wrapper" -show a.c -o a) || die "$wrapper -show"
  line=$(words_of "$line")
  has "$line" -lshmemx
  has "$line" "-Wl,-rpath,$(dirname "$(readlink -f "$bin")")/lib"
  for option in -c -S -E; do
    line=$("$bin/$wrapper" --showme $option a.c)
    lacks "$line" -lshmemx
    lacks "$line" rpath
    has "$line" -I
  done
  has "$("$bin/$wrapper" --showme:link)" -lshmemx
  has "$("$bin/$wrapper" --showme:compile)" -I
  include_dir=$(eval "printf %s $("$bin/$wrapper" --showme:incdirs)")
  [ -f "$include_dir/shmem.h" ] || die "$wrapper --showme:incdirs has no shmem.h"
  [ "$("$bin/$wrapper" --showme:libs)" = shmemx ] || die "$wrapper --showme:libs"
  has "$("$bin/$wrapper" -static -show a.c)" /libshmemx.a
  lacks "$("$bin/$wrapper" -static -show a.c)" -lshmemx
  for what in compile link incdirs libdirs libs command version help; do
    [ "$("$bin/$wrapper" -showme:$what)" = "$("$bin/$wrapper" --showme:$what)" ] || die "$wrapper -showme:$what"
  done
  has "$("$bin/$wrapper" -compile_info)" -I
  lacks "$("$bin/$wrapper" -compile_info a.c)" -lshmemx
  for option in -link_info -link-info; do
    line=$(words_of "$("$bin/$wrapper" $option)")
    has "$line" -lshmemx
    case $line in "<$("$bin/$wrapper" --showme:command)>"*) ;; *) die "$wrapper $option does not begin with the compiler: $line" ;; esac
  done
  for option in --showme:nonsense -showme:nonsense; do
    "$bin/$wrapper" $option 2>err && die "$wrapper takes $option"
    has "$(cat err)" "see $wrapper --showme:help"
  done
  "$bin/$wrapper" --version >/dev/null 2>&1 || die "$wrapper --version links"
done

[ "$(SHMEMX_CC=my-cc "$bin/oshcc" --showme:command)" = my-cc ] || die "SHMEMX_CC is ignored"
[ "$(SHMEMX_CXX=my-c++ "$bin/oshCC" --showme:command)" = my-c++ ] || die "SHMEMX_CXX is ignored"

# The compiler gets the arguments as the user typed them.
printf '#!/bin/sh\nfor w do printf "<%%s>" "$w"; done\n' >"$dir/echo-cc"
chmod +x "$dir/echo-cc"
words=$(SHMEMX_CC="$dir/echo-cc" "$bin/oshcc" '-DX="a b"' -c "it's.c")
has "$words" '<-DX="a b"><-c><it'\''s.c>'
again=$(words_of "$("$bin/oshcc" -show '-DX="a b"' "it's.c" -c)")
has "$again" '<-DX="a b"><it'\''s.c><-c>'

# C++ that the C compiler cannot link.
printf '#!/bin/sh\nexit 3\n' >"$dir/failing-cc"
chmod +x "$dir/failing-cc"
SHMEMX_CC="$dir/failing-cc" "$bin/oshcc" a.cpp 2>err
[ $? = 3 ] || die "the compiler's status is lost"
has "$(cat err)" "a.cpp is C++, whose library this compiler does not link; use oshc++"
SHMEMX_CC="$dir/failing-cc" "$bin/oshcc" a.c 2>err
[ -s err ] && die "a note on C: $(cat err)"

# SHMEMX_CC may hold options, or a path with spaces.
again=$(words_of "$(SHMEMX_CC='gcc -O3' "$bin/oshcc" -show a.c)")
has "$again" '<gcc><-O3><-I'
mkdir "$dir/a compiler"
cp "$dir/echo-cc" "$dir/a compiler/"
words=$(SHMEMX_CC="$dir/a compiler/echo-cc" "$bin/oshcc" -c a.c) || die "a compiler with a space in its path is not found"
has "$words" '<-c><a.c>'
again=$(words_of "$(SHMEMX_CC="$dir/a compiler/echo-cc" "$bin/oshcc" -show a.c)")
has "$again" "<$dir/a compiler/echo-cc><-I"
words=$(SHMEMX_CC="$dir/echo-cc -O3" "$bin/oshcc" -c a.c)
case $words in "<-O3><-I"*) ;; *) die "SHMEMX_CC with an option calls the compiler with $words" ;; esac

# Other names of the library are found before a library of that name in the user's directories.
words=$(SHMEMX_CC="$dir/echo-cc" "$bin/oshcc" a.c -L/their/lib -loshmem)
case $words in *"/shmemx/other-names><a.c><-L/their/lib>"*) ;; *) die "oshcc searches the user's directories first: $words" ;; esac
names=$(dirname "$(readlink -f "$bin")")/lib/shmemx/other-names
for name in sma oshmem; do
  for suffix in so a; do
    [ "$names/lib$name.$suffix" -ef "$names/../../libshmemx.$suffix" ] || die "lib$name.$suffix does not lead to libshmemx.$suffix"
  done
done

# A wrapper in a moved tree finds that tree, also through a symbolic link.
prefix="$(readlink -f "$dir")/a préfix"
mkdir -p "$prefix/bin" "$dir/links"
cp "$bin/oshcc" "$prefix/bin/"
ln -s "$prefix/bin/oshcc" "$dir/links/oshcc"
for place in "$prefix/bin" "$dir/links"; do
  [ "$(words_of "$("$place/oshcc" --showme:incdirs)")" = "<$prefix/include>" ] || die "include directory of a moved oshcc"
  has "$(words_of "$("$place/oshcc" --showme:link)")" "<-L$prefix/lib"
done

# A compilation that needs no library.
printf '#include <shmem.h>\nint answer(void) { return SHMEM_MAJOR_VERSION; }\n' >"$dir/a.c"
(cd "$dir" && "$bin/oshcc" -c a.c -o a.o) || die "oshcc -c"
[ -s "$dir/a.o" ] || die "oshcc -c made no object"
exit 0
