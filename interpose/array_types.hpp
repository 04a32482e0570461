// The parts of arrays that MPI_Type_create_subarray and MPI_Type_create_darray describe.
#pragma once

#include <cstdint>
#include <functional>

#include "interpose/contents.hpp"

namespace shmemx::interpose {

// Calls part(first, count) for each run of elements that belong to the datatype, in the order of memory; `first` counts
// elements from the beginning of the whole array.
void for_each_part(const Contents& contents, const std::function<void(std::int64_t, std::int64_t)>& part);

}  // namespace shmemx::interpose
