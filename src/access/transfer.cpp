#include "access/transfer.hpp"

#include <shmemx/windows.h>

#include "access/cma.hpp"
#include "access/remote.hpp"
#include "access/word_copy.hpp"

namespace shmemx::access {
namespace {

Code check(const Attached& window, const Side& target, const Side& local) {
  std::uint64_t bytes = 0;
  std::uint64_t local_bytes = 0;
  if (!target.total(bytes) || !local.total(local_bytes) || bytes != local_bytes) return SHMEMX_ERR_LIST;
  if (local.has_null()) return SHMEMX_ERR_ARGUMENT;
  for (std::uint64_t i = 0; bytes != 0 && i < target.count(); ++i) {
    const Piece piece = target.at(i);
    if (piece.bytes != 0 && !in_window(window, piece.address, piece.bytes)) return SHMEMX_ERR_RANGE;
  }
  return is_alive(window) ? SHMEMX_SUCCESS : SHMEMX_ERR_STALE;
}

void transfer_mapped(const Attached& window, Direction direction, PairWalk walk) {
  for (Pair pair{}; walk.next(pair);) {
    std::byte* const there = window.mapped + pair.offset;
    if (direction == Direction::put) {
      copy_bytes(there, pair.local, pair.bytes);
    } else {
      copy_bytes(pair.local, there, pair.bytes);
    }
  }
  if (direction == Direction::put) tell_owner(window);
}

// The owner waits for `users` before it lets go of the memory.
class Use {
 public:
  explicit Use(Life& life) noexcept : life_(life) { life_.users.fetch_add(1, std::memory_order_seq_cst); }  // live
  ~Use() { life_.users.fetch_sub(1, std::memory_order_seq_cst); }                                           // live
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool is_of(std::uint32_t generation) const noexcept {
    return life_.generation.load(std::memory_order_seq_cst) == generation;  // live
  }

 private:
  Life& life_;
};

// False: not that way.
bool transfer_cma(const Attached& window, Direction direction, const PairWalk& walk, Code& code) {
  const Use use(*window.life);
  code = SHMEMX_ERR_STALE;
  if (!use.is_of(window.name.generation)) return true;
  const CmaResult result =
      direction == Direction::put ? cma_put(window.pid, window.base, walk) : cma_get(window.pid, window.base, walk);
  code = result == CmaResult::done ? SHMEMX_SUCCESS : SHMEMX_ERR_FAULT;
  if (result == CmaResult::done && direction == Direction::put) tell_owner(window);
  return result != CmaResult::refused;
}

void start_remote(const char* routine, Attached& window, Direction direction, const PairWalk& walk,
                  Completion completion) {
  if (direction == Direction::put) {
    put_remote(routine, window, walk, completion);
  } else {
    get_remote(routine, window, walk, completion);
  }
}

Code transfer_remote(const char* routine, Attached& window, Direction direction, const PairWalk& walk, Mode mode) {
  if (!mode.blocking) {
    start_remote(routine, window, direction, walk, {mode.counter, &window.late_error, false});
    return SHMEMX_SUCCESS;
  }
  long counter = 0;
  std::atomic<Code> error{SHMEMX_SUCCESS};
  start_remote(routine, window, direction, walk, {&counter, &error, true});
  if (!is_complete(&counter)) wait_for_counter(routine, &counter);
  return error.load(std::memory_order_relaxed);  // written before the counter
}

}  // namespace

Code transfer(const char* routine, std::uint64_t handle, Direction direction, const Side& target, const Side& local,
              Mode mode) noexcept {
  Attached* const window = find_attached(handle);
  if (window == nullptr) return SHMEMX_ERR_WINDOW;
  Code code = check(*window, target, local);
  if (code != SHMEMX_SUCCESS) return code;
  const PairWalk walk(target, window->base, local);
  if (window->mapped != nullptr) {
    transfer_mapped(*window, direction, walk);
    return SHMEMX_SUCCESS;
  }
  if (window->pid != 0 && transfer_cma(*window, direction, walk, code)) return code;
  return transfer_remote(routine, *window, direction, walk, mode);
}

Code transfer_range(const char* routine, std::uint64_t handle, Direction direction, const void* target,
                    const void* local, std::uint64_t bytes, Mode mode) noexcept {
  const Attached* const window = find_attached(handle);
  const std::uint64_t address = Side::number(target);
  if (window == nullptr || window->mapped == nullptr || local == nullptr || !in_window(*window, address, bytes) ||
      !is_alive(*window))
    return transfer(routine, handle, direction, Side::range(target, bytes), Side::range(local, bytes), mode);
  std::byte* const there = window->mapped + (address - window->base);
  auto* const here = static_cast<std::byte*>(const_cast<void*>(local));
  if (direction == Direction::get) {
    copy_bytes(here, there, bytes);
  } else {
    copy_bytes(there, here, bytes);
    tell_owner(*window);
  }
  return SHMEMX_SUCCESS;
}

}  // namespace shmemx::access
