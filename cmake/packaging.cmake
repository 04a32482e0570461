# What an installed tree holds besides the library, the programs and the headers, and the .deb made
# from it. Included last by the top CMakeLists.txt.
#
# Needs: GNUInstallDirs; install(TARGETS ... EXPORT shmemxTargets) for the targets shmemx and shmemx_static.

include(CMakePackageConfigHelpers)

# --- Headers ------------------------------------------------------------------------------------
# The same declarations as in the source tree, but shmem.h has one plain prototype for each routine. The library itself
# is built with the headers of the source tree.
if(SHMEMX_MANUAL_DIR)
  install(DIRECTORY ${SHMEMX_MANUAL_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT shmemx_development)
else()
  install(DIRECTORY ${SHMEMX_PUBLIC_HEADERS_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT shmemx_development)
endif()

# --- CMake package ------------------------------------------------------------------------------
set(SHMEMX_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/shmemx)
install(EXPORT shmemxTargets NAMESPACE shmemx:: DESTINATION ${SHMEMX_INSTALL_CMAKEDIR} COMPONENT shmemx_development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shmemxConfig.cmake.in
  ${CMAKE_BINARY_DIR}/shmemxConfig.cmake
  INSTALL_DESTINATION ${SHMEMX_INSTALL_CMAKEDIR}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/shmemxConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/shmemxConfig.cmake ${CMAKE_BINARY_DIR}/shmemxConfigVersion.cmake
  DESTINATION ${SHMEMX_INSTALL_CMAKEDIR} COMPONENT shmemx_development)

# find_package(OpenSHMEM): the same under the standard's name.
foreach(file OpenSHMEMConfig OpenSHMEMConfigVersion)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}.cmake ${CMAKE_BINARY_DIR}/${file}.cmake COPYONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${file}.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/OpenSHMEM COMPONENT shmemx_development)
endforeach()

# --- pkg-config ---------------------------------------------------------------------------------
# The archive needs the C++ runtime; a C program that links it must name it.
set(SHMEMX_STATIC_LIBS "-lstdc++ -lm -lpthread -ldl -lrt")
if(SHMEMX_WRAPPER_STATIC_LIBS)
  set(SHMEMX_STATIC_LIBS "${SHMEMX_WRAPPER_STATIC_LIBS}")  # the same as oshcc -static
endif()
set(SHMEMX_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SHMEMX_PC_TO_PREFIX /prefix/${SHMEMX_PC_DIR} /prefix)
string(REGEX REPLACE "/$" "" SHMEMX_PC_TO_PREFIX "${SHMEMX_PC_TO_PREFIX}")
# Under the names of other OpenSHMEM libraries, too, if wanted. Open MPI, for example, has an oshmem.pc.
option(SHMEMX_INSTALL_OTHER_PC "Install oshmem.pc and sma.pc beside shmemx.pc" OFF)
foreach(SHMEMX_PC_NAME shmemx oshmem sma)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/shmemx.pc.in ${CMAKE_BINARY_DIR}/${SHMEMX_PC_NAME}.pc @ONLY)
  if(SHMEMX_PC_NAME STREQUAL "shmemx" OR SHMEMX_INSTALL_OTHER_PC)
    install(FILES ${CMAKE_BINARY_DIR}/${SHMEMX_PC_NAME}.pc DESTINATION ${SHMEMX_PC_DIR} COMPONENT shmemx_development)
  endif()
endforeach()

# --- -lsma and -loshmem -------------------------------------------------------------------------
# Links in a folder of their own, which the compiler wrappers search first: beside libshmemx they would hide, or be, the
# libraries of others.
set(SHMEMX_NAMES_DIR shmemx/other-names)
foreach(name sma oshmem)
  file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${SHMEMX_NAMES_DIR})
  foreach(suffix so a)
    file(CREATE_LINK ../../libshmemx.${suffix} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${SHMEMX_NAMES_DIR}/lib${name}.${suffix} SYMBOLIC)
  endforeach()
endforeach()
install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${SHMEMX_NAMES_DIR}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/${SHMEMX_NAMES_DIR}
  COMPONENT shmemx_development)

# --- Documents ----------------------------------------------------------------------------------
# With the folders of the source tree, so that the README's links hold.
set(SHMEMX_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/shmemx)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
              ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${SHMEMX_DOCDIR} COMPONENT shmemx_doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${SHMEMX_DOCDIR} COMPONENT shmemx_doc PATTERN man EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${SHMEMX_DOCDIR} COMPONENT shmemx_doc
  FILES_MATCHING PATTERN *.c PATTERN *.f90 PATTERN *.rs PATTERN *.py PATTERN *.cpp PATTERN *.hpp PATTERN tutorial/Makefile PATTERN tutorial/CMakeLists.txt)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/oshrun.1 ${PROJECT_SOURCE_DIR}/docs/man/shmem_info.1
              ${PROJECT_SOURCE_DIR}/docs/man/shmem_trace_join.1
              ${PROJECT_SOURCE_DIR}/docs/man/shmem_perf.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT shmemx_tools)
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/shmemx-gdb.py DESTINATION share/shmemx COMPONENT shmemx_tools)  # oshrun looks in ../share
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/stats_matrix.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/shmemx
  COMPONENT shmemx_tools)
foreach(wrapper oshcc oshc++ oshcxx oshCC)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/${wrapper}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT shmemx_development)
endforeach()

if(SHMEMX_MANUAL_DIR)
  install(DIRECTORY ${SHMEMX_MANUAL_DIR}/man3 ${SHMEMX_MANUAL_DIR}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR}
    COMPONENT shmemx_development)
  install(DIRECTORY ${SHMEMX_MANUAL_DIR}/html DESTINATION ${SHMEMX_DOCDIR} COMPONENT shmemx_doc)
endif()

# --- Completion in shells -----------------------------------------------------------------------
set(SHMEMX_BASH_COMPLETION ${PROJECT_SOURCE_DIR}/examples/completion/shmemx.bash)
foreach(program oshrun shmem_info shmem_perf shmem_trace_join)
  install(FILES ${SHMEMX_BASH_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program}
    COMPONENT shmemx_tools)
endforeach()
foreach(program oshcc oshc++ oshcxx oshCC)
  install(FILES ${SHMEMX_BASH_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program}
    COMPONENT shmemx_development)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/examples/completion/_shmemx DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  COMPONENT shmemx_tools)

# --- Debian packages: cpack -G DEB --------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME shmemx)
set(CPACK_PACKAGE_VENDOR "the shmemx authors")
set(CPACK_PACKAGE_CONTACT "the shmemx authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
# The package of all that came before there were several.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS libshmemx)
set(CPACK_DEBIAN_PACKAGE_REPLACES libshmemx)

# shmemx_package(<component> NAME <package> SECTION <section> SUMMARY <line> [TEXT <lines>] [DEPENDS <component>...]
#                [DIVERTS <program>...]): the package of a component. Open MPI's programs of the names in DIVERTS stay beside ours,
# as oshrun.openmpi and so on.
function(shmemx_package component)
  cmake_parse_arguments(ARG "" "NAME;SECTION;SUMMARY;TEXT" "DEPENDS;DIVERTS" ${ARGN})
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${ARG_NAME} RENAME copyright
    COMPONENT ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${ARG_NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DEPENDS ${ARG_DEPENDS} PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  if(ARG_DIVERTS)
    list(JOIN ARG_DIVERTS " " SHMEMX_DIVERTED)
    set(SHMEMX_PACKAGE ${ARG_NAME})
    set(scripts)
    foreach(script preinst postrm)
      configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/${script}.in ${CMAKE_BINARY_DIR}/debian/${ARG_NAME}/${script} @ONLY
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
      list(APPEND scripts ${CMAKE_BINARY_DIR}/debian/${ARG_NAME}/${script})
    endforeach()
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${scripts} PARENT_SCOPE)
  endif()
endfunction()

shmemx_package(shmemx_library NAME libshmemx1 SECTION libs SUMMARY "OpenSHMEM 1.6 library"
  TEXT "One-sided communication between the processes of a parallel program: through\nmapped memory within a node, over TCP between nodes.")
# The trigger calls ldconfig.
set(CPACK_DEBIAN_SHMEMX_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers
    ${CMAKE_BINARY_DIR}/debian/libshmemx1/shlibs)
file(WRITE ${CMAKE_BINARY_DIR}/debian/libshmemx1/shlibs "libshmemx 1 libshmemx1 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_SHMEMX_LIBRARY_PACKAGE_RECOMMENDS shmemx-bin)
set(CPACK_DEBIAN_SHMEMX_LIBRARY_PACKAGE_SUGGESTS "libshmemx1-ucx, libshmemx1-ofi, libpmix2")

shmemx_package(shmemx_development NAME libshmemx-dev SECTION libdevel DEPENDS shmemx_library
  SUMMARY "OpenSHMEM 1.6: headers, static library and compiler wrappers" DIVERTS oshcc oshc++ oshcxx oshCC)
set(CPACK_DEBIAN_SHMEMX_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)  # it holds no programs, and CPack would look into 2,000 pages
set(CPACK_DEBIAN_SHMEMX_DEVELOPMENT_PACKAGE_RECOMMENDS "g++, shmemx-bin")
set(CPACK_DEBIAN_SHMEMX_DEVELOPMENT_PACKAGE_SUGGESTS shmemx-doc)

shmemx_package(shmemx_tools NAME shmemx-bin SECTION utils DEPENDS shmemx_library
  SUMMARY "OpenSHMEM 1.6: the launcher oshrun, shmem_info and shmem_perf" DIVERTS oshrun)
set(CPACK_DEBIAN_SHMEMX_TOOLS_PACKAGE_RECOMMENDS libhwloc15)  # shmem_info loads it

shmemx_package(shmemx_doc NAME shmemx-doc SECTION doc SUMMARY "OpenSHMEM 1.6: documents and examples of shmemx")
set(CPACK_DEBIAN_SHMEMX_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SHMEMX_DOC_PACKAGE_SHLIBDEPS OFF)

foreach(plugin ucx ofi)
  if(TARGET shmemx_${plugin})
    shmemx_package(shmemx_${plugin} NAME libshmemx1-${plugin} SECTION libs DEPENDS shmemx_library
      SUMMARY "OpenSHMEM 1.6: transport plug-in for ${plugin}")
  endif()
endforeach()
# The interposer: a package for each MPI, which draws that MPI in, and the launcher for all of them. The library for MPICH
# names no MPI, since derivatives have the same ABI.
set(CPACK_DEBIAN_SHMEMX_RMA_MPICH_PACKAGE_RECOMMENDS libmpich12)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})  # libshmemx: its package is made here, too
set(rma_packages)
foreach(flavor IN LISTS SHMEMX_RMA_FLAVORS)
  shmemx_package(shmemx_rma_${flavor} NAME libshmemx1-rma-${flavor} SECTION libs DEPENDS shmemx_library
    SUMMARY "One-sided MPI on shmemx: library to preload, for ${flavor}")
  list(APPEND rma_packages libshmemx1-rma-${flavor})
endforeach()
if(rma_packages)
  shmemx_package(shmemx_rma NAME shmemx-rma SECTION utils SUMMARY "One-sided MPI on shmemx: runs unchanged MPI programs")
  set(CPACK_DEBIAN_SHMEMX_RMA_PACKAGE_SHLIBDEPS OFF)
  list(JOIN rma_packages " | " CPACK_DEBIAN_SHMEMX_RMA_PACKAGE_DEPENDS)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/shmemx-rma.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT shmemx_rma)
  install(FILES ${SHMEMX_BASH_COMPLETION} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME shmemx-rma
    COMPONENT shmemx_rma)
endif()

# libfabric is loaded by the plug-in itself.
set(CPACK_DEBIAN_SHMEMX_OFI_PACKAGE_DEPENDS libfabric1)
include(CPack)
