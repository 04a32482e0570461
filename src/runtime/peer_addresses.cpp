#include "runtime/peer_addresses.hpp"

#include <algorithm>
#include <cstring>

#include "base/fatal.hpp"
#include "base/futex.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::AddressState;
using bootstrap::ForeignAddresses;
using bootstrap::PeAddresses;
using transport::Bytes;

constexpr std::uint64_t kCopyCheckNs = 100'000;  // copying takes less, unless the copying PE is not running

// In front of each endpoint address of a PE.
struct AddressHeader {
  char name[12];
  std::uint32_t bytes;
};
static_assert(sizeof(AddressHeader) == 16);

Bytes bytes_of(const PeAddresses& addresses) {
  return {addresses.data, std::min<std::size_t>(addresses.bytes, PeAddresses::kBytes)};
}

bool is_known(const ForeignAddresses& addresses) {
  // edge: addresses that were copied before are visible
  return addresses.state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(AddressState::known);
}

// Calls use(name, address) for each address, until it returns true. Another process wrote them: nothing outside of them
// is read.
template <class Use>
void for_each_address(Bytes all, const Use& use) {
  AddressHeader header;
  for (std::size_t at = 0; at + sizeof header <= all.size(); at += sizeof header + header.bytes) {
    std::memcpy(&header, all.data() + at, sizeof header);
    if (header.bytes > all.size() - at - sizeof header) return;
    const std::string name(header.name, ::strnlen(header.name, sizeof header.name));
    if (use(name, all.subspan(at + sizeof header, header.bytes))) return;
  }
}

Bytes find_address(Bytes all, const std::string& network) {
  Bytes found;
  for_each_address(all, [&](const std::string& name, Bytes address) {
    if (name == network) found = address;
    return name == network;
  });
  return found;
}

// Copies what a node has published. Of several threads and processes that do so one writes; the others wait for it,
// since all need the addresses next.
void keep(bootstrap::JobHeader& header, ForeignAddresses& addresses, const std::string& published) {
  auto state = static_cast<std::uint32_t>(AddressState::unknown);
  if (addresses.state.compare_exchange_strong(state, static_cast<std::uint32_t>(AddressState::being_written),
                                              std::memory_order_acquire)) {
    addresses.offset = header.address_bytes.fetch_add(published.size(), std::memory_order_relaxed);
    addresses.bytes = static_cast<std::uint32_t>(published.size());
    std::memcpy(bootstrap::published_at(&header, addresses.offset), published.data(), published.size());
    addresses.state.store(static_cast<std::uint32_t>(AddressState::known), std::memory_order_release);
    return;
  }
  while (!is_known(addresses)) futex_sleep(addresses.state, state, kCopyCheckNs, FutexScope::node);
}

Error damaged(int node) {
  return {Errc::protocol, 0, "the endpoint addresses that node " + std::to_string(node) + " has published are damaged"};
}

// Calls use(pe, addresses) for each PE in what a node has published. Returns false if it is damaged, or if use() does.
template <class Use>
bool for_each_published(Bytes all, const Use& use) {
  bootstrap::PublishedEntry header;
  for (std::size_t at = 0; at < all.size(); at += sizeof header + header.address_bytes) {
    const std::size_t left = all.size() - at;
    if (left < sizeof header) return false;
    std::memcpy(&header, all.data() + at, sizeof header);
    if (header.address_bytes > std::min(left - sizeof header, PeAddresses::kBytes)) return false;
    if (!use(header.pe, all.subspan(at + sizeof header, header.address_bytes))) return false;
  }
  return true;
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

// Each PE of the node once, in ascending order, and no other.
bool is_of_node(const std::string& text, const bootstrap::NodeMap& map, std::uint32_t n_pes, int node) {
  std::int64_t last = -1;
  return !text.empty() && for_each_published(bytes_of(text), [&](std::uint32_t pe, Bytes) {
    const bool fits = pe < n_pes && std::int64_t{pe} > last && map.node(static_cast<int>(pe)) == node;
    last = pe;
    return fits;
  });
}

}  // namespace

ForeignAddresses& PeerAddresses::of_node(int node) const {
  return *bootstrap::foreign_addresses_of(&arena_.header(), static_cast<std::size_t>(node));
}

Bytes PeerAddresses::find(int pe) const {
  if (arena_.has(pe)) return bytes_of(arena_.endpoint_addresses(pe));
  const ForeignAddresses& theirs = of_node(launcher_.nodes().node(pe));
  if (!is_known(theirs)) return {};
  Bytes found;
  for_each_published({bootstrap::published_at(&arena_.header(), theirs.offset), theirs.bytes},
                     [&](std::uint32_t other, Bytes addresses) {
                       const bool is_it = other == static_cast<std::uint32_t>(pe);
                       if (is_it) found = addresses;
                       return !is_it;
                     });
  return found;
}

bool PeerAddresses::is_read(int pe) const { return arena_.has(pe) || is_known(of_node(launcher_.nodes().node(pe))); }

Status PeerAddresses::read_node(int node) const {
  const bootstrap::NodeMap& map = launcher_.nodes();
  ForeignAddresses& theirs = of_node(node);
  if (node == map.node(launcher_.identity().pe) || is_known(theirs)) return {};
  SHMEMX_TRY_ASSIGN(text, launcher_.fetch(node));
  if (!is_of_node(text, map, arena_.header().n_pes, node)) return damaged(node);
  keep(arena_.header(), theirs, text);
  return {};
}

Status PeerAddresses::read_node_of(int pe) const {
  const int node = launcher_.nodes().node(pe);
  SHMEMX_TRY(read_node(node));
  return find(pe).data() != nullptr ? Status() : damaged(node);
}

Bytes PeerAddresses::of(int pe, const std::string& network) const {
  const int node = launcher_.nodes().node(pe);
  if (!launcher_.nodes().is_real(node))
    fatal(nullptr, "PE %d is not real: SHMEMX_SYNTHETIC_WORLD only claims that node %d exists", pe, node);
  const Status read = read_node_of(pe);
  if (read) return find_address(find(pe), network);
  if (read.error().code != Errc::no_launcher)
    fatal(nullptr, "the endpoint addresses of PE %d cannot be read: %s", pe, read.error().text.c_str());
  debug_line("the endpoint addresses of PE %d are not read: %s", pe, read.error().text.c_str());
  return {};
}

bool PeerAddresses::has(int pe, const std::string& network) const {
  const bool is_alike = arena_.header().networks_differ == 0 && !is_read(pe);
  return is_alike || !find_address(find(pe), network).empty();
}

Status PeerAddresses::read_all() const {
  for (int node = 0; node < launcher_.nodes().n_nodes(); ++node) SHMEMX_TRY(read_node(node));
  return {};
}

bool add_address(PeAddresses& addresses, const std::string& network, const std::string& address) {
  AddressHeader header{};
  if (network.size() >= sizeof header.name || addresses.bytes + sizeof header + address.size() > PeAddresses::kBytes)
    return false;
  std::memcpy(header.name, network.data(), network.size());
  header.bytes = static_cast<std::uint32_t>(address.size());
  std::memcpy(addresses.data + addresses.bytes, &header, sizeof header);
  std::memcpy(addresses.data + addresses.bytes + sizeof header, address.data(), address.size());
  addresses.bytes += static_cast<std::uint32_t>(sizeof header + address.size());
  return true;
}

void close_addresses(PeAddresses& addresses) noexcept {
  // edge: see is_known
  addresses.state.store(static_cast<std::uint32_t>(AddressState::known), std::memory_order_release);
}

std::string networks_in(const PeAddresses& addresses) {
  std::string names;
  for_each_address(bytes_of(addresses), [&](const std::string& name, Bytes) {
    names += name + " ";
    return false;
  });
  return names;
}

std::string addresses_of_node(const windows::Arena& arena) {
  std::string text;
  for (const bootstrap::RecordOfPe& own : arena.records()) {
    const Bytes addresses = bytes_of(arena.endpoint_addresses(own.pe));
    const bootstrap::PublishedEntry header{static_cast<std::uint32_t>(own.pe),
                                           static_cast<std::uint32_t>(addresses.size())};
    text.append(reinterpret_cast<const char*>(&header), sizeof header);
    text.append(reinterpret_cast<const char*>(addresses.data()), addresses.size());
  }
  return text;
}

}  // namespace shmemx::runtime
