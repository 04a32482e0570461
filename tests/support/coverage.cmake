# Every routine of the standard is called by a test that checks values: the undefined symbols of the test programs,
# taken together, hold all names of SYMBOLS. The tests call through rows that consist of all routines of a type,
# so a referenced routine is called. Needs NM, SYMBOLS (a file, one name a line), PROGRAMS (a list).
execute_process(COMMAND ${NM} -u --format=posix ${PROGRAMS} OUTPUT_VARIABLE undefined RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "nm failed on ${PROGRAMS}")
endif()
string(REGEX MATCHALL "[A-Za-z0-9_]+ U" undefined "${undefined}")
list(TRANSFORM undefined REPLACE " U$" "")
list(REMOVE_DUPLICATES undefined)
file(STRINGS ${SYMBOLS} wanted REGEX "^[a-z_]")  # not the handles, which are data
set(missing ${wanted})
list(REMOVE_ITEM missing ${undefined})
list(LENGTH wanted wanted_count)
list(LENGTH missing missing_count)
if(wanted_count LESS 1788)
  message(FATAL_ERROR "${SYMBOLS} lists ${wanted_count} routines only")
endif()
if(missing_count GREATER 0)
  list(JOIN missing "\n  " text)
  message(FATAL_ERROR "${missing_count} of ${wanted_count} routines are called by no test:\n  ${text}")
endif()
message(STATUS "all ${wanted_count} routines are called")
