# Compiles the public headers alone, in several orders, under hostile macros, and beside declarations of a program's own,
# with every warning an error.
# cmake -DCOMPILER= -DSTANDARD= -DLANGUAGE=c|cpp -DINCLUDE_DIR= -DSOURCE_DIR= [-DINSTALLED=ON] -P compile_headers.cmake
cmake_minimum_required(VERSION 3.20)
function(compile source)
  execute_process(
    COMMAND ${COMPILER} -std=${STANDARD} -Wall -Wextra -Wpedantic -Werror -I${INCLUDE_DIR} ${ARGN} -fsyntax-only
            ${SOURCE_DIR}/${source}.${LANGUAGE}
    RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${source}.${LANGUAGE} ${ARGN} does not compile as ${STANDARD}:\n${errors}")
  endif()
endfunction()

# C++ compiles ten times slower, so only orders with all headers, one of them inside extern "C".
set(orders SHMEM SHMEMX PSHMEM MPP MPPX PSHMEM_FIRST SHMEM_FIRST)
if(LANGUAGE STREQUAL cpp)
  set(orders SHMEM)
  if(STANDARD MATCHES "11|20")  # what the headers of the other order declare is the same in the standards between
    list(APPEND orders PSHMEM PSHMEM_FIRST)
    compile(headers_alone -DORDER_SHMEM_FIRST -DIN_EXTERN_C)
  endif()
endif()
foreach(order IN LISTS orders)
  compile(headers_alone -DORDER_${order})
endforeach()
compile(hostile_macros)
if(LANGUAGE STREQUAL c OR STANDARD MATCHES "11|20")
  compile(constants_test)
  compile(redeclared)
  compile(redeclared -DDECLARED_FIRST)
endif()

# The installed shmem.h is another one: it declares all routines, and all generics accept the same calls.
if(INSTALLED AND STANDARD MATCHES "^c(11|2x|[+][+]11)$")
  compile(generics_test -Wno-unused-parameter)
  if(LANGUAGE STREQUAL c)
    compile(flat_types)
  endif()
endif()
