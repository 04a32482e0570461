#include "transport/ethernet/send_window.hpp"

#include <algorithm>
#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::ethernet {
namespace {

constexpr std::uint64_t kReordered = 3;  // later frames that have to arrive before one counts as lost

}  // namespace

// ---- filling ----

std::byte* SendWindow::append(std::size_t bytes) {
  if (has_open() && room() < bytes) close_open();
  if (!has_open()) {
    if (free_frames() == 0) return nullptr;
    begin_frame();
  }
  Sending& open = at(closed_);
  std::byte* const record = FrameMemory::content(open.memory) + open.content_bytes;
  open.content_bytes += static_cast<std::uint32_t>(bytes);
  return record;
}

void SendWindow::begin_frame() {
  at(closed_) = Sending{.memory = pool_.take()};
  open_ = Open::filling;
}

void SendWindow::close_open() noexcept {
  open_ = Open::none;
  ++closed_;
}

void SendWindow::keep_lent(std::uint64_t first) noexcept {
  for (std::uint64_t number = first; number < end(); ++number) {
    Sending& frame = at(number);
    const Bytes lent = std::exchange(frame.lent, {});
    if (lent.empty()) continue;
    frame.has_digest = false;  // another thread of the program may have changed the bytes meanwhile
    copy_block(FrameMemory::content(frame.memory) + frame.content_bytes - lent.size(), lent.data(), lent.size());
  }
}

// ---- sending ----

std::uint64_t SendWindow::next_to_send(bool all) noexcept {
  if (in_flight_ >= most_in_flight() && !all) return kNone;
  if (lost_ != 0) {
    for (std::uint64_t number = first_; number != unsent_; ++number) {
      if (at(number).state == State::lost) return number;
    }
  }
  if (unsent_ - first_ >= kMostInFlight && !all) return kNone;
  if (unsent_ == closed_ && open_ == Open::due) close_open();
  return unsent_ == closed_ ? kNone : unsent_;
}

bool SendWindow::note_sent(std::uint64_t number, std::uint64_t now_ns) noexcept {
  Sending& frame = at(number);
  const bool again = frame.state == State::lost;
  if (again) {
    --lost_;
    frame.is_resent = true;
  } else {
    ++unsent_;
  }
  frame.state = State::in_flight;
  frame.sent_ns = now_ns;
  ++in_flight_;
  return again;
}

bool SendWindow::take_back(std::uint64_t number) noexcept {
  Sending& frame = at(number);
  --in_flight_;
  frame.state = frame.is_resent ? State::lost : State::unsent;
  if (frame.is_resent) {
    ++lost_;
  } else {
    --unsent_;
  }
  return frame.is_resent;
}

// ---- acknowledgements ----

unsigned SendWindow::acknowledge(std::uint64_t expected, std::uint64_t received, std::uint64_t now_ns,
                                 RoundTrip& round_trip) {
  if (expected > unsent_ || expected < first_) return 0;
  const std::uint64_t before = first_;
  for (; first_ != expected; ++first_) {
    if (at(first_).state != State::received) note_received(first_, now_ns, round_trip);
    pool_.give(at(first_).memory);
    at(first_).memory = nullptr;
  }
  std::uint64_t highest = 0;
  for (; received != 0; received &= received - 1) {
    const std::uint64_t number = expected + 1 + static_cast<unsigned>(__builtin_ctzll(received));
    if (number >= unsent_) break;
    if (at(number).state != State::received) note_received(number, now_ns, round_trip);
    highest = number;
  }
  if (highest != 0) find_lost(highest, now_ns, round_trip);
  return static_cast<unsigned>(first_ - before);
}

void SendWindow::note_received(std::uint64_t number, std::uint64_t now_ns, RoundTrip& round_trip) noexcept {
  Sending& frame = at(number);
  if (frame.state == State::lost) {
    --lost_;
  } else {
    --in_flight_;
    if (!frame.is_resent && now_ns > frame.sent_ns) round_trip.add_sample(now_ns - frame.sent_ns);
  }
  frame.state = State::received;
  round_trip.heard();
  window_.grow();
}

// One that was sent again counts as lost a second time only a round trip later.
void SendWindow::find_lost(std::uint64_t highest, std::uint64_t now_ns, const RoundTrip& round_trip) noexcept {
  for (std::uint64_t number = first_; number + kReordered <= highest; ++number) {
    const Sending& frame = at(number);
    if (frame.state != State::in_flight) continue;
    if (!frame.is_resent || now_ns - frame.sent_ns > 2 * round_trip.smoothed_ns()) lose(number);
  }
}

void SendWindow::lose(std::uint64_t number) noexcept {
  at(number).state = State::lost;
  --in_flight_;
  ++lost_;
  if (number < recovered_) return;
  recovered_ = unsent_;
  window_.halve();
}

bool SendWindow::expire(std::uint64_t now_ns, RoundTrip& round_trip) noexcept {
  if (in_flight_ == 0) return false;
  const std::uint64_t wait = round_trip.resend_ns();
  bool any = false;
  for (std::uint64_t number = first_; number != unsent_; ++number) {
    const Sending& frame = at(number);
    if (frame.state != State::in_flight || now_ns < frame.sent_ns + wait) continue;
    lose(number);
    any = true;
  }
  if (any) round_trip.back_off();
  return any;
}

std::uint64_t SendWindow::deadline_ns(const RoundTrip& round_trip) const noexcept {
  std::uint64_t oldest = ~std::uint64_t{0};
  if (in_flight_ == 0) return oldest;
  for (std::uint64_t number = first_; number != unsent_; ++number) {
    if (at(number).state == State::in_flight) oldest = std::min(oldest, at(number).sent_ns);
  }
  return oldest + round_trip.resend_ns();
}

void SendWindow::clear() noexcept {
  for (; first_ != end(); ++first_) {
    if (at(first_).memory != nullptr) pool_.give(at(first_).memory);
    at(first_).memory = nullptr;
  }
  unsent_ = closed_ = first_;
  open_ = Open::none;
  in_flight_ = lost_ = 0;
}

}  // namespace shmemx::ethernet
