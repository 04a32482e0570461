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

}  // namespace

// A range that the network refuses is reached by messages, and stays so: others need not try again.
void OpenedRanges::open_range(Opened& opened) {
  KeyReply& reply = opened.reply;
  Result<std::string> key = registrations_.acquire(*opened.network, opened.base, reply.bytes);
  if (!key || key->size() > sizeof reply.key) {
    debug_line("%s reaches no range of %llu bytes, messages do: %s", opened.network->name(),
               static_cast<unsigned long long>(reply.bytes), key ? "its key is too long" : key.error().text.c_str());
    if (key) registrations_.release(*opened.network, opened.base, Registrations::Memory::ends);
    return;
  }
  reply.is_open = 1;
  reply.key_bytes = static_cast<std::uint32_t>(key->size());
  std::memcpy(reply.key, key->data(), key->size());
}

const KeyReply& OpenedRanges::reply(transport::Transport& network, const KeyRequest& request,
                                    const windows::ExposedRange& window, int pe) {
  Opened* found = nullptr;
  for (const auto& known : opened_) {
    if (known->network == &network && known->window == request.window && is_sound(known->reply, request.offset))
      found = known.get();
  }
  if (found == nullptr) {
    const std::uint64_t range = range_bytes(window.bytes);
    const std::uint64_t begin = request.offset / range * range;
    auto opened = std::make_unique<Opened>(Opened{&network, request.window, window.base + begin, {}, {}});
    opened->reply.begin = begin;
    opened->reply.bytes = std::min(range, window.bytes - begin);
    open_range(*opened);
    opened_.push_back(std::move(opened));
    found = opened_.back().get();
  }
  std::vector<int>& holders = found->holders;
  if (is_public(request.window) && std::find(holders.begin(), holders.end(), pe) == holders.end())
    holders.push_back(pe);
  return found->reply;
}

std::vector<int> OpenedRanges::holders(windows::WindowName window) const {
  std::vector<int> pes;
  for (const auto& opened : opened_) {
    if (opened->window == window) pes.insert(pes.end(), opened->holders.begin(), opened->holders.end());
  }
  std::sort(pes.begin(), pes.end());
  pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
  return pes;
}

void OpenedRanges::close(windows::WindowName window, Registrations::Memory memory) noexcept {
  std::erase_if(opened_, [&](const auto& opened) {
    if (opened->window != window) return false;
    if (opened->reply.is_open != 0) registrations_.release(*opened->network, opened->base, memory);
    return true;
  });
}

void OpenedRanges::close() noexcept {
  while (!opened_.empty()) close(opened_.back()->window, Registrations::Memory::ends);
  registrations_.clear();
}

const RemoteKey* KnownKeys::find(const context::Place& place) const noexcept {
  const auto window = windows_.find({place.pe, place.window});
  if (window == windows_.end()) return nullptr;
  for (const RemoteKey& key : window->second) {
    if (place.offset >= key.begin && place.offset - key.begin < key.bytes) return &key;
  }
  return nullptr;
}

// Several threads may have requested the same key.
void KnownKeys::end_request(const context::Place& place, const KeyReply* reply) {
  const Owner owner{place.pe, place.window};
  const bool is_revoked = std::find(revoked_.begin(), revoked_.end(), owner) != revoked_.end();
  if (reply != nullptr && !is_revoked && find(place) == nullptr)
    windows_[owner].push_back({reply->begin, reply->bytes, reply->is_open != 0,
                               std::string(reinterpret_cast<const char*>(reply->key), reply->key_bytes)});
  if (--requests_ == 0) revoked_.clear();
}

bool KnownKeys::has(int pe, const std::string& key) const noexcept {
  const auto is_it = [&](const RemoteKey& known) { return known.is_open && known.key == key; };
  return std::any_of(windows_.begin(), windows_.end(), [&](const auto& window) {
    return window.first.pe == pe && std::any_of(window.second.begin(), window.second.end(), is_it);
  });
}

std::vector<RemoteKey> KnownKeys::revoke(int pe, windows::WindowName window) {
  std::vector<RemoteKey> keys;
  if (const auto found = windows_.find({pe, window}); found != windows_.end()) {
    keys = std::move(found->second);
    windows_.erase(found);
  }
  if (requests_ != 0) revoked_.push_back({pe, window});
  return keys;
}

}  // namespace shmemx::onesided
