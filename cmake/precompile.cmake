# How the build is made faster.
#
# With SHMEMX_PRECOMPILE, headers that many files of a kind include are compiled once for them. Off by default where a
# compiler cache is used, which gains more, and in the dev preset, so that files are seen to compile without.
set(shmemx_precompile_default ON)
if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT PROJECT_IS_TOP_LEVEL)
  set(shmemx_precompile_default OFF)
endif()
option(SHMEMX_PRECOMPILE "Compile common headers once" ${shmemx_precompile_default})

# The headers of the C++ library that the layers use.
set(SHMEMX_COMMON_HEADERS <algorithm> <array> <atomic> <cerrno> <chrono> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <deque>
  <functional> <memory> <mutex> <new> <optional> <span> <string> <string_view> <type_traits> <utility> <vector>)

# shmemx_precompile(<target> HEADERS <header>...) compiles them for this target; shmemx_precompile(<target> FROM <other>)
# uses what another target has, which must have the same options of the compiler.
function(shmemx_precompile target)
  cmake_parse_arguments(ARG "" "FROM" "HEADERS" ${ARGN})
  # A target with C files would look for a precompiled header of C as well. Said here, it fails with a compiler cache too.
  get_target_property(sources ${target} SOURCES)
  if(ARG_FROM AND "${sources}" MATCHES "\\.c(;|$)")
    message(FATAL_ERROR "${target} uses precompiled headers of C++: give its C files a target of their own")
  endif()
  if(NOT SHMEMX_PRECOMPILE OR target STREQUAL "${ARG_FROM}")
    return()
  elseif(ARG_FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARG_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
  endif()
  # In precompiled headers GCC 12 warns of std::string's own copies (its bug 105651). Other builds keep these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

# With SHMEMX_UNITY, as in the presets with sanitizers, the files of a target are compiled in batches: what they share is
# instrumented once. The release preset compiles each file of the library alone, so that names of one file are not seen in
# another, and files of tests (TESTS) in batches where SHMEMX_PRECOMPILE is on: most of their time are Boost.Test's templates.
option(SHMEMX_UNITY "Compile the library's files in batches" OFF)
# shmemx_unity(<target> [TESTS])
function(shmemx_unity target)
  cmake_parse_arguments(ARG "TESTS" "" "" ${ARGN})
  set(is_on ${SHMEMX_UNITY})
  if(ARG_TESTS AND SHMEMX_PRECOMPILE)
    set(is_on ON)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${is_on} UNITY_BUILD_BATCH_SIZE 10)
endfunction()
