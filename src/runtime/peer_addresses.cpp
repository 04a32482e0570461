#include "runtime/peer_addresses.hpp"

#include <algorithm>
#include <cstring>

#include "base/fatal.hpp"
#include "base/futex.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::AddressState;
using bootstrap::PeAddresses;
using transport::Bytes;

constexpr std::uint64_t kCopyCheckNs = 100'000;  // copying takes less, unless the copying PE is not running

// In front of each endpoint address of a PE.
struct AddressHeader {
  char name[12];
  std::uint32_t bytes;
};
static_assert(sizeof(AddressHeader) == 16);

// In front of each PE's endpoint addresses in what a node publishes.
struct EntryHeader {
  std::uint32_t pe;
  std::uint32_t address_bytes;
};

Bytes bytes_of(const PeAddresses& addresses) {
  return {addresses.data, std::min<std::size_t>(addresses.bytes, PeAddresses::kBytes)};
}

bool is_known(const PeAddresses& addresses) {
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

// Copies what a node has published about a PE. Of several threads and processes that do so one writes; the others wait
// for it, since all need the addresses next.
void keep(PeAddresses& addresses, Bytes published) {
  auto state = static_cast<std::uint32_t>(AddressState::unknown);
  if (addresses.state.compare_exchange_strong(state, static_cast<std::uint32_t>(AddressState::being_written),
                                              std::memory_order_acquire)) {
    std::memcpy(addresses.data, published.data(), published.size());
    addresses.bytes = static_cast<std::uint32_t>(published.size());
    return close_addresses(addresses);
  }
  while (!is_known(addresses)) futex_sleep(addresses.state, state, kCopyCheckNs, FutexScope::node);
}

Error damaged(int node) {
  return {Errc::protocol, 0, "the endpoint addresses that node " + std::to_string(node) + " has published are damaged"};
}

// Calls use(pe, addresses) for each PE of a node, by what the node has published.
template <class Use>
Status for_each_published(const std::string& text, const bootstrap::NodeMap& map, int n_pes, int node, const Use& use) {
  const Bytes all = std::as_bytes(std::span(text.data(), text.size()));
  EntryHeader header;
  for (std::size_t at = 0; at < all.size(); at += sizeof header + header.address_bytes) {
    const std::size_t left = all.size() - at;
    if (left < sizeof header) return damaged(node);
    std::memcpy(&header, all.data() + at, sizeof header);
    const bool fits = header.address_bytes <= std::min(left - sizeof header, PeAddresses::kBytes);
    if (!fits || header.pe >= static_cast<std::uint32_t>(n_pes) || map.node(static_cast<int>(header.pe)) != node)
      return damaged(node);
    use(static_cast<int>(header.pe), all.subspan(at + sizeof header, header.address_bytes));
  }
  return {};
}

}  // namespace

Status PeerAddresses::read_node_of(int pe) const {
  if (is_known(arena_.endpoint_addresses(pe))) return {};
  const bootstrap::NodeMap& map = launcher_.nodes();
  const int node = map.node(pe);
  SHMEMX_TRY_ASSIGN(text, launcher_.fetch(node));
  SHMEMX_TRY(for_each_published(text, map, static_cast<int>(arena_.header().n_pes), node,
                                [&](int other, Bytes all) { keep(arena_.endpoint_addresses(other), all); }));
  return is_known(arena_.endpoint_addresses(pe)) ? Status() : damaged(node);
}

Bytes PeerAddresses::of(int pe, const std::string& network) const {
  const Status read = read_node_of(pe);
  if (read) return find_address(bytes_of(arena_.endpoint_addresses(pe)), network);
  if (read.error().code != Errc::no_launcher)
    fatal(nullptr, "the endpoint addresses of PE %d cannot be read: %s", pe, read.error().text.c_str());
  debug_line("the endpoint addresses of PE %d are not read: %s", pe, read.error().text.c_str());
  return {};
}

bool PeerAddresses::has(int pe, const std::string& network) const {
  const bool is_alike = arena_.header().networks_differ == 0 && !is_known(arena_.endpoint_addresses(pe));
  return is_alike || !of(pe, network).empty();
}

Status PeerAddresses::read_all() const {
  for (int pe = 0; pe < static_cast<int>(arena_.header().n_pes); ++pe) SHMEMX_TRY(read_node_of(pe));
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

std::string addresses_of_node(const windows::Arena& arena, const bootstrap::NodeMap& map, int node) {
  std::string text;
  for (int pe = 0; pe < static_cast<int>(arena.header().n_pes); ++pe) {
    if (map.node(pe) != node) continue;
    const Bytes addresses = bytes_of(arena.endpoint_addresses(pe));
    const EntryHeader header{static_cast<std::uint32_t>(pe), static_cast<std::uint32_t>(addresses.size())};
    text.append(reinterpret_cast<const char*>(&header), sizeof header);
    text.append(reinterpret_cast<const char*>(addresses.data()), addresses.size());
  }
  return text;
}

}  // namespace shmemx::runtime
