# Is there a header to build the PMIx back end with? Included by the CMakeLists.txt that compiles src/bootstrap/*.cpp.
# The library itself is loaded at run time and is not needed here. Sets SHMEMX_HAVE_PMIX to 1 or 0.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(SHMEMX_PMIX_PC QUIET pmix)
endif()
find_path(SHMEMX_PMIX_INCLUDE_DIR pmix.h HINTS ${SHMEMX_PMIX_PC_INCLUDE_DIRS}
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include
  NO_CACHE)
if(SHMEMX_PMIX_INCLUDE_DIR)
  set(SHMEMX_HAVE_PMIX 1)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/bootstrap/pmix.cpp PROPERTIES
    COMPILE_DEFINITIONS SHMEMX_HAVE_PMIX=1
    COMPILE_OPTIONS "-isystem;${SHMEMX_PMIX_INCLUDE_DIR}")
else()
  set(SHMEMX_HAVE_PMIX 0)
endif()
