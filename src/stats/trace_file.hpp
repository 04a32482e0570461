// Makes one trace of the rings of all PEs: the JSON of Chrome's trace events, which Perfetto and speedscope open.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace shmemx::stats {

struct TraceSource {
  std::vector<std::string> files;  // one of each node; those that cannot be read are left out
};
struct TraceResult {
  std::size_t n_pes = 0;      // in the trace
  std::size_t n_missing = 0;  // PEs of the job that are not
  std::size_t n_events = 0;
  std::size_t n_lost = 0;  // earlier ones, for which the rings had no room
};

// Reads the files and writes the trace. Fails if none of them can be read, or the output cannot be written.
Result<TraceResult> write_trace(const TraceSource& source, const std::string& output);

}  // namespace shmemx::stats
