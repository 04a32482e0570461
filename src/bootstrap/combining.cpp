#include "bootstrap/combining.hpp"

#include <algorithm>

#include "bootstrap/kvs_text.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kRadix = 16;
constexpr std::size_t kLongestPrefix = 200;

// Puts or collects the contributions of one level, where members at multiples of `step` are left.
Status climb(Kvs& kvs, const std::string& key, const Members& members, int step, std::string& mine,
             const Merge& merge) {
  const bool takes_part = members.own >= 0 && members.own % step == 0;
  const bool is_parent = takes_part && members.own % (step * kRadix) == 0;
  if (takes_part && !is_parent) SHMEMX_TRY(put_text(kvs, key, mine));
  SHMEMX_TRY(kvs.fence());
  if (!is_parent) return {};
  for (int child = members.own + step; child < std::min(members.count, members.own + step * kRadix); child += step) {
    SHMEMX_TRY_ASSIGN(theirs, get_text(kvs, members.pe_of(child), key));
    SHMEMX_TRY_ASSIGN(joined, merge(mine, theirs));
    mine = std::move(joined);
  }
  return {};
}

}  // namespace

Result<std::string> combine_at_first(Kvs& kvs, const std::string& key, const Members& members, std::string mine,
                                     const Merge& merge) {
  for (int step = 1; step < members.count; step *= kRadix)
    SHMEMX_TRY(climb(kvs, key + "u" + std::to_string(step), members, step, mine, merge));
  return mine;
}

Result<std::string> combine(Kvs& kvs, const std::string& key, const Members& members, std::string mine,
                            const Merge& merge, bool for_all) {
  SHMEMX_TRY_ASSIGN(all, combine_at_first(kvs, key, members, std::move(mine), merge));
  const std::string result = key + "r";
  if (members.own == 0) SHMEMX_TRY(put_text(kvs, result, all));
  SHMEMX_TRY(kvs.fence());
  if (members.own == 0) return all;
  if (members.own < 0 && !for_all) return std::string();
  return get_text(kvs, members.pe_of(0), result);
}

std::string pack_lines(const std::vector<std::string>& lines) {
  std::string text;
  const std::string* previous = nullptr;
  for (const std::string& line : lines) {
    std::size_t same = 0;
    const std::size_t most = previous == nullptr ? 0 : std::min({previous->size(), line.size(), kLongestPrefix});
    while (same < most && (*previous)[same] == line[same]) ++same;
    text += static_cast<char>(same + 11);  // no line break
    text.append(line, same);
    text += '\n';
    previous = &line;
  }
  return text;
}

Result<std::vector<std::string>> unpack_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto same = static_cast<std::size_t>(static_cast<unsigned char>(text[at]) - 11);
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos || same > (lines.empty() ? 0 : lines.back().size()))
      return Error{Errc::protocol, 0, "a list in the key-value store is damaged"};
    lines.push_back((lines.empty() ? std::string() : lines.back().substr(0, same)) + text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return lines;
}

}  // namespace shmemx::bootstrap
