// Turns the stream of one connection back into messages. It knows no socket: areas() says where to read to, and the
// caller reports how many bytes arrived. Nothing in the stream is trusted; each length is checked before its use.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <utility>
#include <vector>

#include "transport/tcp/read_buffer.hpp"

namespace shmemx::tcp {

class Decoder {
 public:
  Decoder(int source, transport::Sink& sink) noexcept : source_(source), sink_(&sink) {}

  // From now on areas() asks for a header alone, then for the rest of its message.
  void read_parts() noexcept { reads_parts_ = true; }
  // The stream is that of a second rail: parts of split messages, and nothing else but control frames.
  void expect_parts() noexcept { is_of_parts_ = true; }

  // Fills in the areas to read the next bytes to. Returns their number, 1 or 2, or 0 if there is no memory.
  int areas(iovec (&out)[2]) noexcept;
  // Takes `bytes` that have been read to the areas, the first one filled before the second. Calls the sink for each
  // complete message. Returns false if the stream is broken; it must not be called again then.
  bool advance(std::size_t bytes) noexcept;

  // Returns how many bytes are missing of the long payload that has begun; 0 if none has.
  std::size_t missing_payload() const noexcept { return long_ ? long_->missing : 0; }
  bool has_shut_down() const noexcept { return has_shut_down_; }
  // Returns which connection the last suspend frame is about; 0 if there was none. One of a former connection means
  // nothing: it was begun before that broke, and completed on the next one.
  std::uint64_t suspends() const noexcept { return suspends_; }
  // ---- split messages ----
  // Returns whether it waits for the other rail, and takes nothing until then: areas() must not be called. The first
  // rail waits behind the first part of a split message until the other part is complete. The second rail waits in
  // front of a part until it has its place, and behind it until the part has been taken.
  bool is_waiting() const noexcept { return long_ && (long_->missing == 0 || long_->place == nullptr); }
  // Keeps bytes that have been read while it was waiting.
  void keep(transport::Bytes bytes) { kept_.insert(kept_.end(), bytes.begin(), bytes.end()); }
  // Of the first rail: returns whether a split message has begun.
  bool lacks_part() const noexcept { return !is_of_parts_ && long_ && long_->stops_behind; }
  // Returns where the other part of that message belongs, at which the decoder of the second rail waits. Null if the
  // two do not fit.
  std::byte* place_of(const Decoder& second) const noexcept;
  // Of the second rail: returns whether it waits in front of a part, or behind one.
  bool needs_place() const noexcept { return is_of_parts_ && long_ && long_->place == nullptr; }
  bool has_part() const noexcept { return is_of_parts_ && long_ && long_->missing == 0; }
  // The part belongs there. Returns false if the stream is broken, as advance() does.
  bool place_part(std::byte* place) noexcept;
  // Of both: the second part is complete, so the decoder goes on. Returns false if the stream is broken.
  bool complete_part() noexcept;

  // From now on the sink gets nothing.
  void drop_messages() noexcept;
  // Frees memory. Requires that the stream has stopped between two frames.
  void free_memory() noexcept;
  // Returns true between two frames: an end of the stream here cuts no message off.
  bool between_frames() const noexcept { return buffer_.empty() && !long_; }
  const char* what_is_broken() const noexcept { return broken_; }

 private:
  // A long message whose payload is not complete.
  struct Long {
    Header fixed;
    std::byte* place;           // of the missing part
    std::size_t missing;        // bytes
    std::size_t payload_bytes;  // all of it
    bool stops_behind;          // until complete_part(): a split message, or a part of one
    std::uint64_t number;       // of the split message
    std::size_t first_bytes;    // of its first part
    std::byte* begin;           // where its payload begins
    Memory own;                 // header and payload, if the sink named no place
    alignas(kFrameAlignment) std::byte header[kMaxHeaderBytes];
  };

  bool parse() noexcept;
  bool take_control(const FrameHeader& header) noexcept;
  const char* check(const FrameHeader& header) const noexcept;
  bool begin_long(const FrameHeader& header) noexcept;
  bool begin_split(const FrameHeader& header) noexcept;
  bool begin_part(const FrameHeader& header) noexcept;
  void next_long(const FrameHeader& header) noexcept;
  bool take_payload(const FrameHeader& header, std::size_t first_bytes) noexcept;
  void fill(Long& next) noexcept;
  bool take_kept() noexcept;
  void end_long() noexcept;
  std::size_t missing_bytes() const noexcept;

  int source_;
  transport::Sink* sink_;
  ReadBuffer buffer_;
  std::size_t read_bytes_ = 0;  // at most, in one read to the buffer
  std::unique_ptr<Long> long_;
  std::unique_ptr<Long> spare_;
  std::vector<std::byte> kept_;
  const char* broken_ = "";
  std::uint64_t suspends_ = 0;
  bool has_shut_down_ = false;
  bool reads_parts_ = false;
  bool is_of_parts_ = false;
  bool is_stream_ = false;  // the last read has brought many bytes
};

}  // namespace shmemx::tcp
