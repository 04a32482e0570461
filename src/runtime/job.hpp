// The one place that knows every layer and connects them: start, end, and what is known of the job in between.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "config/config.hpp"
#include "heap/block_allocator.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

enum class StartedBy { init, start_pes };

struct InitRequest {
  const char* routine;
  int thread_level;
  StartedBy by;
  bool may_return_error;  // shmem_init_thread with SHMEM_INIT_ERRORS=return
};

// Collective; counted: only the first one starts the library. Returns false when it failed and may say so; a failure
// that may not be returned ends the job.
bool initialize(const InitRequest& request) noexcept;
// Undoes one initialize(); the last one takes the library down, the others are a barrier.
void finalize(const char* routine) noexcept;

bool is_initialized() noexcept;
int thread_level() noexcept;
// Ends the whole job with this status. Does not return.
[[noreturn]] void global_exit(int status) noexcept;

// Valid while initialised.
windows::Arena& arena() noexcept;
heap::BlockAllocator& allocator() noexcept;
const config::Config& configuration() noexcept;

}  // namespace shmemx::runtime
