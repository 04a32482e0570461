// The value of SHMEM_CHECK: which mistakes of the program are looked for. "heap,leaks".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/number.hpp"

namespace shmemx::config {

// A set of kinds, as bits.
class Checks {
 public:
  enum Kind : std::uint8_t { heap = 1, overlap = 2, pending = 4, leaks = 8 };
  static constexpr std::array<std::string_view, 4> words = {"heap", "overlap", "pending", "leaks"};  // by bit
  static constexpr std::uint8_t kAll = heap | overlap | pending | leaks;

  constexpr Checks() noexcept = default;
  explicit constexpr Checks(std::uint8_t bits) noexcept : bits_(bits) {}
  constexpr bool has(Kind kind) const noexcept { return (bits_ & kind) != 0; }
  constexpr bool any() const noexcept { return bits_ != 0; }
  constexpr std::uint8_t bits() const noexcept { return bits_; }

 private:
  std::uint8_t bits_ = 0;
};

namespace kind {

struct checks {
  using value_type = Checks;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    out = {};
    text = trim(text);
    if (text == "0" || equals_ignoring_case(text, "off")) return nullptr;
    out = Checks(Checks::kAll);
    if (text == "1" || equals_ignoring_case(text, "all")) return nullptr;
    std::uint8_t bits = 0;
    while (true) {
      const std::size_t comma = text.find(',');
      const std::uint8_t bit = bit_of(trim(text.substr(0, comma)));
      if (bit == 0) return "names a check that is not known";
      bits |= bit;
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
    out = Checks(bits);
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string text(const value_type& value) {
    if (value.bits() == 0) return "0";
    if (value.bits() == Checks::kAll) return "1";
    std::string out;
    for (std::size_t i = 0; i < Checks::words.size(); ++i) {
      if ((value.bits() >> i & 1) != 0) out += (out.empty() ? "" : ",") + std::string(Checks::words[i]);
    }
    return out;
  }
  static constexpr const char* allowed =
      "1 for all checks, 0 for none, or names separated by commas: heap, overlap, pending, leaks";
  static constexpr const char* example = "1";

 private:
  static constexpr std::uint8_t bit_of(std::string_view word) {
    for (std::size_t i = 0; i < Checks::words.size(); ++i) {
      if (equals_ignoring_case(word, Checks::words[i])) return static_cast<std::uint8_t>(1U << i);
    }
    return 0;
  }
};

}  // namespace kind
}  // namespace shmemx::config
