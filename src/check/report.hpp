// Where the program called something, and how that is written.
#pragma once

#include <cstdint>
#include <string>

#include "base/call_site.hpp"

namespace shmemx::check {

struct Place {
  const char* routine = nullptr;
  CallStack stack{};

  std::uintptr_t site() const noexcept { return call_site(stack); }
};

// The place of the call that this thread is in.
Place here(const char* routine) noexcept;

// Texts of places for a line that ends the job. Looking up takes a moment, so only the PE does it that reports.
class Places {
 public:
  Places() noexcept;
  // Returns "shmem_malloc at main (ring.c:5)", or the routine alone.
  std::string text(const Place& place) const;

 private:
  bool looks_up_;
};
// Returns the text of a place for warnings, which each PE prints.
std::string place_text(const Place& place);

}  // namespace shmemx::check
