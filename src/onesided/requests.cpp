#include "onesided/requests.hpp"

#include "base/fatal.hpp"

namespace shmemx::onesided {
namespace {

constexpr std::uint32_t kIndexMask = kMaxRequests - 1;
constexpr std::uint32_t kGenerations = (~std::uint32_t{0} / kMaxRequests) + 1;

// Changed under the endpoint's lock only.
void add(OpenCount& count, std::uint32_t change) noexcept {
  count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_release);  // answer
}

}  // namespace

Ticket Requests::open(const Placement& placement, int pe, const Asker& asker) noexcept {
  const std::uint32_t index = freed_ != 0 ? free_[--freed_] : fresh_++;
  Request& entry = entries_[index];
  const std::uint32_t generation = (entry.generation + 1) % kGenerations;
  entry = {placement, asker.open, pe, generation, false};
  if (asker.context != 0) {
    owners_[index].store(owner_of(asker.context, pe), std::memory_order_relaxed);  // the same thread looks for it
    add(nbi_, 1);
  }
  add(*asker.open, 1);
  return generation * kMaxRequests + index;
}

const Request* Requests::find(Ticket ticket, int pe) const noexcept {
  const Request& entry = entries_[ticket & kIndexMask];
  const bool is_it = entry.open != nullptr && entry.generation == ticket / kMaxRequests && entry.pe == pe;
  return is_it ? &entry : nullptr;
}

void Requests::close(Ticket ticket) noexcept {
  const std::uint32_t index = ticket & kIndexMask;
  Request& entry = entries_[index];
  OpenCount& open = *entry.open;
  entry.open = nullptr;
  free_[freed_++] = static_cast<std::uint16_t>(index);
  if (owners_[index].load(std::memory_order_relaxed) != 0) {  // written under the lock
    owners_[index].store(0, std::memory_order_release);       // owner
    add(nbi_, ~std::uint32_t{0});
  }
  // Last: whoever waits may leave at once, and the counter with him.
  add(open, ~std::uint32_t{0});
}

bool Requests::any_open(std::uint32_t context, int pe) const noexcept {
  const std::uint64_t sought = owner_of(context, pe);
  for (const auto& owner : owners_) {
    if (owner.load(std::memory_order_acquire) == sought) return true;  // owner
  }
  return false;
}

std::uint32_t index_of(const context::Context& context) noexcept {
  const auto distance =
      reinterpret_cast<std::uintptr_t>(&context) - reinterpret_cast<std::uintptr_t>(context::context_table);
  const std::uintptr_t index = distance / sizeof(context::Context);
  return static_cast<std::uint32_t>(index < context::kMaxContexts ? index : context::kDefaultContext);
}

void reject(const char* what, int source, const char* wrong) noexcept {
  fatal(nullptr, "a message of PE %d, %s, %s; nothing has been touched", source, what, wrong);
}

}  // namespace shmemx::onesided
