# Compiles shmemx.hpp alone, each part alone, and all headers for C++ in one, with every warning an error, also
# without exceptions. Each part alone in the first dialect only: what a part fails to include is missing in all of them,
# and where they are installed.
# cmake -DCOMPILER= -DSTANDARD= -DINCLUDE_DIR= [-DINSTALLED=ON] -P cpp_headers.cmake
cmake_minimum_required(VERSION 3.20)
function(compile)
  execute_process(COMMAND ${COMPILER} -std=${STANDARD} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror
                          -I${INCLUDE_DIR} ${ARGN} -x c++ -fsyntax-only /dev/null
                  RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${errors}")
  endif()
endfunction()
if(STANDARD STREQUAL "c++20" AND NOT INSTALLED)
  foreach(part atomics dropped_memory library symmetric team_collectives transfers waits requests pieces alltoallv)
    compile(-include shmemx/${part}.hpp)
  endforeach()
endif()
compile(-include shmemx/shmemx.hpp -fno-exceptions)
compile(-include shmemx/shmemx.hpp -include shmemx/windows.hpp -include shmemx/tasks.hpp -include shmemx/requests.hpp)
compile(-include shmemx/requests.hpp -include shmemx/tasks.hpp -include shmemx/windows.hpp -include shmemx/shmemx.hpp)
