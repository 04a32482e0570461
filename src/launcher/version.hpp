// What the build knows about itself; CMake passes the definitions.
#pragma once

#ifndef SHMEMX_PROJECT_VERSION
#error "SHMEMX_PROJECT_VERSION is set by the build"
#endif

namespace shmemx::launcher {

inline constexpr char kVersion[] = SHMEMX_PROJECT_VERSION;

}  // namespace shmemx::launcher
