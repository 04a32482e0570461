// The stencil in three dimensions of stencil.cpp and stencil_mpi.cpp: its message and its times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace shmemx::bench {

inline constexpr std::int64_t kComputationNs = 2'000'000;  // of a PE in a step
inline constexpr std::int64_t kDelayNs = kComputationNs * 8 / 10;
inline constexpr int kFaces = 6;
inline constexpr long kFaceEdge = 16;
inline constexpr std::size_t kFaceBytes = kFaceEdge * kFaceEdge * sizeof(double);

struct Face {
  long object;  // where it goes, counted over all PEs
  long step;
  std::int64_t due_ns;  // it counts as come from then on
  char cells[kFaceBytes];
};

inline std::string state_of_stencil(int objects, bool delayed) {
  return std::to_string(objects) + (delayed ? " objects with delay" : " objects without delay");
}

}  // namespace shmemx::bench
