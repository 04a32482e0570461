// Data of any length from a member of a team on another node, in front of its flag: kept by this PE until the
// collective that they belong to takes them. Nothing is agreed on beforehand, so data may be here before this PE has
// entered; they are few, since a collective's sender soon waits for something of the receiver's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "coll/team.hpp"

namespace shmemx::coll {

inline constexpr std::size_t kMaxEagerBytes = std::size_t{64} << 20;

struct EagerBuffer;
struct FreeEagerBuffer {
  void operator()(EagerBuffer* node) const noexcept;
};

// Owns its memory, which may be written.
class EagerMessage {
 public:
  EagerMessage() = default;
  explicit EagerMessage(EagerBuffer* node) : node_(node) {}
  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept;

 private:
  std::unique_ptr<EagerBuffer, FreeEagerBuffer> node_;
};

// To `pe` of the team, on another node, and a flag behind it. `data` may be used again.
void send_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch,
                std::span<const std::byte> data) noexcept;
// Waits for what `pe` has sent with this epoch, `bytes` long.
EagerMessage await_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch,
                         std::size_t bytes) noexcept;

// ---- for the handler of flags; under the endpoint's lock ----
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
// Where the piece belongs, once for each; null when that cannot be.
std::byte* place_fragment(const EagerTag& tag, const EagerFragment& fragment) noexcept;
// True when the message is complete.
bool complete_fragment(const EagerTag& tag, std::size_t bytes) noexcept;
void drop_eager_messages(std::size_t team_index) noexcept;

}  // namespace shmemx::coll
