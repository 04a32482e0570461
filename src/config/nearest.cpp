#include "config/nearest.hpp"

#include <algorithm>
#include <array>

#include "config/config_table.hpp"

namespace shmemx::config {
namespace {

constexpr std::size_t kLongest = 63;

constexpr std::string_view kVariableNames[] = {
#define SHMEMX_CONFIG_NAME(member, kind_, variable, ...) variable,
    SHMEMX_CONFIG_TABLE(SHMEMX_CONFIG_NAME)
#undef SHMEMX_CONFIG_NAME
};

std::string_view without_prefix(std::string_view name) {
  const std::size_t underscore = name.find('_');
  return underscore == std::string_view::npos ? name : name.substr(underscore + 1);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::array<std::size_t, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string_view nearest_variable(std::string_view name) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view known : kVariableNames) {
    // Prefixes are ignored: a shared prefix does not make two names similar.
    const std::size_t distance = edit_distance(without_prefix(name), without_prefix(known));
    const std::size_t tolerated = std::max<std::size_t>(1, without_prefix(known).size() / 3);
    if (distance > tolerated || (!best.empty() && distance >= best_distance)) continue;
    best = known;
    best_distance = distance;
  }
  return best;
}

}  // namespace shmemx::config
