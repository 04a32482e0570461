#include "config/kinds.hpp"

#include <iterator>

namespace shmemx::config::kind {

std::string bytes_text(std::uint64_t value) {
  constexpr const char* units[] = {" TiB", " GiB", " MiB", " KiB"};
  for (std::size_t i = 0; i < std::size(units); ++i) {
    const std::uint64_t unit = std::uint64_t{1} << (40 - 10 * i);
    if (value < unit) continue;
    const std::uint64_t whole = value / unit;
    const std::uint64_t rest = value % unit * 10;
    if (rest % unit != 0) break;
    return std::to_string(whole) + (rest != 0 ? "." + std::to_string(rest / unit) : std::string()) + units[i];
  }
  return value == 0 ? "0" : std::to_string(value) + " bytes";
}

std::string size_text(std::uint64_t value) {
  constexpr const char* suffixes[] = {"t", "g", "m", "k"};
  for (std::size_t i = 0; i < std::size(suffixes); ++i) {
    const unsigned shift = 40 - 10 * static_cast<unsigned>(i);
    if (value != 0 && value % (std::uint64_t{1} << shift) == 0) return std::to_string(value >> shift) + suffixes[i];
  }
  return std::to_string(value);
}

}  // namespace shmemx::config::kind
