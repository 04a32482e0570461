// Requests for the table of all PEs of a job over several arenas: another process of the machine, such as oshrun,
// sets a number in the job header, and a PE of the arena that waits, or its thread for messages, answers with lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {

// For the process that asks. Returns nothing if no PE takes the request in time, or the one that has does not complete.
std::optional<std::vector<std::string>> request_table(JobHeader* header);

// For PEs. Returns the number of a request that this PE has taken and others leave to it; 0: there is none.
std::uint32_t take_table_request(JobHeader& header) noexcept;
inline bool is_table_requested(const JobHeader& header) noexcept {
  return header.table_asked.load(std::memory_order_relaxed) != header.table_taken.load(std::memory_order_relaxed);
}
// Answers it.
void give_table(JobHeader& header, std::uint32_t request, const std::vector<std::string>& lines) noexcept;

}  // namespace shmemx::bootstrap
