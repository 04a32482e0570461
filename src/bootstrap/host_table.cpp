#include "bootstrap/host_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

#include "bootstrap/combining.hpp"
#include "bootstrap/kvs_text.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {

HostTable::HostTable(const HostDescription& own) : different_{encode(own)}, index_{0} {}

void HostTable::append(const HostTable& higher) {
  std::map<std::string, int> known;
  for (std::size_t i = 0; i < different_.size(); ++i) known[different_[i]] = static_cast<int>(i);
  std::vector<int> number;
  for (const std::string& host : higher.different_) {
    const auto [at, fresh] = known.emplace(host, static_cast<int>(different_.size()));
    if (fresh) different_.push_back(host);
    number.push_back(at->second);
  }
  for (const int index : higher.index_) index_.push_back(number[static_cast<std::size_t>(index)]);
}

Result<Hosts> HostTable::hosts() const {
  std::vector<HostDescription> decoded;
  for (const std::string& text : different_) {
    SHMEMX_TRY_ASSIGN(host, decode_host(text));
    decoded.push_back(std::move(host));
  }
  return Hosts(std::move(decoded), index_);
}

std::string HostTable::text() const {
  const std::string lines = pack_lines(different_);
  return std::to_string(index_.size()) + ":" + encode(index_) + ":" +
         encode_bytes(std::as_bytes(std::span(lines.data(), lines.size())));
}

Result<HostTable> HostTable::of_text(const std::string& text) {
  const Error damaged{Errc::protocol, 0, "a table of hosts in the key-value store is damaged"};
  char* end = nullptr;
  const long n_pes = std::strtol(text.c_str(), &end, 10);
  const auto first = static_cast<std::size_t>(end - text.c_str());
  const std::size_t second = text.find(':', first + 1);
  if (n_pes < 1 || n_pes > kMaxPes || *end != ':' || second == std::string::npos) return damaged;
  HostTable table;
  SHMEMX_TRY_ASSIGN(index, decode_leaders(text.substr(first + 1, second - first - 1), static_cast<int>(n_pes)));
  SHMEMX_TRY_ASSIGN(bytes, decode_bytes(text.substr(second + 1)));
  SHMEMX_TRY_ASSIGN(lines, unpack_lines(bytes));
  const auto n_lines = static_cast<int>(lines.size());
  if (std::any_of(index.begin(), index.end(), [&](int i) { return i < 0 || i >= n_lines; })) return damaged;
  table.index_ = std::move(index);
  table.different_ = std::move(lines);
  return table;
}

}  // namespace shmemx::bootstrap
