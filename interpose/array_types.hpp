// The parts of arrays that MPI_Type_create_subarray and MPI_Type_create_darray describe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "interpose/contents.hpp"
#include "interpose/pieces.hpp"

namespace shmemx::interpose {

// The part of an array that MPI_Type_create_subarray describes: its first element's place in bytes, and the loops
// around it, for elements that are `extent` bytes apart.
struct Subarray {
  std::ptrdiff_t first;
  std::vector<Loop> loops;
};
Subarray subarray_of(const Contents& contents, std::ptrdiff_t extent);

// Calls part(first, count) for each run of elements of a distributed array that belong to the datatype, in the order of
// memory, until it returns false; `first` counts elements from the beginning of the whole array. Returns false if there
// are too many runs in one dimension.
bool for_each_part(const Contents& contents, const std::function<bool(std::int64_t, std::int64_t)>& part);

}  // namespace shmemx::interpose
