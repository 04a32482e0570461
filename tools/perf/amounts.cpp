#include "perf/amounts.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace shmemx::perf {
namespace {

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
Number parse_number(std::string_view text, std::string_view& rest, const std::string& expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) throw std::invalid_argument("'" + std::string(text) + "' is not " + expected);
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::size_t parse_size(std::string_view text) {
  static const std::string kExpected = "a size such as 8, 64K, 4M or 1G";
  constexpr std::size_t kMost = std::size_t{1} << 40;
  std::string_view suffix;
  auto value = parse_number<std::size_t>(text, suffix, kExpected);
  const std::size_t unit = std::string_view("kmg").find(static_cast<char>(suffix.empty() ? ' ' : suffix[0] | 0x20));
  if (suffix.size() > 1 || (suffix.size() == 1 && unit == std::string_view::npos) || value == 0 || value > kMost)
    throw std::invalid_argument("'" + std::string(text) + "' is not " + kExpected);
  if (suffix.size() == 1) value <<= 10 * (unit + 1);
  if (value > kMost) throw std::invalid_argument("'" + std::string(text) + "' is more than 1024G");
  return value;
}

void add_range(std::vector<std::size_t>& sizes, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3)
    throw std::invalid_argument("'" + std::string(text) + "' is not a range such as 1:4M or 1:4M:4");
  const std::size_t first = parse_size(parts[0]);
  const std::size_t last = parts.size() > 1 ? parse_size(parts[1]) : first;
  const std::size_t factor = parts.size() > 2 ? parse_size(parts[2]) : 2;
  if (last < first) throw std::invalid_argument("'" + std::string(text) + "' ends before it begins");
  if (factor < 2) throw std::invalid_argument("'" + std::string(text) + "': the factor is at least 2");
  sizes.push_back(first);
  while (sizes.back() <= last / factor) sizes.push_back(sizes.back() * factor);
}

int parse_pe(std::string_view text, int n_pes) {
  const std::string expected = "a PE, allowed are 0.." + std::to_string(n_pes - 1) + ", and 'all'";
  std::string_view rest;
  const int pe = parse_number<int>(text, rest, expected);
  if (!rest.empty() || pe < 0 || pe >= n_pes)
    throw std::invalid_argument("'" + std::string(text) + "' is not " + expected);
  return pe;
}

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) add_range(sizes, part);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<int> parse_pes(const std::string& text, int n_pes) {
  std::vector<int> pes;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const bool is_all = part == "all";
    const int first = is_all ? 0 : parse_pe(part.substr(0, dots), n_pes);
    const int last = is_all                           ? n_pes - 1
                     : dots == std::string_view::npos ? first
                                                      : parse_pe(part.substr(dots + 2), n_pes);
    if (last < first) throw std::invalid_argument("'" + std::string(part) + "' ends before it begins");
    for (int pe = first; pe <= last; ++pe) pes.push_back(pe);
  }
  return pes;
}

}  // namespace shmemx::perf
