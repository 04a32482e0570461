#include "onesided/keys.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/fatal.hpp"

namespace shmemx::onesided {
namespace {

std::uint64_t range_bytes(std::uint64_t window_bytes) noexcept {
  return std::max(kMinKeyRange, std::bit_ceil(window_bytes / kMaxKeysOfWindow + 1));
}

}  // namespace

// Visits the pieces that hold any of these bytes. visit(piece) may remove it.
template <class Visit>
void OpenedRanges::for_each(Pieces& pieces, windows::WindowName window, const Extent& extent, Visit visit) {
  const auto overlaps = [&](Pieces::iterator piece) {
    return piece->first.index == window.index && piece->first.generation == window.generation &&
           extent.overlaps(piece->first.begin, piece->second.reply.bytes);
  };
  auto piece = pieces.lower_bound({window.index, window.generation, extent.begin, nullptr});
  while (piece != pieces.begin() && overlaps(std::prev(piece))) --piece;
  while (piece != pieces.end() && overlaps(piece)) visit(piece++);
}

// A piece that the network refuses is reached by messages, and stays so: others need not try again.
OpenedRanges::Opened& OpenedRanges::open_piece(const Name& name, const windows::ExposedRange& memory) {
  Opened& opened = pieces_[name];
  KeyReply& reply = opened.reply;
  const std::uint64_t begin = name.begin - memory.begin;
  opened.base = memory.base + begin;
  reply.begin = name.begin;
  reply.bytes = std::min(range_bytes(memory.bytes), memory.bytes - begin);
  Result<std::string> key = registrations_.acquire(*name.network, opened.base, reply.bytes);
  if (!key || key->size() > sizeof reply.key) {
    debug_line("%s reaches no range of %llu bytes, messages do: %s", name.network->name(),
               static_cast<unsigned long long>(reply.bytes), key ? "its key is too long" : key.error().text.c_str());
    if (key) registrations_.release(*name.network, opened.base, Registrations::Memory::ends);
    return opened;
  }
  reply.is_open = 1;
  reply.key_bytes = static_cast<std::uint32_t>(key->size());
  std::memcpy(reply.key, key->data(), key->size());
  return opened;
}

const KeyReply& OpenedRanges::reply(transport::Transport& network, const KeyRequest& request,
                                    const windows::ExposedRange& memory, int pe) {
  Opened* opened = nullptr;
  for_each(pieces_, request.window, {request.offset, 1}, [&](Pieces::iterator piece) {
    if (piece->first.network == &network) opened = &piece->second;
  });
  if (opened == nullptr) {
    const std::uint64_t range = range_bytes(memory.bytes);
    const std::uint64_t begin = memory.begin + (request.offset - memory.begin) / range * range;
    opened = &open_piece({request.window.index, request.window.generation, begin, &network}, memory);
  }
  std::vector<int>& holders = opened->holders;
  if (is_public(request.window) && std::find(holders.begin(), holders.end(), pe) == holders.end())
    holders.push_back(pe);
  return opened->reply;
}

std::vector<int> OpenedRanges::holders(windows::WindowName window, const Extent& extent) {
  std::vector<int> pes;
  for_each(pieces_, window, extent, [&](Pieces::iterator piece) {
    const std::vector<int>& of_piece = piece->second.holders;
    pes.insert(pes.end(), of_piece.begin(), of_piece.end());
  });
  std::sort(pes.begin(), pes.end());
  pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
  return pes;
}

void OpenedRanges::end(Pieces::iterator piece, Registrations::Memory memory) noexcept {
  if (piece->second.reply.is_open != 0) registrations_.release(*piece->first.network, piece->second.base, memory);
  pieces_.erase(piece);
}

void OpenedRanges::close(windows::WindowName window, const Extent& extent, Registrations::Memory memory) noexcept {
  for_each(pieces_, window, extent, [&](Pieces::iterator piece) { end(piece, memory); });
}

void OpenedRanges::close() noexcept {
  while (!pieces_.empty()) end(pieces_.begin(), Registrations::Memory::ends);
  registrations_.clear();
}

const KnownKey* KnownKeys::find(const context::Place& place) const noexcept {
  const auto window = windows_.find({place.pe, place.window});
  if (window == windows_.end()) return nullptr;
  const auto next = window->second.upper_bound(place.offset);
  if (next == window->second.begin()) return nullptr;
  const KnownKey& key = std::prev(next)->second;
  return place.offset - key.begin < key.bytes ? &key : nullptr;
}

// Several threads may have requested the same key.
void KnownKeys::end_request(const context::Place& place, const KeyReply* reply, transport::Rma* rma) {
  const Owner owner{place.pe, place.window};
  const bool is_revoked = std::find(revoked_.begin(), revoked_.end(), owner) != revoked_.end();
  if (reply != nullptr && !is_revoked && find(place) == nullptr) {
    transport::RemoteKey* const key =
        reply->is_open != 0 && rma != nullptr ? rma->import_key(place.pe, {reply->key, reply->key_bytes}) : nullptr;
    windows_[owner].insert_or_assign(reply->begin, KnownKey{reply->begin, reply->bytes, rma, key});
  }
  if (--requests_ == 0) revoked_.clear();
}

void KnownKeys::forget() noexcept {
  for (const auto& [owner, keys] : windows_) {
    for (const auto& [begin, key] : keys) key.release();
  }
  windows_.clear();
}

std::vector<KnownKey> KnownKeys::revoke(int pe, windows::WindowName window, const Extent& extent) {
  std::vector<KnownKey> keys;
  if (requests_ != 0) revoked_.push_back({pe, window});
  const auto found = windows_.find({pe, window});
  if (found == windows_.end()) return keys;
  Keys& all = found->second;
  auto key = all.lower_bound(extent.begin);
  if (key != all.begin() && extent.overlaps(std::prev(key)->first, std::prev(key)->second.bytes)) --key;
  while (key != all.end() && extent.overlaps(key->first, key->second.bytes)) {
    keys.push_back(key->second);
    key = all.erase(key);
  }
  if (all.empty()) windows_.erase(found);
  return keys;
}

}  // namespace shmemx::onesided
