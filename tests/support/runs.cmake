# How test programs are built and run as jobs. Every list below tests/ uses these functions.

# The tests are large and seldom run long: optimised lightly, and not at all where instrumentation makes that expensive.
function(shmemx_test_options target)
  set(optimise -O1)
  if(SHMEMX_SANITIZE)
    set(optimise -O0)
  endif()
  target_compile_options(${target} PRIVATE ${optimise} -g1 -Wall -Wextra -Wno-deprecated-declarations -Wno-conversion -Wno-shadow)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bin)
endfunction()

if(SHMEMX_SANITIZE)
  set(SHMEMX_PE_COUNTS 3)  # instrumented programs are slow and large
  set(SHMEMX_TEST_ENVIRONMENT SHMEMX_TEST_SECONDS=0.05)
else()
  set(SHMEMX_PE_COUNTS 1 2 3 8)
  set(SHMEMX_TEST_ENVIRONMENT)
endif()

# The profiling names are second symbols of the same routines, so their cases run on mapped memory only.
set(SHMEMX_TEST_ROUTINES_ONCE SHMEMX_TEST_WITHOUT=profiling_names)

# shmemx_uses_open_mpi(<test>...): one at a time. All jobs of Open MPI on a host share a folder in /tmp, and one that starts while
# another one ends may find it removed.
function(shmemx_uses_open_mpi)
  set_property(TEST ${ARGN} APPEND PROPERTY RESOURCE_LOCK open_mpi)
endfunction()

# Sets `out` to the area of a program: pe_coll_move is coll.move.
function(shmemx_area_of program out)
  string(REGEX REPLACE "^pe_" "" area ${program})
  string(REPLACE "_" "." area ${area})
  set(${out} ${area} PARENT_SCOPE)
endfunction()

# Adds the test `name`: `program` on PEs, with a leak check.
# shmemx_add_run(<name> <program> <PEs> <timeout> <label> [arguments...] [VARIABLES NAME=value...])
function(shmemx_add_run name program pes timeout label)
  cmake_parse_arguments(ARG "" "" "VARIABLES" ${ARGN})
  math(EXPR outer "${timeout} + 15")
  add_test(NAME ${name} COMMAND leak_check ${SHMEMX_OSHRUN} -n ${pes} --timeout ${timeout} $<TARGET_FILE:${program}>
                                ${ARG_UNPARSED_ARGUMENTS})
  set(variables ${SHMEMX_TEST_ENVIRONMENT} ${ARG_VARIABLES})
  if("${ARG_VARIABLES}" MATCHES "SHMEMX_(NODE_PATH|PES_PER_NODE|TRANSPORT)=")
    list(APPEND variables ${SHMEMX_TEST_ROUTINES_ONCE})
  endif()
  set(processors 4)
  if(pes EQUAL 1)
    set(processors 2)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${outer} PROCESSORS ${processors}
                                          ENVIRONMENT "${variables}")
endfunction()

# Adds the test pe<N>.<area of the program>.<variant>.
# shmemx_add_variant(<variant> <program> <PEs> <timeout> <label> [arguments...] [VARIABLES NAME=value...])
function(shmemx_add_variant variant program pes timeout label)
  shmemx_area_of(${program} area)
  shmemx_add_run(pe${pes}.${area}.${variant} ${program} ${pes} ${timeout} ${label} ${ARGN})
endfunction()

# Adds the test `name`: a job in which system calls are forbidden; skipped if the machine does not allow that.
# shmemx_add_forbidden(<name> <calls> <PEs> <program> [arguments...] [VARIABLES NAME=value...])
function(shmemx_add_forbidden name calls pes program)
  cmake_parse_arguments(ARG "" "" "VARIABLES" ${ARGN})
  add_test(NAME ${name} COMMAND forbid ${calls} ${SHMEMX_OSHRUN} -n ${pes} --timeout 90 $<TARGET_FILE:${program}>
                                ${ARG_UNPARSED_ARGUMENTS})
  set(variables ${SHMEMX_TEST_ENVIRONMENT} ${ARG_VARIABLES})
  set_tests_properties(${name} PROPERTIES LABELS pe TIMEOUT 105 PROCESSORS 4 SKIP_RETURN_CODE 77 ENVIRONMENT "${variables}")
endfunction()

# Builds pe_<area> and adds pe<N>.<area> for each number of PEs. ThreadSanitizer cannot check PEs of one thread that use
# mapped memory, so there only programs with threads run; the others run on paths that have a progress thread.
# SERIAL: these tests run alone.
# shmemx_add_pe_program(<area> [MAIN <object library>] [LEVEL pe|stress] [TIMEOUT s] [SERIAL] [COUNTS n...] SOURCES <file>...)
function(shmemx_add_pe_program area)
  cmake_parse_arguments(ARG "SERIAL" "MAIN;LEVEL;TIMEOUT" "COUNTS;SOURCES" ${ARGN})
  if(NOT ARG_MAIN)
    set(ARG_MAIN pe_main)
  endif()
  if(NOT ARG_LEVEL)
    set(ARG_LEVEL pe)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 90)
  endif()
  if(NOT ARG_COUNTS OR SHMEMX_SANITIZE)
    set(ARG_COUNTS ${SHMEMX_PE_COUNTS})
  endif()
  string(REPLACE "." "_" program pe_${area})
  add_executable(${program} ${ARG_SOURCES} $<TARGET_OBJECTS:${ARG_MAIN}> $<TARGET_OBJECTS:pe_test_harness>)
  target_link_libraries(${program} PRIVATE shmemx::shmemx Threads::Threads)
  shmemx_test_options(${program})
  shmemx_precompile(${program} FROM pe_test_harness)
  if(NOT SHMEMX_SANITIZE STREQUAL "thread" OR ARG_MAIN STREQUAL "pe_thread_main")
    foreach(pes IN LISTS ARG_COUNTS)
      shmemx_add_run(pe${pes}.${area} ${program} ${pes} ${ARG_TIMEOUT} ${ARG_LEVEL})
      set_tests_properties(pe${pes}.${area} PROPERTIES RUN_SERIAL ${ARG_SERIAL})
    endforeach()
  endif()
  set(SHMEMX_PE_PROGRAMS ${SHMEMX_PE_PROGRAMS} ${program} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY SHMEMX_CALLING_PROGRAMS ${program})
endfunction()
