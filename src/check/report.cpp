#include "check/report.hpp"

#include <unistd.h>

#include "base/fatal.hpp"

namespace shmemx::check {

Place here(const char* routine) noexcept { return {routine, call_stack()}; }

Places::Places() noexcept : looks_up_(claim_report()) {}

std::string Places::text(const Place& place) const { return looks_up_ ? place_text(place) : place.routine; }

std::string place_text(const Place& place) {
  const std::string at = call_site_text("/proc/" + std::to_string(::getpid()) + "/exe", place.site());
  return at.empty() ? place.routine : place.routine + (" at " + at);
}

}  // namespace shmemx::check
