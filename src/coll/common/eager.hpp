// Eager messages of collectives: data of any length for a member whose memory is not mapped, sent with a flag and
// without agreement. The receiver keeps them until its collective takes them, perhaps before it has entered that
// collective. They are few, since every sender soon waits for something from the receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "coll/common/flag_messages.hpp"
#include "coll/common/team.hpp"

namespace shmemx::coll {

struct EagerBuffer;
struct FreeEagerBuffer {
  void operator()(EagerBuffer* buffer) const noexcept;
};

// A received message. Owns its memory, which may be written.
class EagerMessage {
 public:
  EagerMessage() = default;
  explicit EagerMessage(EagerBuffer* buffer) : buffer_(buffer) {}
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;

 private:
  std::unique_ptr<EagerBuffer, FreeEagerBuffer> buffer_;
};

// Sends data and then the flag to `pe` of the team. On return `data` may be used again, unless `how` says otherwise.
void send_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch, std::span<const std::byte> data,
                const Sending& how = {}) noexcept;
// Takes the message that `pe` has sent with this epoch; none if it has not arrived.
EagerMessage take_eager(const Team& team, int pe, std::uint64_t epoch) noexcept;
// Ends the job unless `message` has as many bytes as were due from `pe`. `advice`: what the diagnostic ends with.
void check_eager(const char* routine, int pe, const EagerMessage& message, std::size_t bytes,
                 const char* advice) noexcept;
// Waits for the message of `bytes` that `pe` sends with this epoch, and takes it.
EagerMessage await_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch, std::size_t bytes,
                         const char* advice = "") noexcept;

// ---- for the handler of flags, under the endpoint's lock ----
struct EagerTag {
  std::uint32_t team_index;
  std::uint32_t writer;
  std::uint64_t epoch;
};
struct EagerFragment {
  std::uint64_t total;
  std::uint64_t offset;
  std::size_t bytes;
};
// Returns where a fragment belongs, once for each fragment; null if it fits no message.
std::byte* place_fragment(const EagerTag& tag, const EagerFragment& fragment) noexcept;
// Counts `bytes` as being in place. Returns true if the message is complete.
bool complete_fragment(const EagerTag& tag, std::size_t bytes) noexcept;
// Frees all messages for a team that ends.
void drop_eager_messages(std::size_t team_index) noexcept;

}  // namespace shmemx::coll
