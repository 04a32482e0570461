# The stripped library stays small: what a program of a few lines loads. -DNM=, -DSTRIP=, -DLIBRARY=, -DSCRATCH_DIR=
set(most_bytes 3200000)

execute_process(COMMAND ${NM} ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(symbols MATCHES "_ZNSt6locale")
  message(FATAL_ERROR "the library holds the C++ library's locales, a megabyte: which file of it has begun to use streams?")
endif()

file(MAKE_DIRECTORY ${SCRATCH_DIR})
set(stripped ${SCRATCH_DIR}/stripped.so)
execute_process(COMMAND ${STRIP} -o ${stripped} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${stripped} bytes)
file(REMOVE ${stripped})
message("${bytes} bytes")
if(bytes GREATER most_bytes)
  message(FATAL_ERROR "more than ${most_bytes}: what is not on the way of an operation belongs to SHMEMX_COLD_SOURCES")
endif()
