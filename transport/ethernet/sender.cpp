#include "transport/ethernet/sender.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/bulk_copy.hpp"

namespace shmemx::ethernet {
namespace {

constexpr std::size_t kCopiedBytes = std::size_t{4} << 20;     // of long payloads for one peer that will not stay
constexpr std::size_t kPipelinedBytes = std::size_t{8} << 10;  // of a message that leave before the others are hashed
constexpr unsigned kBurst = 16;                                // frames whose sender asks for an acknowledgement

using transport::kRecordAlign;
using transport::Record;
using transport::record_bytes;

void copy(std::byte*& to, Bytes from) noexcept {
  if (!from.empty()) copy_block(to, from.data(), from.size());
  to += from.size();
}

// The longest payload to send as parts. It has to fit into the window.
std::size_t most_medium_bytes(const Peer& peer) noexcept {
  const std::size_t fits = SendWindow::kFrames / 2 * (peer.out.most_content_bytes() - sizeof(Record));
  return std::min(kMediumBytes, fits - kMaxHeaderBytes);
}

// The receiver of many frames may have nothing to send soon, and their sender may leave the library: without an
// acknowledgement it would send the last ones again.
bool ends_burst(const Peer& peer, std::size_t n_before, bool goes_on) noexcept {
  return n_before + 1 >= kBurst && !goes_on && !peer.out.has_unsent();
}

Bytes as_bytes(const std::uint64_t& word) noexcept { return std::as_bytes(std::span(&word, 1)); }

}  // namespace

Sent Sender::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                  Urgency urgency) noexcept {
  Peer& peer = peers_.contact(pe);
  if (peer.state != Peer::State::open) [[unlikely]]
    return Sent::yes;
  const std::size_t message_bytes = header.size() + payload.size();
  Sent sent = Sent::yes;
  if (record_bytes(message_bytes) <= peer.out.most_content_bytes()) [[likely]] {
    std::byte* to = append(peer, fixed, {RecordKind::message, message_bytes});
    if (to == nullptr) return Sent::no;
    copy(to, header);
    copy(to, payload);
  } else {
    const bool is_medium = payload.size() < kLongBytes || payload.size() <= most_medium_bytes(peer);
    sent = is_medium ? send_parts(peer, fixed, header, payload, urgency)
                     : announce(peer, fixed, header, payload, outgoing);
    if (sent == Sent::no || (is_medium && urgency == Urgency::now)) return sent;
  }
  if (urgency == Urgency::now) {
    send_now(peer);
  } else if (gathered_.add(peer) && peer.out.has_unsent()) {
    transmit(peer);
  }
  return sent;
}

void Sender::send_now(Peer& peer) noexcept {
  peer.out.set_due();
  transmit(peer);
  if (!peer.loans.has_pushed()) return;
  PullRequest first;
  const std::uint64_t handle = peer.loans.take_pushed(first);
  send_block(peer, peer.paths.current(), handle, first);
}

void Sender::flush() noexcept {
  gathered_.take_each([this](Peer& peer) {
    if (peer.state == Peer::State::open) send_now(peer);
  });
}

bool Sender::has_room(const Peer& peer, std::size_t content_bytes) noexcept {
  return peer.out.room() >= record_bytes(content_bytes) || peer.out.free_frames() != 0;
}

// Begins a record. Returns the place of its content, or null if there is no room.
std::byte* Sender::append(Peer& peer, const Header& fixed, const Piece& piece) noexcept {
  const std::size_t bytes = record_bytes(piece.content_bytes);
  std::byte* const at = peer.out.append(bytes);
  if (at == nullptr) return nullptr;
  const Record record{fixed, static_cast<std::uint32_t>(piece.content_bytes),
                      record_kind(piece.kind, piece.whole_bytes)};
  std::memset(at + bytes - transport::kRecordAlign, 0, transport::kRecordAlign);  // the padding
  std::memcpy(at, &record, sizeof record);
  return at + sizeof record;
}

// Sends a message as several records, each as long as its frame. The first ones leave before the others are hashed, so
// that the receiver can begin; the others leave with one system call, and the copies that may have to be sent again are
// made when all have left.
Sent Sender::send_parts(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Urgency urgency) noexcept {
  const std::size_t most = peer.out.most_content_bytes() - sizeof(Record);
  const std::size_t whole = header.size() + payload.size();
  const std::size_t in_open = peer.out.room() > 2 * sizeof(Record) ? peer.out.room() - sizeof(Record) : 0;
  if ((whole - std::min(whole, in_open) + most - 1) / most > peer.out.free_frames()) return Sent::no;
  std::size_t part = in_open != 0 ? std::min(in_open, whole) : most;
  Piece piece{RecordKind::first_part, part, whole};
  const std::uint64_t first = peer.out.open_number();
  Burst burst{.goes_on = true};
  std::size_t held = 0;
  for (std::size_t left = whole; left != 0; left -= part) {
    part = std::min(piece.content_bytes, left);
    std::byte* to = append(peer, fixed, {piece.kind, part, piece.whole_bytes});
    const std::size_t of_header = std::min(part, header.size());
    // Of a full frame that leaves at once the payload is sent from where it lies, and kept later.
    const std::size_t lent = urgency == Urgency::now && part != left ? round_down(part - of_header, kRecordAlign) : 0;
    copy(to, header.first(of_header));
    copy(to, payload.first(part - of_header - lent));
    if (lent != 0) peer.out.lend(payload.subspan(part - of_header - lent, lent));
    header = header.subspan(of_header);
    payload = payload.subspan(part - of_header);
    piece = {RecordKind::next_part, most};
    held += part;
    if (urgency != Urgency::now || burst.before != 0 || held < kPipelinedBytes || part == left) continue;
    peer.out.set_due();
    burst.before = transmit(peer, burst);
  }
  if (urgency == Urgency::now) {
    peer.out.set_due();
    transmit(peer, {.before = burst.before});
    peer.out.keep_lent(first);
  }
  return Sent::yes;
}

// Announces a long payload, which the peer will pull. The first packets follow at once.
Sent Sender::announce(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing) noexcept {
  const std::size_t content_bytes = sizeof(Announcement) + header.size();
  const std::size_t copied = peer.loans.copied_bytes();
  if (outgoing == nullptr && copied != 0 && copied + payload.size() > kCopiedBytes) return Sent::no;
  if (!peer.loans.has_room() || !has_room(peer, content_bytes)) return Sent::no;
  const bool may_push = !peer.out.has_unsent() && peer.out.unused() != 0;
  const std::uint32_t pushed = may_push ? peer.loans.packets_to_push(peer.out.unused() - 1) : 0;
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  const Announcement announcement{peer.loans.lend(payload, outgoing), payload_bytes, pushed};
  if (announcement.handle == 0) return Sent::no;
  std::byte* to = append(peer, fixed, {RecordKind::announced, content_bytes});
  copy(to, std::as_bytes(std::span(&announcement, 1)));
  copy(to, header);
  if (pushed != 0) peer.loans.push(announcement.handle, pushed);
  return outgoing != nullptr ? Sent::later : Sent::yes;
}

bool Sender::append_note(Peer& peer, RecordKind kind, Bytes content) noexcept {
  std::byte* to = append(peer, {}, {kind, content.size()});
  if (to == nullptr) return false;
  copy(to, content);
  return true;
}

// Appends notes for which there was no room before.
void Sender::append_notes(Peer& peer) noexcept {
  std::vector<std::uint64_t>& ended = peer.unsent.ended_pulls;
  while (!ended.empty() && append_note(peer, RecordKind::pulled, as_bytes(ended.front()))) ended.erase(ended.begin());
  if (peer.unsent.is_shutdown_due && ended.empty() && append_note(peer, RecordKind::shutdown, {}))
    peer.unsent.is_shutdown_due = false;
  send_now(peer);
}

// Sends the frames that are due, as far as the windows allow it. Returns how many. The clock is read when they are
// gone.
std::size_t Sender::transmit(Peer& peer, Burst burst) noexcept {
  const Path path = peer.paths.current();
  std::size_t sent = 0;
  while (true) {
    std::array<std::uint64_t, kFramesAtOnce> numbers;
    std::size_t n = 0;
    for (; n < frames_.size(); ++n) {
      const std::uint64_t number = peer.out.next_to_send(burst.ignores_window);
      if (number == SendWindow::kNone) break;
      frames_[n] = records_frame(peer, number, {burst.before + sent + n, burst.goes_on, burst.ignores_window});
      numbers[n] = number;
    }
    if (n == 0) return sent;
    const std::size_t taken = paths_.send(path, std::span(frames_).first(n));
    const std::uint64_t now = clock_.read();  // also where this poll has read it: the program may have computed since
    for (std::size_t i = 0; i < taken; ++i) peer.out.at(numbers[i]).sent_ns = now;
    sent += taken;
    if (taken == n && n == frames_.size()) continue;  // there may be more
    if (taken == n) [[likely]]
      return sent;
    while (n-- != taken) counts_.resent -= peer.out.take_back(numbers[n]) ? 1 : 0;
    writer_.note_blocked(peer);
    return sent;
  }
}

// Completes a frame of records that is to be sent now.
OutgoingFrame Sender::records_frame(Peer& peer, std::uint64_t number, const Burst& burst) noexcept {
  SendWindow::Sending& frame = peer.out.at(number);
  const Bytes content(FrameMemory::content(frame.memory), frame.content_bytes - frame.lent.size());
  if (!std::exchange(frame.has_digest, true)) frame.digest = writer_.proof().digest(content, frame.lent);
  const bool again = peer.out.note_sent(number, clock_.now_ns());
  counts_.resent += again ? 1 : 0;
  const bool waits = again || peer.out.is_stalled() || ends_burst(peer, burst.before, burst.goes_on);
  FrameHeader header{.kind = FrameKind::records,
                     .flags = waits ? kAckNow : std::uint8_t{0},
                     .bytes = static_cast<std::uint16_t>(frame.content_bytes),
                     .number = number};
  const Bytes head = writer_.finish(peer, peer.paths.current(), frame.memory, header, frame.digest);
  return {{head.data(), head.size() + content.size()}, frame.lent};
}

// Sends packets of a long payload over a path, that of the request if there was one, as many with one system call as it
// takes: that saves more than sending few, of which the nearest cache still holds what was hashed.
void Sender::send_block(Peer& peer, Path path, std::uint64_t handle, const PullRequest& what) noexcept {
  struct alignas(16) Head {
    std::byte memory[FrameMemory::kHeadBytes];
  };
  std::array<Head, kFramesAtOnce> heads;
  std::size_t n = 0;
  std::uint64_t left = what.wanted;
  const auto send = [&] {
    const std::size_t taken = paths_.send(path, std::span(frames_).first(n));
    for (std::size_t i = 0; i < taken; ++i) left &= left - 1;
    return std::exchange(n, 0) == taken;
  };
  bool has_room = peer.unsent.blocks.empty();
  for (std::uint64_t wanted = what.wanted; wanted != 0 && has_room; wanted &= wanted - 1) {
    const std::uint32_t index = what.first + static_cast<unsigned>(__builtin_ctzll(wanted));
    const Bytes packet = peer.loans.packet(handle, index, peer.out.most_content_bytes());
    if (packet.empty()) break;
    FrameHeader header{.kind = FrameKind::block,
                       .bytes = static_cast<std::uint16_t>(packet.size()),
                       .number = handle,
                       .index = index,
                       .request = what.number};
    frames_[n] = {writer_.finish(peer, path, heads[n].memory, header, writer_.proof().digest(packet)), packet};
    if (++n == frames_.size()) has_room = send();
  }
  if (n != 0) has_room = send();
  if (has_room || !peer.unsent.has_room_for_block()) return;
  peer.unsent.blocks.push_back({path, {handle, {what.first, what.number, left}, false}});
  writer_.note_blocked(peer);
}

void Sender::send_requests(Peer& peer, bool has_all) noexcept {
  if (peer.unsent.request) {
    if (!send_request(peer, *peer.unsent.request)) return;
    peer.pulls.postpone(*std::exchange(peer.unsent.request, {}), clock_.now_ns());
  }
  while (const auto request = peer.pulls.next_request(clock_.now_ns(), peer.paths.round_trip(), has_all)) {
    if (send_request(peer, *request)) continue;
    peer.unsent.request = request;
    return;
  }
}

// Returns false if the port's queue is full.
bool Sender::send_request(Peer& peer, const Pulls::Request& request) noexcept {
  if (!writer_.send_request(peer, request)) return false;
  counts_.resent += request.is_repeated ? 1 : 0;
  return true;
}

void Sender::retry_blocked() noexcept {
  writer_.take_blocked([this](Peer& peer) { resume(peer); });
}

void Sender::resume(Peer& peer) noexcept {
  if (peer.out.has_unsent()) transmit(peer);
  if (peer.unsent.is_ping_due) writer_.send_ping(peer);
  for (const Unsent::Block& block : std::exchange(peer.unsent.blocks, {}))
    send_block(peer, block.path, block.request.handle, block.request.what);
  if (!peer.pulls.is_empty()) send_requests(peer, false);
}

}  // namespace shmemx::ethernet
