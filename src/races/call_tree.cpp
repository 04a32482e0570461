#include "races/call_tree.hpp"

#include <mutex>

namespace shmemx::races {
namespace {

constexpr std::uint32_t kNodes = 1 << 20;
constexpr std::uint32_t kMostProbes = 64;
constexpr char kBegin[] = "";

bool same(const Call& a, const Call& b) noexcept {
  return a.parent == b.parent && a.site == b.site && a.routine == b.routine;
}

std::uint32_t hash_of(const Call& call) noexcept {
  std::uint64_t hash = call.parent;
  for (const std::uint64_t word : {call.site, call.routine}) hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(hash >> 36) % kNodes;
}

}  // namespace

std::uint32_t routine_number(const char* literal) noexcept { return static_cast<std::uint32_t>(literal - kBegin); }
const char* routine_text(std::uint32_t number) noexcept {
  return kBegin + static_cast<std::int32_t>(number);  // before or behind it
}

std::size_t CallTree::bytes() noexcept { return sizeof(Header) + kNodes * sizeof(Node); }

std::uint32_t CallTree::add(const Call& call) noexcept {
  if (memory_ == nullptr) return 0;
  const std::uint32_t hash = hash_of(call);
  const auto find = [&](std::uint32_t& free) -> std::uint32_t {
    for (std::uint32_t i = 0; i < kMostProbes; ++i) {
      const std::uint32_t index = (hash + i) % kNodes;
      if (index == 0) continue;
      const Node& node = nodes()[index];
      if (node.is_complete.load(std::memory_order_acquire) == 0) {
        free = index;
        return 0;
      }
      if (same(node.call, call)) return index;
    }
    free = 0;
    return 0;
  };
  std::uint32_t free = 0;
  if (const std::uint32_t found = find(free); found != 0 || free == 0) return found;
  const std::lock_guard guard(reinterpret_cast<Header*>(memory_)->lock);
  if (const std::uint32_t found = find(free); found != 0 || free == 0) return found;
  nodes()[free].call = call;
  nodes()[free].is_complete.store(1, std::memory_order_release);
  return free;
}

Call CallTree::at(std::uint32_t node) const noexcept {
  return memory_ == nullptr || node == 0 ? Call{} : nodes()[node % kNodes].call;
}

}  // namespace shmemx::races
