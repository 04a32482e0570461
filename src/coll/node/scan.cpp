#include "coll/node/scan.hpp"

#include <algorithm>
#include <cstring>

#include "base/bulk_copy.hpp"
#include "coll/common/flags.hpp"

namespace shmemx::coll {

void scan_share(int n_pes, Symmetric dest, Symmetric source, Share share, const Scan& scan) noexcept {
  alignas(kCacheLine) std::byte sum[kCacheBlockBytes / 2];  // two of them on stacks of 16 KiB
  alignas(kCacheLine) std::byte own[kCacheBlockBytes / 2];
  const std::size_t element_bytes = scan.sum.element_bytes;
  const std::size_t most = sizeof sum / element_bytes;
  for (std::size_t at = share.begin; at < share.end; at += most) {
    const std::size_t count = std::min(most, share.end - at);
    const std::size_t offset = at * element_bytes;
    const std::size_t bytes = count * element_bytes;
    std::memset(sum, 0, bytes);
    for (int pe = 0; pe < n_pes; ++pe) {
      copy_block(own, source.at(pe) + offset, bytes);  // dest may be the same memory
      if (scan.exclusive) copy_block(dest.at(pe) + offset, sum, bytes);
      scan.sum.accumulate(sum, own, count);
      if (!scan.exclusive) copy_block(dest.at(pe) + offset, sum, bytes);
    }
  }
}

void scan_chain(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, const Scan& scan) noexcept {
  const Combine& sum = scan.sum;
  const std::size_t piece = windows::kScratchBytes / sum.element_bytes;
  alignas(kCacheLine) std::byte before[windows::kScratchBytes];
  alignas(kCacheLine) std::byte with_own[windows::kScratchBytes];
  Team& team = group.team();
  const int me = group.me();
  std::size_t at = 0;
  do {
    const std::size_t count = std::min(piece, nelems - at);
    const std::size_t bytes = count * sum.element_bytes;
    const std::size_t offset = at * sum.element_bytes;
    group.sync();  // the next PE has read the piece before
    const std::uint64_t epoch = ++team.epoch;
    if (me == 0) {
      std::memset(before, 0, bytes);
    } else {
      await_flag(team, group.routine(), me - 1, epoch);
      copy_block(before, team.scratch(me, 0), bytes);
    }
    copy_block(with_own, before, bytes);
    sum.accumulate(with_own, source.at(me) + offset, count);
    if (me + 1 != group.size()) {
      copy_block(team.scratch(me + 1, 0), with_own, bytes);
      set_flag(team, group.routine(), me + 1, epoch);
    }
    if (bytes != 0) copy_block(dest.at(me) + offset, scan.exclusive ? before : with_own, bytes);
    at += count;
  } while (at < nelems);
}

}  // namespace shmemx::coll
