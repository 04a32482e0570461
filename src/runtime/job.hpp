// The state of the job in this process: counted init and finalize, and what is known in between.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "bootstrap/bootstrap.hpp"
#include "config/config.hpp"
#include "heap/block_allocator.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

enum class StartedBy { init, start_pes, init_attr };

struct InitRequest {
  const char* routine;
  int thread_level;
  StartedBy by;
  bool may_return_error;                      // shmem_init_thread with SHMEM_INIT_ERRORS=return
  const bootstrap::Caller* caller = nullptr;  // of shmemx_init_attr, in place of a launcher; errors are then returned
};

// Starts the library. Collective and counted: only the first call does the work. Returns false if the start failed
// and the failure may be returned; any other failure ends the job.
bool initialize(const InitRequest& request) noexcept;
// Starts the library for the program that request.caller describes. A failure is reported and returned.
enum class InitResult { started, already_started, wrong_caller, failed };
InitResult initialize_for_caller(const InitRequest& request) noexcept;
// Undoes one initialize(). The last call shuts the library down, the others are barriers.
void finalize(const char* routine) noexcept;

bool is_initialized() noexcept;
int thread_level() noexcept;
// Ends the whole job with this status; does not return.
[[noreturn]] void global_exit(int status) noexcept;

// Valid while initialised.
windows::Arena& arena() noexcept;
heap::BlockAllocator& allocator() noexcept;
const config::Config& configuration() noexcept;

}  // namespace shmemx::runtime
