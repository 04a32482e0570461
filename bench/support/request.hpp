// The order that a driver writes into the pipe of each PE of a served job.
#pragma once

#include <cstdint>

namespace shmemx::bench {

// A fixed size, so one read() takes one order.
struct Request {
  std::int32_t case_index;  // -1 ends the program
  std::int32_t method;
  double budget_ms;
};
static_assert(sizeof(Request) == 16);

}  // namespace shmemx::bench
