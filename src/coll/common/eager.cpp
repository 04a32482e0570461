#include "coll/common/eager.hpp"

#include <new>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "base/recycled_memory.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

// The data follow in memory.
struct alignas(kCacheLine) EagerBuffer {
  EagerBuffer* next;
  EagerTag tag;
  std::size_t bytes;
  std::size_t unplaced;  // bytes whose place no fragment has taken yet
  std::size_t missing;   // bytes that are not in place yet

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

namespace {

constinit EagerBuffer* messages = nullptr;  // a short list; changes under the endpoint's lock

EagerBuffer** find(const EagerTag& tag) {
  EagerBuffer** link = &messages;
  while (*link != nullptr && ((*link)->tag.epoch != tag.epoch || (*link)->tag.writer != tag.writer ||
                              (*link)->tag.team_index != tag.team_index)) {
    link = &(*link)->next;
  }
  return link;
}

EagerBuffer* make(const EagerTag& tag, std::size_t bytes) {
  return new (take_memory(sizeof(EagerBuffer) + bytes).release()) EagerBuffer{nullptr, tag, bytes, bytes, bytes};
}

}  // namespace

void FreeEagerBuffer::operator()(EagerBuffer* buffer) const noexcept {
  ReturnMemory()(reinterpret_cast<std::byte*>(buffer));
}
std::byte* EagerMessage::data() const noexcept { return buffer_ == nullptr ? nullptr : buffer_->data(); }
std::size_t EagerMessage::bytes() const noexcept { return buffer_ == nullptr ? 0 : buffer_->bytes; }

std::byte* place_fragment(const EagerTag& tag, const EagerFragment& fragment) noexcept {
  if (fragment.total > kMaxEagerBytes || fragment.offset > fragment.total ||
      fragment.bytes > fragment.total - fragment.offset)
    return nullptr;
  EagerBuffer** const link = find(tag);
  if (*link == nullptr) *link = make(tag, fragment.total);
  EagerBuffer& message = **link;
  if (message.bytes != fragment.total || fragment.bytes > message.unplaced) return nullptr;
  message.unplaced -= fragment.bytes;
  return message.data() + fragment.offset;
}

bool complete_fragment(const EagerTag& tag, std::size_t bytes) noexcept {
  EagerBuffer& message = **find(tag);
  message.missing -= bytes;
  return message.missing == 0;
}

void drop_eager_messages(std::size_t team_index) noexcept {
  for (EagerBuffer** link = &messages; *link != nullptr;) {
    EagerBuffer* const message = *link;
    if (message->tag.team_index != team_index) {
      link = &message->next;
      continue;
    }
    *link = message->next;
    FreeEagerBuffer()(message);
  }
}

void send_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch, std::span<const std::byte> data,
                const Sending& how) noexcept {
  if (data.empty()) return send_flag(team, routine, pe, epoch, how.sent_for);
  send_fragments(team, routine, pe, epoch, data, how);
}

EagerMessage take_eager(const Team& team, int pe, std::uint64_t epoch) noexcept {
  const am::Locked lock;
  EagerBuffer** const link = find({team.route.team_index, static_cast<std::uint32_t>(pe), epoch});
  EagerBuffer* const taken = *link;
  if (taken == nullptr || taken->missing != 0) return {};
  *link = taken->next;
  return EagerMessage(taken);
}

void check_eager(const char* routine, int pe, const EagerMessage& message, std::size_t bytes,
                 const char* advice) noexcept {
  if (message && message.bytes() == bytes) return;
  fatal(routine, "PE %d of the team takes part with another length or in another routine, %zu bytes were due from it%s",
        pe, bytes, advice);
}

EagerMessage await_eager(const Team& team, const char* routine, int pe, std::uint64_t epoch, std::size_t bytes,
                         const char* advice) noexcept {
  await_flag(team, routine, pe, epoch);
  if (bytes == 0) return {};
  EagerMessage message = take_eager(team, pe, epoch);
  check_eager(routine, pe, message, bytes, advice);
  return message;
}

}  // namespace shmemx::coll
