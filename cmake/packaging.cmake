# What an installed tree holds besides the library, the programs and the headers, and the .deb made
# from it. Included last by the top CMakeLists.txt.
#
# Needs: GNUInstallDirs; install(TARGETS ... EXPORT shmemxTargets) for the targets shmemx and shmemx_static.

include(CMakePackageConfigHelpers)

# --- CMake package ------------------------------------------------------------------------------
set(SHMEMX_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/shmemx)
install(EXPORT shmemxTargets NAMESPACE shmemx:: DESTINATION ${SHMEMX_INSTALL_CMAKEDIR} COMPONENT shmemx)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shmemxConfig.cmake.in
  ${CMAKE_BINARY_DIR}/shmemxConfig.cmake
  INSTALL_DESTINATION ${SHMEMX_INSTALL_CMAKEDIR}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/shmemxConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/shmemxConfig.cmake ${CMAKE_BINARY_DIR}/shmemxConfigVersion.cmake
  DESTINATION ${SHMEMX_INSTALL_CMAKEDIR} COMPONENT shmemx)

# --- pkg-config ---------------------------------------------------------------------------------
# The archive needs the C++ runtime; a C program that links it must name it.
set(SHMEMX_STATIC_LIBS "-lstdc++ -lm -lpthread -ldl -lrt")
if(SHMEMX_WRAPPER_STATIC_LIBS)
  set(SHMEMX_STATIC_LIBS "${SHMEMX_WRAPPER_STATIC_LIBS}")  # the same as oshcc -static
endif()
set(SHMEMX_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SHMEMX_PC_TO_PREFIX /prefix/${SHMEMX_PC_DIR} /prefix)
string(REGEX REPLACE "/$" "" SHMEMX_PC_TO_PREFIX "${SHMEMX_PC_TO_PREFIX}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/shmemx.pc.in ${CMAKE_BINARY_DIR}/shmemx.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/shmemx.pc DESTINATION ${SHMEMX_PC_DIR} COMPONENT shmemx)

# --- Documents ----------------------------------------------------------------------------------
file(GLOB SHMEMX_MAN1 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
file(GLOB SHMEMX_MAN3 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.3)
file(GLOB SHMEMX_MAN7 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.7)
install(FILES ${SHMEMX_MAN1} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT shmemx)
install(FILES ${SHMEMX_MAN3} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT shmemx)
install(FILES ${SHMEMX_MAN7} DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT shmemx)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/config.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libshmemx COMPONENT shmemx)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libshmemx RENAME copyright COMPONENT shmemx)

# --- Debian package: cpack -G DEB ---------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libshmemx)
set(CPACK_PACKAGE_VENDOR "the shmemx authors")
set(CPACK_PACKAGE_CONTACT "the shmemx authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "OpenSHMEM 1.6: library, headers, compiler wrappers and launcher")
set(CPACK_PACKAGE_DESCRIPTION "One-sided communication between the processes of a parallel program,\n \
through memory that all processes of the machine map.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The scripts divert Open MPI's programs of the same names; the trigger calls ldconfig.
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_LIST_DIR}/debian/preinst ${CMAKE_CURRENT_LIST_DIR}/debian/postrm
  ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libpmix2")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
include(CPack)
