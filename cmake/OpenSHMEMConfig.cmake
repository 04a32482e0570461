# find_package(OpenSHMEM): shmemx under the standard's name, with the names of shmemxConfig.cmake.
include(CMakeFindDependencyMacro)
include("${CMAKE_CURRENT_LIST_DIR}/../shmemx/shmemxConfig.cmake")
