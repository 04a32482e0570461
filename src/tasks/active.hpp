// Active messages of programs (shmemx/active.h). Short ones travel in one piece, longer ones in several, put together
// again at the target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tasks/handlers.hpp"

namespace shmemx::tasks {

inline constexpr std::size_t kActiveMaxBytes = std::size_t{16} << 20;

// Returns false if the number is a handler of tasks.
bool set_active_handler(std::uint16_t id, HandlerFunction handler, void* argument) noexcept;
void send_active(const char* routine, int pe, int id, const void* payload, std::size_t bytes) noexcept;
void flush_active(const char* routine) noexcept;

// By runtime, at init.
void set_active_handlers() noexcept;

}  // namespace shmemx::tasks
