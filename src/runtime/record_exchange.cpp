#include "runtime/record_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/peer_addresses.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::PeRecord;

// The settings of a PE, in the form of a record whose other members are 0, and the networks that it has opened. Of
// heaps only the smallest matters, and machines' memories are rarely equal: they do not count as different.
struct Settings {
  std::uint32_t pe;          // the lowest one that has them
  std::uint64_t heap_bytes;  // the least of those that have them
  std::array<std::byte, sizeof(PeRecord)> record;
  std::string networks;

  bool equals(const Settings& other) const { return record == other.record && networks == other.networks; }
};
using List = std::vector<Settings>;  // no two are equal

struct EntryHeader {
  std::uint32_t pe;
  std::uint32_t networks_bytes;
  std::uint64_t heap_bytes;
};

Settings settings_of(const windows::Arena& arena, int pe) {
  const PeRecord& from = arena.record(pe);
  PeRecord kept{};
  kept.static_bytes = from.static_bytes;
  kept.static_digest = from.static_digest;
  kept.heap_asked = from.heap_asked;
  kept.address_limit = from.address_limit;
  std::memcpy(kept.executable, from.executable, ::strnlen(from.executable, sizeof kept.executable));
  kept.node_path = from.node_path;
  kept.queue_cells = from.queue_cells;
  kept.queue_cell_bytes = from.queue_cell_bytes;
  kept.pes_per_node = from.pes_per_node;
  kept.node_order = from.node_order;
  kept.networks = from.networks;
  Settings settings{static_cast<std::uint32_t>(pe), from.heap_bytes, {}, networks_in(arena.endpoint_addresses(pe))};
  std::memcpy(settings.record.data(), reinterpret_cast<const std::byte*>(&kept), sizeof kept);
  return settings;
}

// Keeps the one of the lower PE of two that are equal.
void add(List& list, const Settings& settings) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const Settings& one) { return one.equals(settings); });
  if (same == list.end()) {
    list.push_back(settings);
  } else {
    same->pe = std::min(same->pe, settings.pe);
    same->heap_bytes = std::min(same->heap_bytes, settings.heap_bytes);
  }
}

std::string text_of(const List& list) {
  std::string text;
  for (const Settings& settings : list) {
    const EntryHeader header{settings.pe, static_cast<std::uint32_t>(settings.networks.size()), settings.heap_bytes};
    text.append(reinterpret_cast<const char*>(&header), sizeof header);
    text.append(reinterpret_cast<const char*>(settings.record.data()), settings.record.size());
    text += settings.networks;
  }
  return text;
}

Result<List> list_of(const std::string& text, std::uint32_t n_pes) {
  List list;
  EntryHeader header;
  constexpr std::size_t kFixed = sizeof header + sizeof(PeRecord);
  for (std::size_t at = 0; at < text.size(); at += kFixed + header.networks_bytes) {
    const std::size_t left = text.size() - at;
    if (left >= kFixed) std::memcpy(&header, text.data() + at, sizeof header);
    if (left < kFixed || header.pe >= n_pes || header.networks_bytes > left - kFixed)
      return Error{Errc::protocol, 0, "the records of the nodes are damaged"};
    Settings settings{header.pe, header.heap_bytes, {}, text.substr(at + kFixed, header.networks_bytes)};
    std::memcpy(settings.record.data(), text.data() + at + sizeof header, sizeof(PeRecord));
    list.push_back(std::move(settings));
  }
  if (list.empty()) return Error{Errc::protocol, 0, "the nodes have sent no records"};
  return list;
}

void fill_record(PeRecord& record, const Settings& settings, int node) {
  std::memcpy(reinterpret_cast<std::byte*>(&record), settings.record.data(), settings.record.size());
  record.heap_bytes = settings.heap_bytes;
  record.node = static_cast<std::uint32_t>(node);
  record.phase.store(static_cast<std::uint32_t>(bootstrap::PePhase::attached), std::memory_order_release);
}

void fill_other_nodes(const windows::Arena& arena, const bootstrap::NodeMap& map, int own, const List& list) {
  for (int pe = 0; pe < static_cast<int>(arena.header().n_pes); ++pe) {
    if (map.node(pe) != own) fill_record(arena.record(pe), list.front(), map.node(pe));
  }
  for (const Settings& settings : list) {
    const int pe = static_cast<int>(settings.pe);
    if (map.node(pe) != own) fill_record(arena.record(pe), settings, map.node(pe));
  }
  const auto other = [&](const Settings& settings) { return settings.networks != list.front().networks; };
  arena.header().networks_differ = std::any_of(list.begin(), list.end(), other) ? 1 : 0;
}

}  // namespace

Status lead_records(const windows::Arena& arena, bootstrap::Bootstrap& launcher) {
  const bootstrap::NodeMap& map = launcher.nodes();
  const std::uint32_t n_pes = arena.header().n_pes;
  const int own = map.node(launcher.identity().pe);
  List mine;
  for (int pe = 0; pe < static_cast<int>(n_pes); ++pe) {
    if (map.node(pe) == own) add(mine, settings_of(arena, pe));
  }
  const bootstrap::Merge merge = [n_pes](const std::string& lower, const std::string& higher) -> Result<std::string> {
    SHMEMX_TRY_ASSIGN(list, list_of(lower, n_pes));
    SHMEMX_TRY_ASSIGN(added, list_of(higher, n_pes));
    for (const Settings& settings : added) add(list, settings);
    return text_of(list);
  };
  SHMEMX_TRY_ASSIGN(text, launcher.combine(text_of(mine), merge));
  SHMEMX_TRY_ASSIGN(list, list_of(text, n_pes));
  fill_other_nodes(arena, map, own, list);
  return {};
}

Status follow_records(bootstrap::Bootstrap& launcher) {
  auto combined = launcher.combine({}, [](const std::string&, const std::string& higher) { return higher; });
  return combined ? Status() : combined.error();
}

}  // namespace shmemx::runtime
