#include "coll/ticks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "am/channel.hpp"
#include "base/fatal.hpp"
#include "base/wait.hpp"
#include "coll/parcels.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kSmallestBlobBytes = 256;  // of teams with many members
constexpr std::size_t kAllBlobsBytes = 16384;    // of teams with few: as much as all contributions to a short reduction

struct TickHeader {
  std::uint64_t tick;        // 0: data only
  std::uint64_t offset;      // of the data in the blob or parcel
  std::uint64_t total;       // bytes of the parcel; 0: the data are for the inbox
  std::uint32_t team_index;  // on all members the same
  std::uint32_t writer;      // number in the team
  std::uint32_t parity;
  std::uint32_t reserved;
};
static_assert(sizeof(TickHeader) == 40);

// What the handler needs of a team. It runs under the endpoint's lock, perhaps in another thread than the collective,
// so it has its own copy, which changes under that lock only.
struct Port {
  int n_pes = 0;  // 0: closed
  team::PeSet set;
  ArrivalLine* lines = nullptr;
  std::byte* blobs = nullptr;  // [parity][writer]; stays until a larger team comes
  std::size_t capacity = 0;
  std::size_t blob_bytes = 0;

  std::byte* blob(std::size_t writer, std::size_t parity) const noexcept {
    return blobs + (parity * static_cast<std::size_t>(n_pes) + writer) * blob_bytes;
  }
};
constinit Port ports[windows::kTeamSlots];

// Before the channel is open no handler runs.
template <class Change>
void change_ports(const Change& change) noexcept {
  if (!am::is_open()) return change();
  const am::Locked lock;
  change();
}

[[noreturn]] void damaged(int source, const TickHeader& header) {
  fatal(nullptr, "a message of PE %d for collectives is damaged: team slot %u, member %u, tick %llu", source,
        header.team_index, header.writer, static_cast<unsigned long long>(header.tick));
}

const Port& checked_port(const TickHeader& header, int source) {
  if (header.team_index >= windows::kTeamSlots) damaged(source, header);
  const Port& port = ports[header.team_index];
  const bool is_writer = header.writer < static_cast<std::uint32_t>(port.n_pes) &&
                         port.set.world(TeamPe{static_cast<int>(header.writer)}).value == source;
  if (!is_writer) damaged(source, header);
  return port;
}

TickHeader header_in(am::Bytes payload, int source) {
  TickHeader header{};
  if (payload.size() < sizeof header) damaged(source, header);
  std::memcpy(&header, payload.data(), sizeof header);
  return header;
}

ParcelName name_of(const TickHeader& header) { return {header.team_index, header.writer, header.tick}; }

std::byte* place_in_inbox(const Port& port, const TickHeader& header, std::size_t bytes) {
  const bool fits = header.parity < 2 && bytes <= port.blob_bytes && header.offset <= port.blob_bytes - bytes;
  return fits ? port.blob(header.writer, header.parity) + header.offset : nullptr;
}

// Where the data of a message go.
std::byte* place_of(const Port& port, const TickHeader& header, std::size_t bytes, int source) {
  std::byte* const place = header.total != 0 ? place_of_piece(name_of(header), {header.total, header.offset, bytes})
                                             : place_in_inbox(port, header, bytes);
  if (place == nullptr) damaged(source, header);
  return place;
}

// The data are where they belong.
void take_in(const Port& port, const TickHeader& header, std::size_t bytes, int source) {
  if (header.total != 0 && !count_piece(name_of(header), bytes)) return;
  std::atomic<std::uint64_t>& tick = port.lines[header.writer].tick;
  if (header.tick <= tick.load(std::memory_order_relaxed)) damaged(source, header);  // the writer alone writes it
  tick.store(header.tick, std::memory_order_release);                                // arrive
  if (wait_policy().own_doorbell != nullptr) wake(*wait_policy().own_doorbell);
}

am::Verdict take_tick(am::Endpoint&, const am::Message& message) {
  const TickHeader header = header_in(message.payload, message.source);
  const auto data = message.payload.subspan(sizeof header);
  if (header.tick == 0 || (header.total != 0 && data.empty())) damaged(message.source, header);
  const Port& port = checked_port(header, message.source);
  if (!data.empty()) std::memcpy(place_of(port, header, data.size(), message.source), data.data(), data.size());
  take_in(port, header, data.size(), message.source);
  return am::Verdict::done;
}

am::Verdict take_blob(am::Endpoint&, const am::Message& message) {
  const TickHeader header = header_in(message.payload, message.source);
  const auto data = message.payload.subspan(sizeof header);
  if (header.tick != 0 || header.total != 0) damaged(message.source, header);
  const Port& port = checked_port(header, message.source);
  if (!data.empty()) std::memcpy(place_of(port, header, data.size(), message.source), data.data(), data.size());
  return am::Verdict::done;
}

// Long parcels of PEs of other nodes.
std::byte* land(int source, am::Bytes payload, std::size_t bytes) {
  const TickHeader header = header_in(payload, source);
  if (header.total == 0 || header.tick == 0) damaged(source, header);
  return place_of(checked_port(header, source), header, bytes, source);
}

void take_placed(am::Endpoint&, int source, am::Bytes payload, std::size_t bytes) {
  const TickHeader header = header_in(payload, source);
  take_in(checked_port(header, source), header, bytes, source);
}

TickHeader header_of(const Team& team, std::uint64_t tick) {
  return {tick, 0, 0, team.route.team_index, static_cast<std::uint32_t>(team.me()), 0, 0};
}

}  // namespace

void set_handlers() noexcept {
  am::set_handler(am::kTick, take_tick);
  am::set_handler(am::kBlob, take_blob);
  am::set_placement(am::kTick, {land, take_placed});
}

std::size_t blob_bytes(int n_pes) noexcept {
  return std::clamp(round_up(kAllBlobsBytes / static_cast<std::size_t>(n_pes), 16), kSmallestBlobBytes,
                    windows::kScratchBytes);
}

void open_port(const Team& team) noexcept {
  Port& port = ports[team.route.team_index];
  const std::size_t each = blob_bytes(team.size());
  const std::size_t bytes = 2 * each * static_cast<std::size_t>(team.size());
  change_ports([&] {
    if (port.capacity < bytes) {
      std::free(port.blobs);
      port.blobs = static_cast<std::byte*>(std::malloc(bytes));
      if (port.blobs == nullptr) fatal(nullptr, "no memory: %zu bytes for a team", bytes);
      port.capacity = bytes;
    }
    std::memset(port.blobs, 0, bytes);
    port.blob_bytes = each;
    port.set = team.route.set;
    port.lines = &team.arrival(team.me(), 0);
    port.n_pes = team.size();
  });
}

void close_port(std::size_t team_index) noexcept {
  change_ports([&] {
    ports[team_index].n_pes = 0;
    drop_parcels(team_index);
  });
}

void send_tick(const Team& team, const char* routine, int pe, std::uint64_t tick) noexcept {
  const TickHeader header = header_of(team, tick);
  am::send(routine, context::world_pe(team.route, pe), am::kTick, am::bytes_of(header));
}

namespace {

// As many messages as it needs; the last one makes it complete.
void send_data(const Team& team, const char* routine, int pe, am::HandlerId id, TickHeader header, am::Bytes data) {
  const int to = context::world_pe(team.route, pe);
  const std::size_t most = am::max_payload_bytes(to) - sizeof header;
  do {
    const am::Bytes piece = data.first(std::min(most, data.size()));
    am::send(routine, to, id, am::bytes_of(header), piece);
    header.offset += piece.size();
    data = data.subspan(piece.size());
  } while (!data.empty());
}

}  // namespace

void send_blob(const Team& team, const char* routine, int pe, const Blob& blob) noexcept {
  TickHeader header = header_of(team, 0);
  header.parity = static_cast<std::uint32_t>(blob.parity);
  send_data(team, routine, pe, am::kBlob, header, {static_cast<const std::byte*>(blob.data), blob.bytes});
}

void send_pieces(const Team& team, const char* routine, int pe, std::uint64_t tick, am::Bytes data) noexcept {
  if (data.size() > kMaxParcelBytes) fatal(routine, "a parcel of %zu bytes is too long", data.size());
  TickHeader header = header_of(team, tick);
  header.total = data.size();
  send_data(team, routine, pe, am::kTick, header, data);
}

std::byte* inbox(const Team& team, int writer, std::uint64_t parity) noexcept {
  return ports[team.route.team_index].blob(static_cast<std::size_t>(writer), parity);
}

rma::RemotePlace tick_place(const Team& team, int pe) noexcept {
  const std::size_t line =
      team.route.team_index * node_slots.bytes + sizeof(ArrivalLine) * static_cast<std::size_t>(team.me());
  return {context::world_pe(team.route, pe), windows::kSlotsWindow, line};
}

}  // namespace shmemx::coll
