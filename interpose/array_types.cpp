#include "interpose/array_types.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace shmemx::interpose {
namespace {

struct Run {
  std::int64_t first;
  std::int64_t count;
};

struct Dimension {
  std::int64_t size = 0;
  std::vector<Run> owned;
};

using Dimensions = std::vector<Dimension>;  // the last one is contiguous in memory
using Part = std::function<bool(std::int64_t, std::int64_t)>;

// Returns false if a part did.
bool visit(const Dimensions& dimensions, std::size_t level, std::int64_t before, const Part& part) {
  const Dimension& dimension = dimensions[level];
  const bool last = level + 1 == dimensions.size();
  for (const Run& run : dimension.owned) {
    const std::int64_t first = before * dimension.size + run.first;
    if (last && !part(first, run.count)) return false;
    for (std::int64_t i = 0; !last && i < run.count; ++i)
      if (!visit(dimensions, level + 1, first + i, part)) return false;
  }
  return true;
}

// One dimension of a distributed array, as seen by the process with this coordinate.
struct Distribution {
  std::int64_t kind;
  std::int64_t argument;
  std::int64_t processes;
  std::int64_t coordinate;
};

// Returns false if there are too many runs.
bool find_owned(std::int64_t size, const Distribution& how, std::vector<Run>& owned) {
  constexpr std::int64_t kMostRuns = std::int64_t{1} << 24;
  if (how.kind == MPI_DISTRIBUTE_NONE) {
    owned = {{0, size}};
    return true;
  }
  std::int64_t block = how.argument;
  if (block == MPI_DISTRIBUTE_DFLT_DARG)
    block = how.kind == MPI_DISTRIBUTE_BLOCK ? (size + how.processes - 1) / how.processes : 1;
  if (how.kind == MPI_DISTRIBUTE_CYCLIC && size / (how.processes * block) > kMostRuns) return false;
  for (std::int64_t first = how.coordinate * block; first < size; first += how.processes * block) {
    owned.push_back({first, std::min(block, size - first)});
    if (how.kind == MPI_DISTRIBUTE_BLOCK) break;
  }
  return true;
}

// Returns nothing if there are too many runs.
Dimensions distributed_array(const Contents& contents) {
  const auto n = static_cast<std::size_t>(contents.integer(2));
  Dimensions made(n);
  std::int64_t rest = contents.integer(1);  // the process's number in the grid, whose last dimension varies fastest
  for (std::size_t i = n; i-- > 0;) {
    const std::int64_t processes = contents.integer(3 + 3 * n + i);
    const Distribution how{contents.integer(3 + n + i), contents.integer(3 + 2 * n + i), processes, rest % processes};
    rest /= processes;
    const std::int64_t size = contents.integer(3 + i);
    made[i].size = size;
    if (!find_owned(size, how, made[i].owned)) return {};
  }
  if (contents.integer(3 + 4 * n) == MPI_ORDER_FORTRAN) std::reverse(made.begin(), made.end());
  return made;
}

}  // namespace

Subarray subarray_of(const Contents& contents, std::ptrdiff_t extent) {
  const auto n = static_cast<std::size_t>(contents.integer(0));
  const bool is_reversed = contents.integer(1 + 3 * n) == MPI_ORDER_FORTRAN;
  Subarray made{0, {}};
  std::ptrdiff_t step = extent;
  for (std::size_t i = 0; i < n; ++i) {  // the dimension that is contiguous in memory first
    const std::size_t at = 1 + (is_reversed ? i : n - 1 - i);
    made.loops.push_back({contents.integer(at + n), step});
    made.first += contents.integer(at + 2 * n) * step;
    step *= contents.integer(at);
  }
  return made;
}

bool for_each_part(const Contents& contents, const Part& part) {
  const Dimensions dimensions = distributed_array(contents);
  if (!dimensions.empty()) visit(dimensions, 0, 0, part);
  return !dimensions.empty();
}

}  // namespace shmemx::interpose
