// The value of SHMEM_WATCHDOG: after how many seconds a wait is reported, and whether it then ends the job. "30:abort".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/number.hpp"

namespace shmemx::config {

struct Watchdog {
  std::uint32_t seconds = 0;  // 0: none
  bool aborts = false;
};

namespace kind {

struct watchdog {
  using value_type = Watchdog;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    text = trim(text);
    const std::size_t colon = text.find(':');
    const bool has_end = colon != std::string_view::npos;
    if (has_end && !equals_ignoring_case(text.substr(colon + 1), "abort")) return "has another word behind its colon";
    std::uint64_t seconds = 0;
    if (const Complaint complaint = parse_count(text.substr(0, colon), seconds); complaint != nullptr) return complaint;
    if (seconds < 1 || seconds > kMostSeconds) return "is out of range";
    out = {static_cast<std::uint32_t>(seconds), has_end};
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) {
    out = {};
    return text == "unset" ? nullptr : "is not unset";
  }
  static std::string text(const value_type& value) {
    return value.seconds == 0 ? "unset" : std::to_string(value.seconds) + (value.aborts ? ":abort" : "");
  }
  static constexpr const char* allowed = "a whole number of seconds from 1 to 86400, alone or followed by :abort";
  static constexpr const char* example = "30:abort";

 private:
  static constexpr std::uint64_t kMostSeconds = 86400;
};

}  // namespace kind
}  // namespace shmemx::config
