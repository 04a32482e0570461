#include "transport/ethernet/pulls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace shmemx::ethernet {
namespace {

constexpr std::uint32_t kLeastWindow = 4;  // packets
constexpr std::uint32_t kOvertakers = 3;   // packets that tell that those in front of them are lost

std::uint64_t lowest_bits(std::uint32_t n) noexcept {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

// Numbers of requests begin anew after 2^32.
bool is_before(std::uint32_t number, std::uint32_t other) noexcept {
  return static_cast<std::int32_t>(number - other) < 0;
}

}  // namespace

void Pulls::begin(std::uint64_t handle, transport::InboundMessage& message) {
  const std::size_t packets = (message.payload_bytes + settings_.packet_bytes - 1) / settings_.packet_bytes;
  pulls_.push_back(
      {.handle = handle, .message = &message, .packets = static_cast<std::uint32_t>(packets), .blocks = {}});
}

std::optional<Pulls::Request> Pulls::next_request(std::uint64_t now_ns, RoundTrip& round_trip) {
  if (pulls_.empty()) return {};
  if (auto again = repeated(now_ns, round_trip)) return again;
  return new_block(now_ns);
}

// A block is overdue if nothing of it has come for long, or if packets that were requested later are here: a network
// seldom changes the order of frames.
std::optional<Pulls::Request> Pulls::repeated(std::uint64_t now_ns, RoundTrip& round_trip) {
  for (Pull& pull : pulls_) {
    for (Block& block : pull.blocks) {
      const bool is_late = now_ns >= block.moved_ns + round_trip.resend_ns();
      if (!is_late && block.overtakers < kOvertakers) continue;
      if (note_loss(now_ns, round_trip) && is_late) round_trip.back_off();
      block.moved_ns = now_ns;
      block.last_asked = {++requests_, now_ns};
      block.is_measured = false;
      block.overtakers = 0;
      return Request{pull.handle, {block.first, requests_, block.missing}, true};
    }
  }
  return {};
}

std::optional<Pulls::Request> Pulls::new_block(std::uint64_t now_ns) {
  for (Pull& pull : pulls_) {
    if (pull.next == pull.packets) continue;
    // Smaller blocks in a smaller window: bursts as long as the window would overflow a queue that others fill, too.
    const std::uint32_t least = std::min(kLeastWindow, settings_.block_packets);
    const std::uint32_t size = std::clamp(window_ / settings_.blocks, least, settings_.block_packets);
    std::uint32_t n = std::min(size, pull.packets - pull.next);
    // A small block may always be outstanding, or nothing would ever move.
    const std::uint32_t room = budget_.most - std::min(budget_.most, budget_.used);
    if (outstanding_ == 0) n = std::min(n, std::max(room, kLeastWindow));
    if (outstanding_ != 0 && (outstanding_ + n > window_ || n > room)) return {};
    const Block::Asked asked{++requests_, now_ns};
    pull.blocks.push_back({pull.next, lowest_bits(n), now_ns, asked, asked});
    pull.next += n;
    outstanding_ += n;
    budget_.used += n;
    return Request{pull.handle, {pull.blocks.back().first, requests_, pull.blocks.back().missing}, false};
  }
  return {};
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

// Halves the window, once for each round trip. Returns whether it did.
bool Pulls::note_loss(std::uint64_t now_ns, const RoundTrip& round_trip) noexcept {
  if (halved_ns_ != 0 && now_ns - halved_ns_ < round_trip.resend_ns()) return false;
  halved_ns_ = now_ns;
  window_ = threshold_ = std::max(window_ / 2, kLeastWindow);
  credit_ = 0;
  return true;
}

Pulls::Taken Pulls::take(const FrameHeader& header, Bytes packet, std::uint64_t now_ns, RoundTrip& round_trip,
                         transport::InboundMessage*& done) {
  const auto pull =
      std::find_if(pulls_.begin(), pulls_.end(), [&](const Pull& one) { return one.handle == header.number; });
  if (pull == pulls_.end() || header.index >= pull->packets) return Taken::no;
  const std::size_t begin = std::size_t{header.index} * settings_.packet_bytes;
  if (packet.size() != std::min(settings_.packet_bytes, pull->message->payload_bytes - begin)) return Taken::no;
  const auto block = std::find_if(pull->blocks.begin(), pull->blocks.end(), [&](const Block& one) {
    return header.index >= one.first && header.index - one.first < kMostBlockPackets &&
           (one.missing >> (header.index - one.first) & 1) != 0;
  });
  if (block == pull->blocks.end()) return Taken::no;
  std::memcpy(pull->message->destination() + begin, packet.data(), packet.size());
  block->missing &= ~(std::uint64_t{1} << (header.index - block->first));
  block->moved_ns = now_ns;
  measure(*block, header.request, now_ns, round_trip);
  --outstanding_;
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

// A packet of a block is here. Below the threshold the window grows by one for each packet, above it by one for each
// window of them, but only while the window is what limits.
void Pulls::note_packet(const Pull& pull, const Block& block, std::uint32_t number) noexcept {
  for (Pull& other : pulls_) {
    for (Block& earlier : other.blocks) {
      if (&earlier == &block) break;
      if (is_before(earlier.last_asked.number, number)) ++earlier.overtakers;
    }
    if (&other == &pull) break;
  }
  const std::uint32_t most = settings_.block_packets * settings_.most_blocks;
  if (window_ >= most || outstanding_ + settings_.block_packets < window_) return;
  if (window_ < threshold_ || ++credit_ >= window_) {
    ++window_;
    credit_ = 0;
  }
}

// A block is complete.
void Pulls::note_block(Pull& pull, std::size_t index) noexcept {
  const std::uint32_t number = pull.blocks[index].last_asked.number;
  for (std::size_t i = 0; i < index; ++i) {
    if (is_before(pull.blocks[i].last_asked.number, number)) pull.blocks[i].overtakers = kOvertakers;
  }
  pull.blocks.erase(pull.blocks.begin() + static_cast<std::ptrdiff_t>(index));
}

std::uint64_t Pulls::deadline_ns(const RoundTrip& round_trip) const noexcept {
  std::uint64_t oldest = ~std::uint64_t{0};
  for (const Pull& pull : pulls_) {
    for (const Block& block : pull.blocks) oldest = std::min(oldest, block.moved_ns);
  }
  return oldest == ~std::uint64_t{0} ? oldest : oldest + round_trip.resend_ns();
}

void Pulls::clear() noexcept {
  budget_.used -= outstanding_;
  outstanding_ = 0;
  pulls_.clear();
}

}  // namespace shmemx::ethernet
