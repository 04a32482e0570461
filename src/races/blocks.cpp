#include "races/blocks.hpp"

#include <map>
#include <mutex>

#include "races/spin_lock.hpp"

namespace shmemx::races {
namespace {

struct Blocks {
  SpinLock lock;
  std::map<std::uint64_t, HeapBlock> by_begin;
};
// Never destroyed: threads may still run while the process exits.
Blocks& blocks() {
  static auto* const instance = new Blocks;
  return *instance;
}

}  // namespace

void add_block(const HeapBlock& block) noexcept {
  const std::lock_guard guard(blocks().lock);
  blocks().by_begin[block.begin] = block;
}

void remove_block(std::uint64_t begin) noexcept {
  const std::lock_guard guard(blocks().lock);
  blocks().by_begin.erase(begin);
}

bool find_block(std::uint64_t offset, HeapBlock& found) noexcept {
  const std::lock_guard guard(blocks().lock);
  auto at = blocks().by_begin.upper_bound(offset);
  if (at == blocks().by_begin.begin()) return false;
  found = (--at)->second;
  return offset < found.begin + found.bytes;
}

}  // namespace shmemx::races
