# Shared by the lints: the list of files, the offences, and the end of a check.
#
# Every check takes -DPROJECT_DIR=, and -DONLY=<folder> to look at one folder.
if(NOT PROJECT_DIR)
  get_filename_component(PROJECT_DIR ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
endif()
set(offence_kinds "")

# Sets `out` to the files below the given folders that end in one of ENDINGS, relative to the project's folder.
function(list_files out)
  cmake_parse_arguments(ARG "" "" "FOLDERS;ENDINGS" ${ARGN})
  set(patterns "")
  foreach(folder IN LISTS ARG_FOLDERS)
    foreach(ending IN LISTS ARG_ENDINGS)
      list(APPEND patterns ${PROJECT_DIR}/${folder}/*.${ending})
    endforeach()
  endforeach()
  file(GLOB_RECURSE found RELATIVE ${PROJECT_DIR} ${patterns})
  if(ONLY)
    string(REGEX REPLACE "/+$" "" only "${ONLY}")
    list(FILTER found INCLUDE REGEX "^${only}(/|$)")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Records one offence of a kind; `text` names its place and what is allowed.
macro(offence kind text)
  list(APPEND offence_kinds "${kind}")
  string(APPEND offences_of_${kind} "\n  ${text}")
  math(EXPR offence_count_${kind} "0${offence_count_${kind}} + 1")
endmacro()

# Ends the check: fails if there are offences.
function(end_check check summary)
  list(REMOVE_DUPLICATES offence_kinds)
  set(failing "")
  foreach(kind IN LISTS offence_kinds)
    string(APPEND failing "\n ${kind}: ${offence_count_${kind}} found${offences_of_${kind}}")
  endforeach()
  if(failing)
    message(FATAL_ERROR "${check}:${failing}")
  endif()
  message(STATUS "${summary}")
endfunction()
