#include "onesided/keys.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/fatal.hpp"

namespace shmemx::onesided {
namespace {

std::uint64_t range_bytes(std::uint64_t window_bytes) noexcept {
  return std::max(kMinKeyRange, std::bit_ceil(window_bytes / kMaxKeysOfWindow + 1));
}

// Stays as it is where the network refuses: others need not try again.
void open_range(transport::Transport& network, std::byte* base, KeyAnswer& answer) {
  Result<std::string> key = network.register_memory(base, answer.bytes);
  if (!key || key->size() > sizeof answer.key) {
    debug_line("%s reaches no range of %llu bytes, messages do: %s", network.name(),
               static_cast<unsigned long long>(answer.bytes), key ? "its key is too long" : key.error().text.c_str());
    return;
  }
  answer.is_open = 1;
  answer.key_bytes = static_cast<std::uint32_t>(key->size());
  std::memcpy(answer.key, key->data(), key->size());
}

}  // namespace

const KeyAnswer& OpenedRanges::answer(transport::Transport& network, const KeyAsk& ask,
                                      const windows::ExposedRange& window) {
  for (const auto& known : opened_) {
    if (known->network == &network && known->window == ask.window && is_sound(known->answer, ask.offset))
      return known->answer;
  }
  const std::uint64_t range = range_bytes(window.bytes);
  const std::uint64_t begin = ask.offset / range * range;
  auto opened = std::make_unique<Opened>(Opened{&network, ask.window, window.base + begin, {}});
  opened->answer.begin = begin;
  opened->answer.bytes = std::min(range, window.bytes - begin);
  open_range(network, opened->base, opened->answer);
  opened_.push_back(std::move(opened));
  return opened_.back()->answer;
}

void OpenedRanges::close() noexcept {
  for (const auto& opened : opened_) {
    if (opened->answer.is_open != 0) opened->network->unregister_memory(opened->base);
  }
  opened_.clear();
}

const RemoteKey* KnownKeys::find(const context::Place& place) const noexcept {
  const auto peer = peers_.find(place.pe);
  if (peer == peers_.end()) return nullptr;
  for (const RemoteKey& key : peer->second.keys) {
    if (key.window == place.window && place.offset >= key.begin && place.offset - key.begin < key.bytes) return &key;
  }
  return nullptr;
}

// Several threads may have asked.
void KnownKeys::add(const context::Place& place, const KeyAnswer& answer) {
  if (find(place) != nullptr) return;
  peers_[place.pe].keys.push_back({place.window, answer.begin, answer.bytes, answer.is_open != 0,
                                   std::string(reinterpret_cast<const char*>(answer.key), answer.key_bytes)});
}

}  // namespace shmemx::onesided
