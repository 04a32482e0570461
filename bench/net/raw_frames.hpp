// Frames of a packet socket with a mapped receive ring, without the library: nothing is acknowledged, sent again or
// checked. Only credits keep a stream from overflowing the ring. The two ends have a number that their frames carry,
// and no other frames pass their filters: several jobs may use the interface, and take turns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "raw_link.hpp"

namespace shmemx::bench {

class RawFrames final : public RawLink {
 public:
  RawFrames() = default;
  RawFrames(const RawFrames&) = delete;
  RawFrames& operator=(const RawFrames&) = delete;
  ~RawFrames() override;

  RawAddress listen() override;
  void accept() override;
  void connect(const RawAddress& address) override;
  void send(std::span<const std::byte> bytes) override;
  std::size_t receive_some(std::span<std::byte> bytes) override;

 private:
  static constexpr unsigned kAtOnce = 32;  // frames of one call of the kernel

  void open(std::uint32_t link);
  void filter();
  void fill_head(void* head, std::size_t bytes) const;
  std::span<const std::byte> next_frame();  // content of the next frame; credits are taken. Empty: none is here
  void release();
  void transmit(std::span<const std::byte> content);
  void send_credit();

  int fd_ = -1;
  std::size_t content_bytes_ = 0;
  std::byte* ring_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::size_t slots_ = 0;
  std::size_t next_ = 0;
  std::array<std::uint8_t, 6> own_{};
  std::array<std::uint8_t, 6> peer_{};
  std::uint64_t word_ = 0;
  std::uint32_t link_ = 0;
  std::vector<std::byte> rest_;  // of the last frame, behind what was requested
  unsigned uncredited_ = 0;      // frames received since the last credit
  long credit_ = 0;              // frames that may be sent
};

}  // namespace shmemx::bench
