# Compares the macros that are defined after the headers with those that the C and C++ headers below them define anyway.
# Only names of the standard and of the extensions, the generics with their helpers, and include guards may remain.
# cmake -DCOMPILER= -DSTANDARD= -DLANGUAGE=c|c++ -DINCLUDE_DIR= -P macro_leak.cmake
cmake_minimum_required(VERSION 3.20)
set(below "#include <stddef.h>\n#include <stdint.h>\n")
if(LANGUAGE STREQUAL c++)
  string(APPEND below "#include <complex>\n")
endif()

# Sets `out` to the sorted names of all macros after the text has been preprocessed.
function(macros_after text out)
  string(MD5 folder ${INCLUDE_DIR})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/macro_leak_${STANDARD}_${folder}.txt)
  file(WRITE ${file} "${text}")
  execute_process(COMMAND ${COMPILER} -std=${STANDARD} -I${INCLUDE_DIR} -dM -E -x ${LANGUAGE} ${file}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  file(REMOVE ${file})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "preprocessing failed:\n${errors}")
  endif()
  string(REGEX MATCHALL "#define [A-Za-z_0-9]+" names "${output}")
  list(TRANSFORM names REPLACE "#define " "")
  set(${out} ${names} PARENT_SCOPE)
endfunction()

macros_after("${below}" before)
macros_after("${below}#include <shmem.h>\n#include <pshmem.h>\n#include <shmemx.h>\n" after)
list(REMOVE_ITEM after ${before})
list(LENGTH after count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} macros seen; the constants alone are more, so this test sees nothing")
endif()

set(allowed "^(_?SHMEM_[A-Z_]+|P?SHMEMX?_H|SHMEMX_[A-Z_]+_H|SHMEMX_HANDLE|SHMEMX_VERSION")
# Of the extensions: wildcards, limits and empty handles.
string(APPEND allowed "|SHMEMX_(ANY_SOURCE|ANY_TAG|TAG_MAX|ERR_TRUNCATE|REQUEST_NULL|WINDOW_INVALID)")
# A function of Cray's that has the name of one of ours.
if(LANGUAGE STREQUAL "c")
  string(APPEND allowed "|SHMEMX_ALLTOALLV_OF|shmemx_alltoallv")
endif()
if(STANDARD MATCHES "^c(11|17|2x)$")
  string(APPEND allowed "|SHMEMX_G_[A-Z0-9_]+|shmem_[a-z_]+")
endif()
list(FILTER after EXCLUDE REGEX "${allowed})$")
if(after)
  list(JOIN after " " after)
  message(FATAL_ERROR "macros that leak from the public headers: ${after}")
endif()
