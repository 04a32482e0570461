// What the build knows about itself; CMake passes the definitions.
#pragma once

#ifndef SHMEMX_VERSION
#error "SHMEMX_VERSION is set by the build"
#endif

namespace shmemx::launcher {

inline constexpr char kVersion[] = SHMEMX_VERSION;

}  // namespace shmemx::launcher
