#include "coll/common/flag_messages.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/select.hpp"
#include "onesided/operations.hpp"
#include "progress/policy.hpp"
#include "progress/send.hpp"
#include "windows/exposure.hpp"

namespace shmemx::coll {
namespace {

struct FlagHeader {
  std::uint64_t epoch;
  std::uint64_t offset;      // of the data in the eager message or window
  std::uint64_t total;       // bytes of the eager message; 0: none
  std::uint64_t tag;         // of the writer's calls
  std::uint32_t writer;      // its number in the team
  std::uint16_t team_index;  // the same on all members
  std::uint16_t window;      // where the data belong: one more than the index of a built-in window, 0: nowhere in one
};
static_assert(kTeamEntries <= 0x10000);
constexpr std::uint16_t kForNode = 0xffff;  // in place of a window: see SentFor
static_assert(sizeof(FlagHeader) == 40);

using FlagsByMember = std::unordered_map<std::uint32_t, MemberFlag>;  // whose entries stay where they are

// What the handler needs of a team. It runs under the endpoint's lock, perhaps in another thread than the collective,
// so it has a copy of its own, which changes only under that lock.
struct Receiver {
  int n_pes = 0;  // 0: closed
  team::PeSet set;
  FlagsByMember* flags = nullptr;  // made with the first entry

  MemberFlag& flag(std::uint32_t writer) noexcept {
    if (flags == nullptr) flags = new FlagsByMember;
    return (*flags)[writer];
  }
};
constinit Receiver receivers[kTeamEntries];

// In place of a writer: see latest_node_flag(), and messages_for_node() of a writer.
constexpr std::uint32_t kLatestOfNodes = ~std::uint32_t{0};
constexpr std::uint32_t kMessagesOf = std::uint32_t{1} << 31;

// Runs `change` under the endpoint's lock. Until the endpoint is open no handler runs.
template <class Change>
void change_receivers(const Change& change) noexcept {
  if (!progress::is_open()) return change();
  const am::Locked lock;
  change();
}

[[noreturn]] void damaged(int source, const FlagHeader& header) {
  fatal(nullptr, "a message of PE %d for collectives is damaged: team slot %u, member %u, epoch %llu", source,
        header.team_index, header.writer, static_cast<unsigned long long>(header.epoch));
}

Receiver& checked_receiver(const FlagHeader& header, int source) {
  if (header.team_index >= kTeamEntries) damaged(source, header);
  Receiver& receiver = receivers[header.team_index];
  const bool is_writer = header.writer < static_cast<std::uint32_t>(receiver.n_pes) &&
                         receiver.set.world(TeamPe{static_cast<int>(header.writer)}).value == source;
  if (!is_writer) damaged(source, header);
  if (header.window == kForNode && context::calls_make_progress) [[unlikely]]
    fatal(nullptr, "SHMEMX_PROGRESS is off on this PE, and not on PE %d; allowed is off on all PEs or on none", source);
  return receiver;
}

FlagHeader header_in(am::Bytes payload, int source) {
  FlagHeader header{};
  if (payload.size() < sizeof header) damaged(source, header);
  std::memcpy(&header, payload.data(), sizeof header);
  return header;
}

EagerTag tag_of(const FlagHeader& header) { return {header.team_index, header.writer, header.epoch}; }

// Returns where the data of a message belong.
std::byte* place_of(const FlagHeader& header, std::size_t bytes, int source) {
  std::byte* place = nullptr;
  if (header.total != 0) {
    place = place_fragment(tag_of(header), {header.total, header.offset, bytes});
  } else if (header.window != 0) {
    place = windows::find_exposed({std::uint32_t{header.window} - 1, 0}, header.offset, bytes);
  }
  if (place == nullptr) damaged(source, header);
  return place;
}

// Single writer: handlers run under the endpoint's lock.
void store_flag(MemberFlag& flag, const FlagHeader& header) {
  flag.tag.store(header.tag, std::memory_order_release);      // arrive
  flag.epoch.store(header.epoch, std::memory_order_release);  // arrive
}

// Sets the flag of a message whose data are in place, unless fragments of an eager message are missing.
void complete(Receiver& receiver, const FlagHeader& header, std::size_t bytes, int source) {
  if (header.total != 0 && !complete_fragment(tag_of(header), bytes)) return;
  MemberFlag& flag = receiver.flag(header.writer);
  if (header.epoch <= flag.epoch.load(std::memory_order_relaxed)) damaged(source, header);  // single writer
  store_flag(flag, header);
  if (header.window == kForNode) {
    MemberFlag& latest = receiver.flag(kLatestOfNodes);
    if (header.epoch > latest.epoch.load(std::memory_order_relaxed)) store_flag(latest, header);  // single writer
    std::atomic<std::uint64_t>& count = receiver.flag(kMessagesOf | header.writer).epoch;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // arrive
  }
  wake_own_sleepers();
}

am::Verdict handle_flag(am::Endpoint&, const am::Message& message) {
  const FlagHeader header = header_in(message.payload, message.source);
  const auto data = message.payload.subspan(sizeof header);
  if (header.epoch == 0 || (header.total != 0 && data.empty())) damaged(message.source, header);
  const bool is_for_node = header.window == kForNode && (header.total != 0) == !data.empty();
  if (header.window > windows::kBuiltinWindows && !is_for_node) damaged(message.source, header);
  Receiver& receiver = checked_receiver(header, message.source);
  if (!data.empty()) copy_block(place_of(header, data.size(), message.source), data.data(), data.size());
  complete(receiver, header, data.size(), message.source);
  return am::Verdict::done;
}

// Long data of PEs of other nodes are written to their window, or to their eager message, as they arrive.
std::byte* place_long(int source, am::Bytes payload, std::size_t bytes) {
  const FlagHeader header = header_in(payload, source);
  const bool has_place = header.total != 0 || (header.window != 0 && header.window <= windows::kBuiltinWindows);
  if (!has_place || header.epoch == 0) damaged(source, header);
  static_cast<void>(checked_receiver(header, source));
  return place_of(header, bytes, source);
}

void handle_placed(am::Endpoint&, int source, am::Bytes payload, std::size_t bytes) {
  const FlagHeader header = header_in(payload, source);
  complete(checked_receiver(header, source), header, bytes, source);
}

FlagHeader header_of(const Team& team, std::uint64_t epoch, SentFor sent_for = SentFor::member) {
  return {.epoch = epoch,
          .offset = 0,
          .total = 0,
          .tag = tag_of(team, epoch),
          .writer = static_cast<std::uint32_t>(team.me()),
          .team_index = static_cast<std::uint16_t>(team.route.team_index),
          .window = sent_for == SentFor::node ? kForNode : std::uint16_t{0}};
}

}  // namespace

void set_handlers() noexcept {
  am::set_handler(am::kFlag, handle_flag, {.counted = false, .is_done_at_once = true, .place_early = true});
  am::set_placement(am::kFlag, {place_long, handle_placed});
}

void open_receiver(const Team& team) noexcept {
  Receiver& receiver = receivers[team.route.team_index];
  change_receivers([&] {
    receiver.set = team.route.set;
    receiver.n_pes = team.size();
  });
}

void clear_received_flags(const Team& team) noexcept {
  Receiver& receiver = receivers[team.route.team_index];
  change_receivers([&] { delete std::exchange(receiver.flags, nullptr); });
}

void close_receiver(std::size_t team_index) noexcept {
  change_receivers([&] {
    receivers[team_index].n_pes = 0;
    delete std::exchange(receivers[team_index].flags, nullptr);
    drop_eager_messages(team_index);
  });
}

void send_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch, SentFor sent_for) noexcept {
  const FlagHeader header = header_of(team, epoch, sent_for);
  const int to = context::world_pe(team.route, pe);
  progress::send(routine, {.pe = to, .handler = am::kFlag, .header = am::bytes_of(header)});
}

// The last message carries the flag.
void send_put(const Team& team, const char* routine, context::Place dest, std::uint64_t epoch,
              am::Bytes data) noexcept {
  const std::size_t last = std::min(data.size(), am::max_payload_bytes(dest.pe) - sizeof(FlagHeader));
  const std::size_t before = data.size() - last;
  if (before != 0) onesided::put(routine, dest, data.data(), before, am::kNotCounted);
  FlagHeader header = header_of(team, epoch);
  header.window = static_cast<std::uint16_t>(dest.window.index + 1);
  header.offset = dest.offset + before;
  progress::send(routine, {dest.pe, am::kFlag, am::bytes_of(header), data.last(last)});
}

void send_fragments(const Team& team, const char* routine, int pe, std::uint64_t epoch, am::Bytes data,
                    const Sending& how) noexcept {
  if (data.size() > kMaxEagerBytes) fatal(routine, "an eager message of %zu bytes is too long", data.size());
  FlagHeader header = header_of(team, epoch, how.sent_for);
  header.total = data.size();
  const int to = context::world_pe(team.route, pe);
  const std::size_t most = am::max_payload_bytes(to) - sizeof header;
  do {
    const am::Bytes piece = data.first(std::min(most, data.size()));
    const am::OutgoingMessage message{.pe = to, .handler = am::kFlag, .header = am::bytes_of(header), .payload = piece};
    if (how.sends != nullptr) {
      how.sends->send(message);
    } else {
      progress::send(routine, message);
    }
    header.offset += piece.size();
    data = data.subspan(piece.size());
  } while (!data.empty());
}

const MemberFlag& latest_node_flag(const Team& team) noexcept {
  const am::Locked lock;
  return receivers[team.route.team_index].flag(kLatestOfNodes);
}

MemberFlag& messages_for_node(const Team& team, int writer) noexcept {
  const am::Locked lock;
  return receivers[team.route.team_index].flag(kMessagesOf | static_cast<std::uint32_t>(writer));
}

const MemberFlag& received_flag(const Team& team, int writer) noexcept {
  const am::Locked lock;
  return receivers[team.route.team_index].flag(static_cast<std::uint32_t>(writer));
}

std::vector<std::pair<int, const MemberFlag*>> all_received_flags(const Team& team) {
  std::vector<std::pair<int, const MemberFlag*>> all;
  if (!progress::is_open()) return all;
  const am::Locked lock;
  const Receiver& receiver = receivers[team.route.team_index];
  if (receiver.flags == nullptr) return all;
  for (const auto& [writer, flag] : *receiver.flags) {
    if (writer < static_cast<std::uint32_t>(receiver.n_pes)) all.emplace_back(static_cast<int>(writer), &flag);
  }
  return all;
}

}  // namespace shmemx::coll
