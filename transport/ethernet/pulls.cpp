#include "transport/ethernet/pulls.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bulk_copy.hpp"
#include "transport/common/link_share.hpp"

namespace shmemx::ethernet {
namespace {

constexpr std::uint32_t kLeastWindow = PullLane::kLeastWindow;
constexpr std::uint32_t kOvertakers = 3;            // packets that tell that those in front of them are lost
constexpr std::uint32_t kOvertakersElsewhere = 32;  // packets over the first path while the second is silent
constexpr std::uint32_t kSample = 256;              // packets over both by which speeds are compared
constexpr std::uint32_t kSampleBlocks = 2;          // over a second path whose speed is not known
constexpr std::uint64_t kAloneNs = 1'000'000'000;   // before the next sample; doubled for each that brings nothing
constexpr unsigned kMostFailures = 6;

// Numbers of requests begin anew after 2^32.
bool is_before(std::uint32_t number, std::uint32_t other) noexcept {
  return static_cast<std::int32_t>(number - other) < 0;
}

// Of each path: both together have to leave room in the budget for other peers.
std::uint32_t most_outstanding(const Pulls::Settings& settings, const PacketBudget& budget) noexcept {
  const std::uint32_t most = settings.block_packets * settings.most_blocks;
  return settings.has_second ? std::max(std::min(most, budget.most / 2), kLeastWindow) : most;
}

}  // namespace

Pulls::Pulls(const Settings& settings, PacketBudget& budget) noexcept
    : settings_(settings),
      budget_(budget),
      lanes_{{settings.block_packets * settings.blocks, most_outstanding(settings, budget)},
             {settings.block_packets * settings.blocks, most_outstanding(settings, budget)}},
      second_trip_(settings.resend_ns) {}

void Pulls::begin(std::uint64_t handle, transport::InboundMessage& message, std::uint32_t pushed,
                  std::uint64_t now_ns) {
  const std::size_t packets = (message.payload_bytes + settings_.packet_bytes - 1) / settings_.packet_bytes;
  pulls_.push_back(
      {.handle = handle, .message = &message, .packets = static_cast<std::uint32_t>(packets), .blocks = {}});
  newest_ = std::max(newest_, handle);
  Pull& pull = pulls_.back();
  if (pushed != 0 && handle != early_) add_block(pull, std::min(pushed, pull.packets), false, now_ns);
}

std::optional<Pulls::Request> Pulls::next_request(std::uint64_t now_ns, RoundTrip& round_trip, bool has_all) {
  if (pulls_.empty()) return {};
  if (auto again = repeated(now_ns, round_trip, has_all)) return again;
  return new_block(now_ns);
}

// Returns when a block is overdue that brings nothing. The second path may bring other blocks instead; and if the first
// one is silent, too, it is the peer that is late.
std::uint64_t Pulls::late_ns(const Block& block, const RoundTrip& round_trip) const noexcept {
  if (!block.is_second) return block.moved_ns + round_trip.resend_ns();
  if (lanes_[0].outstanding() != 0 && lanes_[0].arrived() - second_from_ < kOvertakersElsewhere)
    return ~std::uint64_t{0};
  return std::max(block.moved_ns, lanes_[1].moved_ns()) + std::max(round_trip.resend_ns(), second_trip_.resend_ns());
}

// A block is overdue if nothing of it has come for long, or if packets that were requested later are here: a network
// seldom changes the order of frames. What the second path does not bring is requested over the first one.
std::optional<Pulls::Request> Pulls::repeated(std::uint64_t now_ns, RoundTrip& round_trip, bool has_all) {
  for (Pull& pull : pulls_) {
    for (Block& block : pull.blocks) {
      const bool is_late = has_all && now_ns >= late_ns(block, round_trip);
      if (!is_late && block.overtakers < kOvertakers) continue;
      block.last_asked = {++requests_, now_ns};
      if (block.is_second && is_late) {
        const auto n = static_cast<std::uint32_t>(std::popcount(block.missing));
        lanes_[1].give_up(n);
        lanes_[0].note_requested(n);
        block.is_second = false;
        block.first_asked = block.last_asked;
        note_second_late(now_ns);
      } else if (block.is_second) {
        lanes_[1].note_loss(now_ns, second_trip_);
      } else if (lanes_[0].note_loss(now_ns, round_trip) && is_late) {
        round_trip.back_off();
      }
      block.moved_ns = now_ns;
      block.is_measured = false;
      block.overtakers = 0;
      return Request{pull.handle, {block.first, requests_, block.missing}, true, block.is_second};
    }
  }
  return {};
}

std::optional<Pulls::Request> Pulls::new_block(std::uint64_t now_ns) {
  for (Pull& pull : pulls_) {
    if (pull.next == pull.packets) continue;
    if (!may_use_second(pull, now_ns)) return block_over(false, pull, now_ns);
    const std::uint32_t rest = pull.packets - pull.next;
    for (const bool is_second : {false, true}) {
      if (!is_worth(is_second, std::min(settings_.block_packets, rest), rest)) continue;
      if (auto request = block_over(is_second, pull, now_ns)) return request;
    }
    return {};
  }
  return {};
}

// Requests the next block of a payload over one of the paths, if there is room.
std::optional<Pulls::Request> Pulls::block_over(bool is_second, Pull& pull, std::uint64_t now_ns) {
  PullLane& over = lane(is_second);
  // Smaller blocks in a smaller window: bursts as long as the window would overflow a queue that others fill, too.
  const std::uint32_t least = std::min(kLeastWindow, settings_.block_packets);
  const std::uint32_t size = std::clamp(over.window() / settings_.blocks, least, settings_.block_packets);
  std::uint32_t n = std::min(size, pull.packets - pull.next);
  // A small block may always be outstanding, or nothing would ever move.
  const std::uint32_t room = budget_.most - std::min(budget_.most, budget_.used);
  if (over.outstanding() == 0) n = std::min(n, std::max(room, kLeastWindow));
  if (over.outstanding() != 0 && (over.outstanding() + n > over.window() || n > room)) return {};
  add_block(pull, n, is_second, now_ns);
  return Request{pull.handle, {pull.blocks.back().first, requests_, pull.blocks.back().missing}, false, is_second};
}

// The next packets of a payload are outstanding from now on.
void Pulls::add_block(Pull& pull, std::uint32_t packets, bool is_second, std::uint64_t now_ns) {
  const Block::Asked asked{++requests_, now_ns};
  pull.blocks.push_back({.first = pull.next,
                         .missing = lowest_bits(packets),
                         .moved_ns = now_ns,
                         .first_asked = asked,
                         .last_asked = asked,
                         .is_second = is_second});
  pull.next += packets;
  if (is_second && lanes_[1].outstanding() == 0) second_from_ = lanes_[0].arrived();
  lane(is_second).note_requested(packets);
  budget_.used += packets;
}

// ---- the second path ----

bool Pulls::may_use_second(const Pull& pull, std::uint64_t now_ns) noexcept {
  if (!settings_.has_second || pull.message->payload_bytes < transport::kSplitBytes || now_ns < alone_ns_) return false;
  if (share_ == kUnknown) return lanes_[1].outstanding() < kSampleBlocks * settings_.block_packets;
  second_failures_ = 0;
  if (!transport::is_much_slower(share_)) return true;
  leave_second(now_ns);
  return false;
}

// A packet is here: measures which share of all the second path brings, while packets are outstanding on both.
void Pulls::compare_paths(bool is_second) noexcept {
  if (is_second) second_from_ = lanes_[0].arrived();
  if (lanes_[0].outstanding() == 0 || lanes_[1].outstanding() == 0) {
    sampled_ = sampled_second_ = 0;
    return;
  }
  sampled_second_ += is_second ? 1 : 0;
  if (++sampled_ < kSample) return;
  share_ = transport::averaged(share_, static_cast<double>(sampled_second_) / sampled_);
  sampled_ = sampled_second_ = 0;
}

// Returns whether a path has `packets` more before the other one has the whole rest.
bool Pulls::is_worth(bool is_second, std::uint32_t packets, std::uint32_t rest) const noexcept {
  if (share_ == kUnknown) return true;
  const double own_share = is_second ? share_ : 1 - share_;
  const PullLane& own = lanes_[is_second ? 1 : 0];
  const PullLane& other = lanes_[is_second ? 0 : 1];
  return (own.outstanding() + packets) * (1 - own_share) <= (other.outstanding() + rest) * own_share;
}

// Blocks of the second path are overdue, as after a queue has dropped the last ones. If it has brought nothing since
// the last time, it is left alone.
void Pulls::note_second_late(std::uint64_t now_ns) noexcept {
  if (now_ns == second_late_ns_) return;
  const bool is_silent = lanes_[1].moved_ns() <= second_late_ns_;
  second_late_ns_ = now_ns;
  if (is_silent) {
    leave_second(now_ns);
  } else {
    lanes_[1].note_loss(now_ns, second_trip_);
  }
}

void Pulls::leave_second(std::uint64_t now_ns) noexcept {
  alone_ns_ = now_ns + (kAloneNs << second_failures_);
  second_failures_ = std::min(second_failures_ + 1, kMostFailures);
  share_ = kUnknown;
}

void Pulls::postpone(const Request& request, std::uint64_t now_ns) noexcept {
  for (Pull& pull : pulls_) {
    for (Block& block : pull.blocks) {
      if (block.last_asked.number != request.what.number) continue;
      if (block.first_asked.number == request.what.number) block.first_asked.ns = now_ns;
      block.last_asked.ns = block.moved_ns = now_ns;
    }
  }
}

Pulls::Taken Pulls::take(const FrameHeader& header, Bytes packet, std::uint64_t now_ns, RoundTrip& round_trip,
                         transport::InboundMessage*& done) {
  const auto pull =
      std::find_if(pulls_.begin(), pulls_.end(), [&](const Pull& one) { return one.handle == header.number; });
  if (pull == pulls_.end() && header.number > newest_) early_ = header.number;
  if (pull == pulls_.end() || header.index >= pull->packets) return Taken::no;
  const std::size_t begin = std::size_t{header.index} * settings_.packet_bytes;
  if (packet.size() != std::min(settings_.packet_bytes, pull->message->payload_bytes - begin)) return Taken::no;
  const auto block = std::find_if(pull->blocks.begin(), pull->blocks.end(), [&](const Block& one) {
    return header.index >= one.first && header.index - one.first < kMostBlockPackets &&
           (one.missing >> (header.index - one.first) & 1) != 0;
  });
  if (block == pull->blocks.end()) return Taken::no;
  copy_block(pull->message->destination() + begin, packet.data(), packet.size());
  block->missing &= ~(std::uint64_t{1} << (header.index - block->first));
  block->moved_ns = now_ns;
  measure(*block, header.request, now_ns, block->is_second ? second_trip_ : round_trip);
  lane(block->is_second).note_arrived(now_ns, settings_.block_packets);
  if (settings_.has_second) compare_paths(block->is_second);
  --budget_.used;
  note_packet(*pull, *block, header.request);
  if (block->missing == 0) note_block(*pull, static_cast<std::size_t>(block - pull->blocks.begin()));
  if (!pull->blocks.empty() || pull->next != pull->packets) return Taken::yes;
  done = pull->message;
  pulls_.erase(pull);
  return Taken::last;
}

// Packets tell which request they answer. Where others have filled the queues of the network, that is the first one,
// although the block has been requested again meanwhile.
void Pulls::measure(Block& block, std::uint32_t number, std::uint64_t now_ns, RoundTrip& round_trip) noexcept {
  round_trip.heard();
  const bool is_first = number == block.first_asked.number;
  if (block.is_measured || (!is_first && number != block.last_asked.number)) return;
  block.is_measured = true;
  round_trip.add_sample(now_ns - (is_first ? block.first_asked.ns : block.last_asked.ns));
}

// A packet of a block is here: counts it for those that were requested earlier over the same path.
void Pulls::note_packet(const Pull& pull, const Block& block, std::uint32_t number) noexcept {
  for (Pull& other : pulls_) {
    for (Block& earlier : other.blocks) {
      if (&earlier == &block) break;
      if (earlier.is_second == block.is_second && is_before(earlier.last_asked.number, number)) ++earlier.overtakers;
    }
    if (&other == &pull) break;
  }
}

// A block is complete.
void Pulls::note_block(Pull& pull, std::size_t index) noexcept {
  const Block& whole = pull.blocks[index];
  for (std::size_t i = 0; i < index; ++i) {
    Block& earlier = pull.blocks[i];
    if (earlier.is_second == whole.is_second && is_before(earlier.last_asked.number, whole.last_asked.number))
      earlier.overtakers = kOvertakers;
  }
  pull.blocks.erase(pull.blocks.begin() + static_cast<std::ptrdiff_t>(index));
}

std::uint64_t Pulls::deadline_ns(const RoundTrip& round_trip) const noexcept {
  std::uint64_t first = ~std::uint64_t{0};
  for (const Pull& pull : pulls_) {
    for (const Block& block : pull.blocks) first = std::min(first, late_ns(block, round_trip));
  }
  return first;
}

void Pulls::clear() noexcept {
  for (PullLane& lane : lanes_) {
    budget_.used -= lane.outstanding();
    lane.clear();
  }
  pulls_.clear();
}

}  // namespace shmemx::ethernet
