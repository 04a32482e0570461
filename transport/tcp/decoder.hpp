// Turns the stream of one connection back into messages. Knows no socket: it says where the next bytes are to be read
// to, and is told how many came. Nothing in the stream is trusted; memory is touched after its checks only.
#pragma once

#include <sys/uio.h>

#include <cstdlib>
#include <memory>

#include "transport/tcp/frame.hpp"

namespace shmemx::tcp {

class Decoder {
 public:
  Decoder(int source, transport::Sink& sink) noexcept : source_(source), sink_(&sink) {}

  // Where to read the next bytes to, one area or two; the number of them. 0: there is no memory.
  int areas(iovec (&out)[2]) noexcept;
  // `bytes` have been read to the areas, the first one filled before the second. Calls the sink for each message that
  // is complete. False when the stream is broken; nothing may follow then.
  bool advance(std::size_t bytes) noexcept;

  bool said_good_bye() const noexcept { return good_bye_; }
  // At the border of two frames: an end here cuts no message off.
  bool between_frames() const noexcept { return begin_ == end_ && !long_; }
  const char* what_is_broken() const noexcept { return broken_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  // A payload that is larger than what has come of it yet.
  struct Long {
    Header fixed;
    std::byte* place;           // of the part that is missing
    std::size_t missing;        // bytes
    std::size_t payload_bytes;  // all of it
    Memory own;                 // header and payload, when the sink named no place
    alignas(kFrameAlignment) std::byte header[kMaxHeaderBytes];
  };

  bool parse() noexcept;
  const char* check(const FrameHeader& header) const noexcept;
  bool begin_long(const FrameHeader& header) noexcept;
  void end_long() noexcept;
  bool skip_padding() noexcept;
  void make_room() noexcept;

  int source_;
  transport::Sink* sink_;
  Memory buffer_;
  std::size_t begin_ = 0;       // of what has not been handed on; frames begin at multiples of 16
  std::size_t end_ = 0;         // of what has been read
  std::size_t padding_ = 0;     // bytes of the stream to be dropped before the next frame
  std::size_t read_bytes_ = 0;  // at most, by one read to the buffer
  std::unique_ptr<Long> long_;
  std::unique_ptr<Long> spare_;
  const char* broken_ = "";
  bool good_bye_ = false;

 public:
  static constexpr std::size_t kBufferBytes = std::size_t{128} << 10;
};

}  // namespace shmemx::tcp
