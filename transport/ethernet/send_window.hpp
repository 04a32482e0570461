// The sending half of the reliability of one peer: the records frames that have not been acknowledged. The caller
// passes the time, and sends the frames that next_to_send() names.
//
// The last frame may be open: it takes further records until it is full or has to leave. As many frames are in flight
// as the congestion window and the peer's window allow. The first one is halved once for each window in which a frame
// was lost. A frame counts as lost if three later ones have arrived, or if its acknowledgement is overdue.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/ethernet/congestion_window.hpp"
#include "transport/ethernet/frame_pool.hpp"
#include "transport/ethernet/frame_proof.hpp"
#include "transport/ethernet/round_trip.hpp"

namespace shmemx::ethernet {

class SendWindow {
 public:
  static constexpr unsigned kFrames = 256;
  static constexpr unsigned kMostInFlight = 64;   // the reach of FrameHeader::received
  static constexpr unsigned kFirstInFlight = 16;  // before the peer has told its window

  struct Sending {
    enum class State : std::uint8_t { unsent, in_flight, lost, received };
    std::byte* memory = nullptr;
    std::uint64_t sent_ns = 0;
    FrameProof::Digest digest = {};  // of the content, once the frame is closed
    Bytes lent = {};                 // the last bytes of the content, if they are not in `memory` yet
    std::uint32_t content_bytes = 0;
    State state = State::unsent;
    bool is_resent = false;
    bool has_digest = false;
  };

  SendWindow(FramePool& pool, std::size_t most_content_bytes) noexcept
      : pool_(pool), most_content_bytes_(most_content_bytes) {}
  ~SendWindow() { clear(); }
  SendWindow(const SendWindow&) = delete;
  SendWindow& operator=(const SendWindow&) = delete;

  // ---- filling ----
  // Returns memory for a record of `bytes`, a multiple of 16 and at most most_content_bytes(), or null if all frames
  // are in use.
  std::byte* append(std::size_t bytes);
  std::size_t most_content_bytes() const noexcept { return most_content_bytes_; }
  unsigned free_frames() const noexcept { return kFrames - static_cast<unsigned>(end() - first_); }
  // Bytes that the open frame still takes; 0 if none is open.
  std::size_t room() const noexcept { return has_open() ? most_content_bytes_ - at(closed_).content_bytes : 0; }
  bool has_open() const noexcept { return open_ != Open::none; }
  // The number of the open frame, or of the next one.
  std::uint64_t open_number() const noexcept { return closed_; }
  // The last bytes of the open frame, which they fill, lie at `content` until keep_lent(), which copies them for all
  // frames from `first` on.
  void lend(Bytes content) noexcept { at(closed_).lent = content; }
  void keep_lent(std::uint64_t first) noexcept;
  // The open frame has to leave as soon as it may.
  void set_due() noexcept {
    if (has_open()) open_ = Open::due;
  }
  bool is_empty() const noexcept { return first_ == closed_ && !has_open(); }
  bool has_unsent() const noexcept { return lost_ != 0 || unsent_ != closed_ || open_ == Open::due; }
  bool is_in_flight() const noexcept { return in_flight_ != 0; }

  // ---- sending ----
  // Returns the number of the frame to send now, or kNone. `all`: whatever the congestion window.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t next_to_send(bool all = false) noexcept;
  Sending& at(std::uint64_t number) noexcept { return frames_[number % kFrames]; }
  const Sending& at(std::uint64_t number) const noexcept { return frames_[number % kFrames]; }
  // The frame has been sent. Returns whether that was not the first time.
  bool note_sent(std::uint64_t number, std::uint64_t now_ns) noexcept;
  // The frame, the last one that note_sent() has noted, was not sent after all. Returns what note_sent() returned.
  bool take_back(std::uint64_t number) noexcept;
  // Nothing more may leave before an acknowledgement.
  bool is_stalled() const noexcept { return in_flight_ >= most_in_flight() || unsent_ - first_ >= kMostInFlight; }

  // Frames that may leave now.
  unsigned unused() const noexcept { return most_in_flight() - std::min(in_flight_, most_in_flight()); }

  // ---- acknowledgements ----
  // The peer has all frames below `expected`, and of the later ones those in `received` (FrameHeader). Returns how many
  // that frees. Values that no peer can send change nothing.
  unsigned acknowledge(std::uint64_t expected, std::uint64_t received, std::uint64_t now_ns, RoundTrip& round_trip);
  // Marks frames as lost whose acknowledgement is overdue. Returns whether there were any.
  bool expire(std::uint64_t now_ns, RoundTrip& round_trip) noexcept;
  // When expire() may find something; ~0 if nothing is in flight.
  std::uint64_t deadline_ns(const RoundTrip& round_trip) const noexcept;
  unsigned congestion_window() const noexcept { return window_.size(); }
  // How many the peer's ring has room for (FrameHeader::window).
  void set_peer_window(std::uint32_t frames) noexcept { peer_window_ = frames; }
  // Gives up all frames.
  void clear() noexcept;

 private:
  using State = Sending::State;

  enum class Open : std::uint8_t {
    none,     // the next record begins a frame
    filling,  // the frame behind the closed ones takes records
    due,      // as filling, until next_to_send() closes it
  };
  static constexpr unsigned kLeastInFlight = 2;

  unsigned most_in_flight() const noexcept { return std::min<unsigned>(window_.size(), peer_window_); }
  std::uint64_t end() const noexcept { return closed_ + (has_open() ? 1 : 0); }
  void begin_frame();
  void close_open() noexcept;
  void note_received(std::uint64_t number, std::uint64_t now_ns, RoundTrip& round_trip) noexcept;
  void find_lost(std::uint64_t highest, std::uint64_t now_ns, const RoundTrip& round_trip) noexcept;
  void lose(std::uint64_t number) noexcept;

  FramePool& pool_;
  std::size_t most_content_bytes_;
  std::array<Sending, kFrames> frames_;
  std::uint64_t first_ = 0;   // the oldest one that is not acknowledged
  std::uint64_t unsent_ = 0;  // the first one that was never sent
  std::uint64_t closed_ = 0;  // behind the last closed one; the number of the open one
  Open open_ = Open::none;
  unsigned in_flight_ = 0;
  unsigned lost_ = 0;                                                      // frames to be sent again
  CongestionWindow window_{kMostInFlight, kLeastInFlight, kMostInFlight};  // it begins wide: most segments are idle
  std::uint32_t peer_window_ = kFirstInFlight;
  std::uint64_t recovered_ = 0;  // losses below this number belong to a window that has been halved
};

}  // namespace shmemx::ethernet
