// Parses numbers in variables. Exact decimal arithmetic, independent of the locale, usable at compile time.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace shmemx::config {

// Why a text is not a valid value; completes the sentence "value 'x' ...". Null if it is valid.
using Complaint = const char*;

inline constexpr Complaint kEmpty = "is empty";
inline constexpr Complaint kNegative = "is negative";
inline constexpr Complaint kNotANumber = "is not a number";
inline constexpr Complaint kTooLarge = "is too large";
inline constexpr Complaint kBadTail = "has characters after the number that are not a suffix";

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

// The parts of a decimal number: the digits before and after the point, and the rest of the text.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  std::string_view tail;
};

constexpr std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

constexpr Complaint split_decimal(std::string_view text, Decimal& out) {
  text = trim(text);
  if (text.empty()) return kEmpty;
  if (text.front() == '-') return text.size() > 1 && (is_digit(text[1]) || text[1] == '.') ? kNegative : kNotANumber;
  if (text.front() == '+') text.remove_prefix(1);
  out.whole = take_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    out.fraction = take_digits(text);
  }
  if (out.whole.empty() && out.fraction.empty()) return kNotANumber;
  out.tail = text;
  return nullptr;
}

constexpr bool parse_digits(std::string_view digits, std::uint64_t& out) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return false;
    value = value * 10 + digit;
  }
  out = value;
  return true;
}

// Returns 0.<digits> * 2^shift, rounded up. Multiplies the decimal digits from last to first with carry. The final
// carry is the integer part; a nonzero digit left over rounds up. Exact for any number of digits, since the carry
// stays below 10 * 2^shift.
constexpr std::uint64_t scale_fraction_up(std::string_view digits, unsigned shift) {
  std::uint64_t carry = 0;
  bool rest = false;
  for (std::size_t i = digits.size(); i > 0; --i) {
    carry += static_cast<std::uint64_t>(digits[i - 1] - '0') << shift;
    rest = rest || carry % 10 != 0;
    carry /= 10;
  }
  return carry + (rest ? 1 : 0);
}

// Returns the power of two of the suffix k, m, g or t in either case; 0 for any other character.
constexpr unsigned suffix_shift(char c) {
  switch (to_lower(c)) {
    case 'k':
      return 10;
    case 'm':
      return 20;
    case 'g':
      return 30;
    case 't':
      return 40;
    default:
      return 0;
  }
}

// Parses the grammar of SHMEM_SYMMETRIC_SIZE: an integer or decimal fraction with at most one suffix, rounded up to
// bytes.
//
// Characters after the suffix are ignored, as the standard demands: "64MB", "1GiB" and "2kk" are 64m, 1g and 2k. A
// number followed by any other character ("12q", "1e9", "0x10", "1,5g", "12 m") is rejected. Reading these as 12, 1, 0,
// 1 and 12 bytes would give a heap of a size that the user did not intend. Blanks at either end are ignored.
constexpr Complaint parse_bytes(std::string_view text, std::uint64_t& out) {
  Decimal number;
  if (const Complaint complaint = split_decimal(text, number)) return complaint;
  unsigned shift = 0;
  if (!number.tail.empty()) {
    shift = suffix_shift(number.tail.front());
    if (shift == 0) return kBadTail;
  }
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t whole = 0;
  if (!parse_digits(number.whole, whole) || whole > max >> shift) return kTooLarge;
  const std::uint64_t part = scale_fraction_up(number.fraction, shift);
  if (part > max - (whole << shift)) return kTooLarge;
  out = (whole << shift) + part;
  return nullptr;
}

// Parses a whole number without suffix.
constexpr Complaint parse_count(std::string_view text, std::uint64_t& out) {
  Decimal number;
  if (const Complaint complaint = split_decimal(text, number)) return complaint;
  if (number.whole.data() + number.whole.size() != trim(text).data() + trim(text).size())
    return "is not a whole number";
  return parse_digits(number.whole, out) ? nullptr : kTooLarge;
}

}  // namespace shmemx::config
