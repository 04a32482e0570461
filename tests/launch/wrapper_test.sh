#!/bin/sh
# The compiler wrappers: flags, relocation, quoting. Compiling against the library itself is for the tests of the installed tree.
set -u
bin=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
has() { case $1 in *"$2"*) ;; *) fail "'$1' lacks '$2'" ;; esac; }
lacks() { case $1 in *"$2"*) fail "'$1' holds '$2'" ;; esac; }

# What a shell reads from a printed command line: its words, each between < and >.
words_of() { (eval "set -- $1"; printf '<%s>' "$@"); }

for wrapper in oshcc oshc++ oshcxx oshCC; do
  line=$("$bin/$wrapper" -show a.c -o a) || fail "$wrapper -show"
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
  [ -f "$include_dir/shmem.h" ] || fail "$wrapper --showme:incdirs has no shmem.h"
  [ "$("$bin/$wrapper" --showme:libs)" = shmemx ] || fail "$wrapper --showme:libs"
  has "$("$bin/$wrapper" -static -show a.c)" /libshmemx.a
  lacks "$("$bin/$wrapper" -static -show a.c)" -lshmemx
  for what in compile link incdirs libdirs libs command version help; do
    [ "$("$bin/$wrapper" -showme:$what)" = "$("$bin/$wrapper" --showme:$what)" ] || fail "$wrapper -showme:$what"
  done
  for option in --showme:nonsense -showme:nonsense; do
    "$bin/$wrapper" $option 2>"$dir/err" && fail "$wrapper takes $option"
    has "$(cat "$dir/err")" "see $wrapper --showme:help"
  done
  "$bin/$wrapper" --version >/dev/null 2>&1 || fail "$wrapper --version links"
done

[ "$(SHMEMX_CC=my-cc "$bin/oshcc" --showme:command)" = my-cc ] || fail "SHMEMX_CC is not heeded"
[ "$(SHMEMX_CXX=my-c++ "$bin/oshCC" --showme:command)" = my-c++ ] || fail "SHMEMX_CXX is not heeded"

# What the compiler gets is what the user typed.
printf '#!/bin/sh\nfor w do printf "<%%s>" "$w"; done\n' >"$dir/echo-cc"
chmod +x "$dir/echo-cc"
words=$(SHMEMX_CC="$dir/echo-cc" "$bin/oshcc" '-DX="a b"' -c "it's.c")
has "$words" '<-DX="a b"><-c><it'\''s.c>'
again=$(words_of "$("$bin/oshcc" -show '-DX="a b"' "it's.c" -c)")
has "$again" '<-DX="a b"><it'\''s.c><-c>'

# A compiler with options is several words, one whose path holds spaces is one.
again=$(words_of "$(SHMEMX_CC='gcc -O3' "$bin/oshcc" -show a.c)")
has "$again" '<gcc><-O3><-I'
mkdir "$dir/a compiler"
cp "$dir/echo-cc" "$dir/a compiler/"
words=$(SHMEMX_CC="$dir/a compiler/echo-cc" "$bin/oshcc" -c a.c) || fail "a compiler with a space in its path is not found"
has "$words" '<-c><a.c>'
again=$(words_of "$(SHMEMX_CC="$dir/a compiler/echo-cc" "$bin/oshcc" -show a.c)")
has "$again" "<$dir/a compiler/echo-cc><-I"
words=$(SHMEMX_CC="$dir/echo-cc -O3" "$bin/oshcc" -c a.c)
case $words in "<-O3><-I"*) ;; *) fail "SHMEMX_CC with an option calls the compiler with $words" ;; esac

# Moved elsewhere it finds its own tree, also through a link.
prefix="$(readlink -f "$dir")/a préfix"
mkdir -p "$prefix/bin" "$dir/links"
cp "$bin/oshcc" "$prefix/bin/"
ln -s "$prefix/bin/oshcc" "$dir/links/oshcc"
for place in "$prefix/bin" "$dir/links"; do
  [ "$(words_of "$("$place/oshcc" --showme:incdirs)")" = "<$prefix/include>" ] || fail "include directory of a moved oshcc"
  has "$(words_of "$("$place/oshcc" --showme:link)")" "<-L$prefix/lib"
done

# A compilation that needs no library.
printf '#include <shmem.h>\nint answer(void) { return SHMEM_MAJOR_VERSION; }\n' >"$dir/a.c"
(cd "$dir" && "$bin/oshcc" -c a.c -o a.o) || fail "oshcc -c"
[ -s "$dir/a.o" ] || fail "oshcc -c made no object"
exit 0
