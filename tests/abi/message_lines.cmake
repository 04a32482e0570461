# What a compiler says on an argument of a wrong type is shorter with the installed header, and mentions no macro.
# cmake -DCOMPILER= -DINCLUDE_DIR= -DINSTALLED_DIR= -P message_lines.cmake
cmake_minimum_required(VERSION 3.20)
set(file ${CMAKE_CURRENT_BINARY_DIR}/message_lines.c)
file(WRITE ${file} "#include <shmem.h>\nstatic long x;\nint main(void) {\n  shmem_long_p(&x, \"a\", 1);\n  return 0;\n}\n")

function(message_of folder out_text out_lines)
  execute_process(COMMAND ${COMPILER} -std=c11 -I${folder} -fsyntax-only ${file} ERROR_VARIABLE text RESULT_VARIABLE result)
  string(REGEX MATCHALL "\n" lines "${text}")
  list(LENGTH lines count)
  set(${out_text} "${text}" PARENT_SCOPE)
  set(${out_lines} ${count} PARENT_SCOPE)
endfunction()

message_of(${INCLUDE_DIR} text lines)
message_of(${INSTALLED_DIR} installed_text installed_lines)
file(REMOVE ${file})
message(STATUS "${lines} lines with the headers of the source tree, ${installed_lines} with the installed ones")
if(installed_lines EQUAL 0 OR NOT installed_lines LESS lines OR installed_text MATCHES "macro|SHMEMX_(DECLARE|RMA)")
  message(FATAL_ERROR "the message with the installed headers is:\n${installed_text}")
endif()
