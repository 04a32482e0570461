# shmemx_transport_plugin(<name> INCLUDE <folder of the network's headers> [LIBRARIES <library>...]): libshmemx_<name>.so of the
# sources in transport/<name>, which exports its entry only.
function(shmemx_transport_plugin name)
  cmake_parse_arguments(ARG "" "INCLUDE" "LIBRARIES" ${ARGN})
  set(target shmemx_${name})
  set(folder ${PROJECT_SOURCE_DIR}/transport)
  set(base ${PROJECT_SOURCE_DIR}/src/base)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/${name}/*.cpp)
  add_library(${target} MODULE ${sources} ${base}/bulk_copy.cpp ${base}/contact_table.cpp $<TARGET_OBJECTS:shmemx_transport_common>)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LINK_DEPENDS ${folder}/plugin.map)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${ARG_INCLUDE})
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic)
  # GCC 12 warns of std::string's own operator+ when it is inlined (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  shmemx_precompile(${target} FROM shmemx_base)
  shmemx_unity(${target})
  # Tests of a plug-in's parts link these from elsewhere.
  set_source_files_properties(${base}/bulk_copy.cpp ${base}/contact_table.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,-z,now -Wl,-z,nodelete -Wl,--version-script=${folder}/plugin.map)
  if(NOT SHMEMX_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,--no-undefined)
  endif()
  install(TARGETS ${target} COMPONENT ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shmemx)
endfunction()
