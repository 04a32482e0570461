#include "transport/ethernet/pulls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shmemx::ethernet {
namespace {

constexpr std::uint32_t kLeastWindow = 4;  // packets

std::uint64_t lowest_bits(std::uint32_t n) noexcept {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
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

// A block is overdue if nothing of it has come for long, or if later ones are complete: a network seldom changes the
// order of frames.
std::optional<Pulls::Request> Pulls::repeated(std::uint64_t now_ns, RoundTrip& round_trip) {
  for (Pull& pull : pulls_) {
    for (Block& block : pull.blocks) {
      const bool is_late = now_ns >= block.moved_ns + round_trip.resend_ns();
      if (!is_late && !block.is_overtaken) continue;
      if (note_loss(now_ns, round_trip) && is_late) round_trip.back_off();
      block.moved_ns = now_ns;
      block.is_overtaken = false;
      return Request{pull.handle, {block.first, 0, block.missing}, true};
    }
  }
  return {};
}

std::optional<Pulls::Request> Pulls::new_block(std::uint64_t now_ns) {
  for (Pull& pull : pulls_) {
    if (pull.next == pull.packets) continue;
    const std::uint32_t size = std::min(settings_.block_packets, window_);
    std::uint32_t n = std::min(size, pull.packets - pull.next);
    // A small block may always be outstanding, or nothing would ever move.
    const std::uint32_t room = budget_.most - std::min(budget_.most, budget_.used);
    if (outstanding_ == 0) n = std::min(n, std::max(room, kLeastWindow));
    if (outstanding_ != 0 && (outstanding_ + n > window_ || n > room)) return {};
    pull.blocks.push_back({pull.next, lowest_bits(n), now_ns, false});
    pull.next += n;
    outstanding_ += n;
    budget_.used += n;
    return Request{pull.handle, {pull.blocks.back().first, 0, pull.blocks.back().missing}, false};
  }
  return {};
}

// Halves the window, once for each round trip. Returns whether it did.
bool Pulls::note_loss(std::uint64_t now_ns, const RoundTrip& round_trip) noexcept {
  if (halved_ns_ != 0 && now_ns - halved_ns_ < round_trip.resend_ns()) return false;
  halved_ns_ = now_ns;
  window_ = std::max(window_ / 2, kLeastWindow);
  return true;
}

Pulls::Taken Pulls::take(const FrameHeader& header, Bytes packet, std::uint64_t now_ns,
                         transport::InboundMessage*& done) {
  const auto pull =
      std::find_if(pulls_.begin(), pulls_.end(), [&](const Pull& one) { return one.handle == header.handle; });
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
  --outstanding_;
  --budget_.used;
  if (block->missing == 0) note_block(*pull, static_cast<std::size_t>(block - pull->blocks.begin()));
  if (!pull->blocks.empty() || pull->next != pull->packets) return Taken::yes;
  done = pull->message;
  pulls_.erase(pull);
  return Taken::last;
}

// A block is complete.
void Pulls::note_block(Pull& pull, std::size_t index) noexcept {
  for (std::size_t i = 0; i < index; ++i) pull.blocks[i].is_overtaken = true;
  pull.blocks.erase(pull.blocks.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint32_t most = settings_.block_packets * settings_.blocks;
  window_ = std::min(window_ + std::max(window_ / 8, 1U), most);
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
