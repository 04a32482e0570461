#include "runtime/record_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/peer_addresses.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::PeRecord;

// The settings of a PE, in the form of a record whose other members are 0, and the networks that it has opened. Of
// heaps only the smallest matters, and machines' memories are rarely equal: they do not count as different. Nor do the
// zones of address spaces, of which those matter that all have free.
struct Settings {
  std::uint32_t pe;          // the lowest one that has them
  std::uint64_t heap_bytes;  // the least of those that have them
  std::uint64_t free_zones;  // what all of those have free
  alignas(PeRecord) std::array<std::byte, sizeof(PeRecord)> record;
  std::string networks;

  bool equals(const Settings& other) const { return record == other.record && networks == other.networks; }
};
using List = std::vector<Settings>;  // no two are equal

struct EntryHeader {
  std::uint32_t pe;
  std::uint32_t networks_bytes;
  std::uint64_t heap_bytes;
  std::uint64_t free_zones;
};

Settings settings_of(const windows::Arena& arena, int pe) {
  const PeRecord& from = arena.record(pe);
  PeRecord kept{};
  kept.static_bytes = from.static_bytes;
  kept.static_digest = from.static_digest;
  kept.static_data = from.static_data;
  kept.heap_asked = from.heap_asked;
  kept.checks = from.checks;
  kept.address_limit = from.address_limit;
  std::memcpy(kept.executable, from.executable, ::strnlen(from.executable, sizeof kept.executable));
  kept.node_path = from.node_path;
  kept.queue_cells = from.queue_cells;
  kept.queue_cell_bytes = from.queue_cell_bytes;
  kept.pes_per_node = from.pes_per_node;
  kept.node_order = from.node_order;
  kept.networks = from.networks;
  Settings settings{
      static_cast<std::uint32_t>(pe), from.heap_bytes, from.free_zones, {}, networks_in(arena.endpoint_addresses(pe))};
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
    same->free_zones &= settings.free_zones;
  }
}

std::string text_of(const List& list) {
  std::string text;
  for (const Settings& settings : list) {
    const EntryHeader header{settings.pe, static_cast<std::uint32_t>(settings.networks.size()), settings.heap_bytes,
                             settings.free_zones};
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
    Settings settings{
        header.pe, header.heap_bytes, header.free_zones, {}, text.substr(at + kFixed, header.networks_bytes)};
    std::memcpy(settings.record.data(), text.data() + at + sizeof header, sizeof(PeRecord));
    list.push_back(std::move(settings));
  }
  return list;
}

// Those of the PEs that share this arena, by world PE.
std::vector<bootstrap::RecordOfPe> own_records(const windows::Arena& arena) {
  arena.header().n_foreign = 0;
  return arena.records();
}

// Which of these records can change what PEs of this arena compute from all of them: the first one, the extremes, and
// the first that differs from the first one in each setting that has to be the same.
class Relevant {
 public:
  explicit Relevant(const List& list) : list_(list), chosen_(list.size(), false) {
    mark(std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.pe < b.pe; }));
    const auto first = static_cast<std::size_t>(std::find(chosen_.begin(), chosen_.end(), true) - chosen_.begin());
    for (const auto value : kMaxima)
      mark(extreme([&](const PeRecord& a, const PeRecord& b) { return value(a) < value(b); }));
    mark(extreme([](const PeRecord& a, const PeRecord& b) { return a.address_limit > b.address_limit; }));
    mark(std::min_element(list.begin(), list.end(),
                          [](const auto& a, const auto& b) { return a.heap_bytes < b.heap_bytes; }));
    for (const auto value : kEqual) mark_first_other(value, first);
  }
  bool has(std::size_t i) const { return chosen_[i]; }

 private:
  using Value = std::uint64_t (*)(const PeRecord&);
  static constexpr Value kMaxima[] = {[](const PeRecord& r) { return r.static_bytes; },
                                      [](const PeRecord& r) -> std::uint64_t { return r.heap_asked; },
                                      [](const PeRecord& r) { return static_cast<std::uint64_t>(r.node_path); }};
  static constexpr Value kEqual[] = {[](const PeRecord& r) { return r.static_digest; },
                                     [](const PeRecord& r) { return static_cast<std::uint64_t>(r.static_data); },
                                     [](const PeRecord& r) { return static_cast<std::uint64_t>(r.node_path); },
                                     [](const PeRecord& r) -> std::uint64_t { return r.queue_cells; },
                                     [](const PeRecord& r) -> std::uint64_t { return r.queue_cell_bytes; },
                                     [](const PeRecord& r) -> std::uint64_t { return r.pes_per_node; },
                                     [](const PeRecord& r) -> std::uint64_t { return r.node_order; },
                                     [](const PeRecord& r) -> std::uint64_t { return r.networks; },
                                     [](const PeRecord& r) -> std::uint64_t { return r.checks; }};
  static_assert(2 + std::size(kMaxima) + 1 + std::size(kEqual) <= bootstrap::kForeignRecords);

  const PeRecord& record(std::size_t i) const { return *reinterpret_cast<const PeRecord*>(list_[i].record.data()); }
  void mark(List::const_iterator at) { chosen_[static_cast<std::size_t>(at - list_.begin())] = true; }
  template <class Less>
  List::const_iterator extreme(const Less& less) const {
    std::size_t found = 0;
    for (std::size_t i = 1; i < list_.size(); ++i) {
      if (less(record(found), record(i))) found = i;
    }
    return list_.begin() + static_cast<std::ptrdiff_t>(found);
  }
  void mark_first_other(Value value, std::size_t first) {
    std::size_t found = first;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (value(record(i)) != value(record(first)) && (found == first || list_[i].pe < list_[found].pe)) found = i;
    }
    chosen_[found] = true;
  }

  const List& list_;
  std::vector<bool> chosen_;
};

void fill_foreign(const windows::Arena& arena, const List& list) {
  List foreign;
  for (const Settings& settings : list) {
    if (!arena.has(static_cast<int>(settings.pe))) foreign.push_back(settings);
  }
  bootstrap::JobHeader& header = arena.header();
  const auto other = [&](const Settings& settings) { return settings.networks != list.front().networks; };
  header.networks_differ = std::any_of(list.begin(), list.end(), other) ? 1 : 0;
  header.n_foreign = 0;
  header.foreign_zones = ~std::uint64_t{0};
  for (const Settings& settings : list) header.foreign_zones &= settings.free_zones;
  if (foreign.empty()) return;
  const Relevant relevant(foreign);
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    if (!relevant.has(i)) continue;
    PeRecord& record = *bootstrap::foreign_record_of(&header, header.n_foreign);
    std::memcpy(reinterpret_cast<std::byte*>(&record), foreign[i].record.data(), foreign[i].record.size());
    record.heap_bytes = foreign[i].heap_bytes;
    header.foreign_pes[header.n_foreign++] = static_cast<std::int32_t>(foreign[i].pe);
  }
}

}  // namespace

Status lead_records(const windows::Arena& arena, bootstrap::Bootstrap& launcher) {
  const std::uint32_t n_pes = arena.header().n_pes;
  List mine;
  for (const bootstrap::RecordOfPe& own : own_records(arena)) add(mine, settings_of(arena, own.pe));
  const bootstrap::Merge merge = [n_pes](const std::string& lower, const std::string& higher) -> Result<std::string> {
    SHMEMX_TRY_ASSIGN(list, list_of(lower, n_pes));
    SHMEMX_TRY_ASSIGN(added, list_of(higher, n_pes));
    for (const Settings& settings : added) add(list, settings);
    return text_of(list);
  };
  SHMEMX_TRY_ASSIGN(text, launcher.combine(text_of(mine), merge));
  SHMEMX_TRY_ASSIGN(list, list_of(text, n_pes));
  if (list.empty()) return Error{Errc::protocol, 0, "the nodes have sent no records"};
  fill_foreign(arena, list);
  return {};
}

Status follow_records(bootstrap::Bootstrap& launcher) {
  auto combined = launcher.combine({}, [](const std::string&, const std::string& higher) { return higher; });
  return combined ? Status() : combined.error();
}

}  // namespace shmemx::runtime
