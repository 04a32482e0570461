# Checks one model with Spin.
# cmake -DSPIN= -DCC= -DMODEL= -DFOLDER= -DDEFINES="-DX=1;-DY" -DEXPECT=holds|caught -P check.cmake
# holds: the whole state space was searched and no error found. caught: an error was found.
cmake_minimum_required(VERSION 3.20)
if(NOT SPIN)
  message(STATUS "SKIPPED: spin is not installed")
  return()
endif()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${SPIN} -a ${DEFINES} ${MODEL})
# A seeded error is found before a better optimised checker would have been compiled.
set(optimise -O1)
if(EXPECT STREQUAL "caught")
  set(optimise -O0)
endif()
run(${CC} ${optimise} -w -DSAFETY -DCOLLAPSE -DNOFAIR -DMEMLIM=1024 -o pan pan.c)
run(./pan -m20000 -n)
if(NOT output MATCHES "errors: ([0-9]+)")
  message(FATAL_ERROR "the checker says nothing:\n${output}")
endif()
set(errors ${CMAKE_MATCH_1})
string(REGEX MATCH "[0-9]+ states, stored" states "${output}")

if(EXPECT STREQUAL "holds")
  if(NOT errors EQUAL 0)
    file(GLOB trail_file ${FOLDER}/*.trail)
    execute_process(COMMAND ${SPIN} -t -p -k ${trail_file} ${DEFINES} ${MODEL} WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE trail
                    ERROR_VARIABLE trail)
    message(FATAL_ERROR "an error was found:\n${output}\n${trail}")
  endif()
  if(output MATCHES "Search not completed|max search depth too small|out of memory|memory limit")
    message(FATAL_ERROR "the search is not complete:\n${output}")
  endif()
  message(STATUS "holds in all of ${states}")
elseif(errors EQUAL 0)
  message(FATAL_ERROR "the seeded error was not found:\n${output}")
else()
  string(REGEX MATCH "pan:1: [^\n]*" what "${output}")
  message(STATUS "caught: ${what}")
endif()
