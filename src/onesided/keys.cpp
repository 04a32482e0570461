#include "onesided/keys.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/fatal.hpp"
#include "base/machine.hpp"

namespace shmemx::onesided {
namespace {

std::uint64_t range_bytes(std::uint64_t window_bytes) noexcept {
  return std::max(kMinKeyRange, std::bit_ceil(window_bytes / kMaxKeysOfWindow + 1));
}

}  // namespace

std::string why_not_registered(transport::Transport& network) {
  const context::Context& context = context::context_table[context::kDefaultContext];
  auto* const base = reinterpret_cast<std::byte*>(context.heap_base);
  const std::uint64_t bytes = std::min(range_bytes(context.window_bytes), context.window_bytes);
  const Result<std::string> key = network.rma()->register_memory(base, bytes);
  if (!key) return key.error().text + locked_memory_note();
  network.rma()->unregister_memory(base);
  return {};
}

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

// Many PEs of a node meet the same limit, so the first one says so, once. A refusal of a public window is not worth a
// line: it may be memory of any kind.
void OpenedRanges::report_refusal(const Name& name, std::uint64_t bytes, const char* why) {
  const char* const network = name.network->name();
  const bool is_own = name.index == windows::kHeapWindow.index || name.index == windows::kStaticWindow.index;
  if (is_own && !has_reported_ && context::node_index(am::own_endpoint().me()) == NodeIndex{0}) {
    has_reported_ = true;
    return warn(
        "%s does not register %llu bytes of this PE's %s (%s%s): puts and gets of other nodes go there as "
        "messages",
        network, static_cast<unsigned long long>(bytes),
        name.index == windows::kHeapWindow.index ? "heap" : "static data", why, locked_memory_note().c_str());
  }
  debug_line("%s reaches no range of %llu bytes, messages do: %s", network, static_cast<unsigned long long>(bytes),
             why);
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
    report_refusal(name, reply.bytes, key ? "its key is too long" : key.error().text.c_str());
    if (key) registrations_.release(*name.network, opened.base, Registrations::Memory::ends);
    return opened;
  }
  reply.is_open = 1;
  reply.key_bytes = static_cast<std::uint32_t>(key->size());
  std::memcpy(reply.key, key->data(), key->size());
  return opened;
}

OpenedRanges::Opened* OpenedRanges::find(const transport::Transport& network, windows::WindowName window,
                                         std::uint64_t offset) {
  Opened* opened = nullptr;
  for_each(pieces_, window, {offset, 1}, [&](Pieces::iterator piece) {
    if (piece->first.network == &network) opened = &piece->second;
  });
  return opened;
}

std::uint64_t OpenedRanges::registered_bytes(const transport::Transport& network, const Name& window) const {
  std::uint64_t bytes = 0;
  auto piece = pieces_.lower_bound({window.index, window.generation, 0, nullptr});
  for (; piece != pieces_.end() && piece->first.index == window.index; ++piece) {
    const bool is_it = piece->first.generation == window.generation && piece->first.network == &network;
    if (is_it && piece->second.reply.is_open != 0) bytes += piece->second.reply.bytes;
  }
  return bytes;
}

// A holder of a key of a public window is noted as soon as the key is in the list.
void OpenedRanges::add_holder(Opened& opened, windows::WindowName window, int pe) {
  std::vector<int>& holders = opened.holders;
  if (is_public(window) && std::find(holders.begin(), holders.end(), pe) == holders.end()) holders.push_back(pe);
}

// What the network refuses now is tried once more when somebody needs it.
OpenedRanges::Opened* OpenedRanges::try_open_ahead(const Name& name, const windows::ExposedRange& memory) {
  Opened& opened = open_piece(name, memory);
  if (opened.reply.is_open != 0) return &opened;
  pieces_.erase(name);
  return nullptr;
}

void OpenedRanges::add_neighbours(const Name& first, const KeyRequest& request, const windows::ExposedRange& memory,
                                  Requester requester, KeyList& list) {
  const std::uint64_t range = range_bytes(memory.bytes);
  const std::uint64_t end = memory.begin + memory.bytes;
  const auto try_add = [&](std::uint64_t begin, bool may_open) {
    Opened* opened = find(*first.network, request.window, begin);
    if (opened == nullptr && may_open && requester.ahead_bytes >= range) {
      requester.ahead_bytes -= range;
      opened = try_open_ahead({first.index, first.generation, begin, first.network}, memory);
    }
    if (opened == nullptr || opened->reply.is_open == 0) return true;
    if (!list.add(opened->reply)) return false;
    add_holder(*opened, request.window, requester.pe);
    return true;
  };
  const bool is_backward = request.is_backward != 0;
  const auto add_behind = [&] {
    for (std::uint64_t begin = first.begin; end - begin > range;) {
      if (!try_add(begin += range, !is_backward)) return;
    }
  };
  const auto add_in_front = [&] {
    for (std::uint64_t begin = first.begin; begin > memory.begin;) {
      if (!try_add(begin -= range, is_backward)) return;
    }
  };
  if (!is_backward) add_behind();
  add_in_front();
  if (is_backward) add_behind();
}

KeyList OpenedRanges::reply(transport::Transport& network, const KeyRequest& request,
                            const windows::ExposedRange& memory, int pe) {
  const std::uint64_t range = range_bytes(memory.bytes);
  const std::uint64_t begin = memory.begin + (request.offset - memory.begin) / range * range;
  const Name name{request.window.index, request.window.generation, begin, &network};
  const std::uint64_t before = registered_bytes(network, name);
  Opened* opened = find(network, request.window, request.offset);
  const bool is_new = opened == nullptr;
  if (is_new) opened = &open_piece(name, memory);
  KeyList list;
  list.add(opened->reply);
  add_holder(*opened, request.window, pe);
  const std::uint64_t ahead = is_new && !is_public(request.window) ? std::min(before, kMostAheadBytes) : 0;
  if (opened->reply.is_open != 0) add_neighbours(name, request, memory, {pe, ahead}, list);
  return list;
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

bool KnownKeys::begin_request(const context::Place& place) noexcept {
  ++requests_;
  const auto window = windows_.find({place.pe, place.window});
  if (window == windows_.end()) return false;
  const auto next = window->second.upper_bound(place.offset);
  return next != window->second.end() && next == window->second.begin();
}

// Several threads may have requested the same key, and the list names what is known already.
void KnownKeys::add(Keys& keys, int pe, const KeyReply& reply, transport::Rma* rma) {
  const auto next = keys.upper_bound(reply.begin);
  const bool meets_next = next != keys.end() && next->first - reply.begin < reply.bytes;
  const bool meets_last = next != keys.begin() && reply.begin - std::prev(next)->first < std::prev(next)->second.bytes;
  if (meets_next || meets_last) return;
  transport::RemoteKey* const key =
      reply.is_open != 0 && rma != nullptr ? rma->import_key(pe, {reply.key, reply.key_bytes}) : nullptr;
  keys.emplace_hint(next, reply.begin, KnownKey{reply.begin, reply.bytes, rma, key});
}

void KnownKeys::end_request(const context::Place& place, const KeyList* reply, transport::Rma* rma) {
  const Owner owner{place.pe, place.window};
  const bool is_revoked = std::find(revoked_.begin(), revoked_.end(), owner) != revoked_.end();
  if (reply != nullptr && !is_revoked) {
    std::size_t at = 0;
    for (KeyReply key{}; reply->take(at, key);) add(windows_[owner], place.pe, key, rma);
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
