// The initiator's side of operations on public windows that are not mapped: lists of ranges, accumulates, one element.
// The owner replies to each operation and may refuse it, since it may have freed the window; the error goes to the
// initiator's trackers. The data of a nonblocking operation stay in use until it is complete.
#pragma once

#include "atomic/elements.hpp"
#include "context/location.hpp"
#include "onesided/requests.hpp"
#include "rma/element_walk.hpp"
#include "rma/shape.hpp"

namespace shmemx::onesided {

// A public window of another PE.
struct RemoteWindow {
  std::int32_t pe;
  windows::WindowName name;
  std::uint64_t base;   // in the owner's address space
  bool is_set = false;  // of ranges that come and go
};

struct Call {
  const char* routine;
  RemoteWindow window;
  Initiator initiator;
  bool is_awaited;  // the caller waits for it now; else its messages may leave together with others
};

// The first side of the pairs lies in the window, as addresses of the owner.
void put_lists(const Call& call, rma::PairWalk pairs) noexcept;
void get_lists(const Call& call, rma::PairWalk pairs) noexcept;

// The targets lie in the window, as addresses of the owner; the sides are as atomic::apply() requires them.
void accumulate(const Call& call, const atomic::Update& update, rma::ElementWalk walk) noexcept;

// Updates one element of a type that fits a word. The old value goes to `result`, which has the type's size.
void fetch_one(const Call& call, std::uint64_t offset, const atomic::Operation& operation, void* result) noexcept;
// Updates one element for a caller that waits for the tracker now.
void fetch_checked(const char* routine, const context::Place& place, const atomic::Operation& operation, void* result,
                   Tracker& open) noexcept;
// Asks the owner whether the window exists.
Code check_window(const char* routine, const RemoteWindow& window) noexcept;

}  // namespace shmemx::onesided
