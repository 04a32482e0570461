#!/bin/sh
# The compiler wrappers: flags, relocation, quoting. Compiling against the library itself is for the tests of the installed tree.
set -u
bin=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
has() { case $1 in *"$2"*) ;; *) fail "'$1' lacks '$2'" ;; esac; }
lacks() { case $1 in *"$2"*) fail "'$1' holds '$2'" ;; esac; }

for wrapper in oshcc oshc++ oshcxx oshCC; do
  line=$("$bin/$wrapper" -show a.c -o a) || fail "$wrapper -show"
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
  [ -f "$("$bin/$wrapper" --showme:incdirs)/shmem.h" ] || fail "$wrapper --showme:incdirs has no shmem.h"
  [ "$("$bin/$wrapper" --showme:libs)" = shmemx ] || fail "$wrapper --showme:libs"
  has "$("$bin/$wrapper" -static -show a.c)" /libshmemx.a
  lacks "$("$bin/$wrapper" -static -show a.c)" -lshmemx
  "$bin/$wrapper" --showme:nonsense 2>/dev/null && fail "$wrapper takes --showme:nonsense"
  "$bin/$wrapper" --version >/dev/null 2>&1 || fail "$wrapper --version links"
done

[ "$(SHMEMX_CC=my-cc "$bin/oshcc" --showme:command)" = my-cc ] || fail "SHMEMX_CC is not heeded"
[ "$(SHMEMX_CXX=my-c++ "$bin/oshCC" --showme:command)" = my-c++ ] || fail "SHMEMX_CXX is not heeded"

# What the compiler gets is what the user typed.
printf '#!/bin/sh\nfor w do printf "<%%s>" "$w"; done\n' >"$dir/echo-cc"
chmod +x "$dir/echo-cc"
words=$(SHMEMX_CC="$dir/echo-cc" "$bin/oshcc" '-DX="a b"' -c "it's.c")
has "$words" '<-DX="a b"><-c><it'\''s.c>'
again=$(eval "set -- $("$bin/oshcc" -show '-DX="a b"' "it's.c" -c)"; printf '<%s>' "$@")
has "$again" '<-DX="a b"><it'\''s.c><-c>'

# Moved elsewhere it finds its own tree, also through a link.
mkdir -p "$dir/prefix/bin" "$dir/links"
cp "$bin/oshcc" "$dir/prefix/bin/"
ln -s "$dir/prefix/bin/oshcc" "$dir/links/oshcc"
for place in prefix/bin links; do
  [ "$("$dir/$place/oshcc" --showme:incdirs)" = "$(readlink -f "$dir")/prefix/include" ] || fail "include directory of a moved oshcc"
  has "$("$dir/$place/oshcc" --showme:link)" "$(readlink -f "$dir")/prefix/lib"
done

# A compilation that needs no library.
printf '#include <shmem.h>\nint answer(void) { return SHMEM_MAJOR_VERSION; }\n' >"$dir/a.c"
(cd "$dir" && "$bin/oshcc" -c a.c -o a.o) || fail "oshcc -c"
[ -s "$dir/a.o" ] || fail "oshcc -c made no object"
exit 0
