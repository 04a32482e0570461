# shmemx_transport_plugin(<name> INCLUDE <folder of the network's headers> [LIBRARIES <library>...]): libshmemx_<name>.so of the
# sources in transport/<name>, which exports its entry only.
function(shmemx_transport_plugin name)
  cmake_parse_arguments(ARG "" "INCLUDE" "LIBRARIES" ${ARGN})
  set(target shmemx_${name})
  set(folder ${PROJECT_SOURCE_DIR}/transport)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/${name}/*.cpp)
  add_library(${target} MODULE ${sources} ${folder}/transport.cpp ${folder}/keyed_hash.cpp)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LINK_DEPENDS ${folder}/plugin.map)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${ARG_INCLUDE})
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic)
  # GCC 12 warns of std::string's own operator+ when it is inlined (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,-z,now -Wl,-z,nodelete -Wl,--version-script=${folder}/plugin.map)
  if(NOT SHMEMX_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,--no-undefined)
  endif()
  install(TARGETS ${target} COMPONENT ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/shmemx)
endfunction()
