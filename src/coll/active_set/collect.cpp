#include "coll/active_set/collect.hpp"

#include <vector>

#include "coll/active_set/members.hpp"

namespace shmemx::coll {

void fcollect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept {
  put_to_all(group, dest.pe0 + static_cast<std::size_t>(group.me()) * bytes, source, bytes);
  group.flush_and_sync();
}

Offsets exchange_lengths(ActiveGroup& group, std::uint64_t bytes) noexcept {
  group.publish_word(bytes);
  group.sync();
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(group.size()));
  for (int pe = 0; pe < group.size(); ++pe) {
    auto& length = lengths[static_cast<std::size_t>(pe)];
    if (context::is_mapped(group.route(), pe)) {
      length = group.published_word(pe);
    } else {
      onesided::get_nbi(group.routine(), context::default_context(), &length, group.word_place(pe, 2), sizeof length);
    }
  }
  flush(group);
  Offsets offsets{0};
  for (const std::uint64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

void collect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept {
  const auto me = static_cast<std::size_t>(group.me());
  put_to_all(group, dest.pe0 + offsets[me], source, offsets[me + 1] - offsets[me]);
  group.flush_and_sync();
}

}  // namespace shmemx::coll
