#include "onesided/registrations.hpp"

namespace shmemx::onesided {

Result<std::string> Registrations::acquire(transport::Transport& network, std::byte* base, std::uint64_t bytes) {
  const auto found = ranges_.find({&network, base});
  if (found == ranges_.end()) return add(network, base, bytes);
  Range& range = found->second;
  if (range.users == 0 && !try_reuse(found, bytes)) return add(network, base, bytes);
  if (range.bytes < bytes) return Error{Errc::unsupported, 0, "a shorter range that begins there is in use"};
  ++range.users;
  return range.key;
}

// Returns false if the range has ended: it is too short, or its memory is not what was registered.
bool Registrations::try_reuse(Ranges::iterator at, std::uint64_t bytes) noexcept {
  const bool is_same = end_idle(at->second);
  if (is_same && at->second.bytes >= bytes) {
    ++counts_.reused;
    return true;
  }
  if (!is_same) ++counts_.changed;
  end(at);
  return false;
}

Result<std::string> Registrations::add(transport::Transport& network, std::byte* base, std::uint64_t bytes) {
  Result<std::string> key = network.rma()->register_memory(base, bytes);
  while (!key && end_longest_idle()) key = network.rma()->register_memory(base, bytes);  // what stays counts in limits
  if (!key) return key;
  ++counts_.made;
  ranges_[{&network, base}] = {.bytes = bytes, .key = *key, .users = 1};
  return key;
}

void Registrations::release(transport::Transport& network, std::byte* base, Memory memory) noexcept {
  const auto at = ranges_.find({&network, base});
  Range& range = at->second;
  if (--range.users != 0) return;
  if (memory == Memory::ends || range.bytes > limit_) return end(at);
  while (idle_bytes_ > limit_ - range.bytes || n_idle_ == windows::MemoryWatch::kRanges) end_longest_idle();
  range.watch = watch_.watch(base, range.bytes);
  if (range.watch == 0) return end(at);
  range.last_used = ++uses_;
  idle_bytes_ += range.bytes;
  ++n_idle_;
}

// Returns whether its memory is what was registered.
bool Registrations::end_idle(Range& range) noexcept {
  idle_bytes_ -= range.bytes;
  --n_idle_;
  return watch_.end_watch(std::exchange(range.watch, 0));
}

// Returns false if there is none.
bool Registrations::end_longest_idle() noexcept {
  auto longest = ranges_.end();
  for (auto at = ranges_.begin(); at != ranges_.end(); ++at) {
    if (at->second.watch == 0) continue;
    if (longest == ranges_.end() || at->second.last_used < longest->second.last_used) longest = at;
  }
  if (longest == ranges_.end()) return false;
  end_idle(longest->second);
  end(longest);
  return true;
}

// It has no users, and is not watched.
void Registrations::end(Ranges::iterator at) noexcept {
  at->first.first->rma()->unregister_memory(at->first.second);
  ranges_.erase(at);
}

void Registrations::clear() noexcept {
  while (end_longest_idle()) {
  }
  watch_.close();
}

}  // namespace shmemx::onesided
