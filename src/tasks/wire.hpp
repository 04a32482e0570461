// The format of tasks: items of batches (am/coalescer.hpp), whose `handler` is the number of the task's handler and
// whose `detail` says which heads stand in front of the payload. The function that reads it checks every length.
//
//   item     am::ItemHeader | PriorityHead, if kPrioritized | payload
//   tasks    items; the last one need not be filled up
//   piece    PieceHead, bytes of a message of tasks that is longer than a message may be
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/coalescer.hpp"
#include "base/bytes.hpp"

namespace shmemx::tasks {

inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 30;

enum Detail : std::uint16_t {
  kPlain = 0,
  kPrioritized = 1,  // its priority is not 0
};
inline constexpr std::uint16_t kDetails = kPrioritized;

struct PriorityHead {
  std::int32_t priority;
  std::uint32_t reserved;
};
inline constexpr std::size_t kMostHeadBytes = sizeof(PriorityHead);

// A task as it is sent.
struct NewTask {
  int pe;
  std::uint16_t id;
  std::int32_t priority;
  Bytes payload;
};

// What stands between the item's header and the payload.
class Heads {
 public:
  explicit Heads(const NewTask& task) noexcept {
    if (task.priority == 0) return;
    detail_ = kPrioritized;
    const PriorityHead head{task.priority, 0};
    std::memcpy(bytes_, &head, sizeof head);
    size_ = sizeof head;
  }
  std::uint16_t detail() const noexcept { return detail_; }
  Bytes bytes() const noexcept { return {bytes_, size_}; }

 private:
  std::uint16_t detail_ = kPlain;
  std::size_t size_ = 0;
  std::byte bytes_[kMostHeadBytes];
};

// The same with the item's header in front, for a task that travels alone.
class ItemHeads {
 public:
  explicit ItemHeads(const NewTask& task) noexcept {
    const Heads heads(task);
    const am::ItemHeader item{task.id, heads.detail(),
                              static_cast<std::uint32_t>(heads.bytes().size() + task.payload.size())};
    std::memcpy(bytes_, &item, sizeof item);
    copy_short(bytes_ + sizeof item, heads.bytes().data(), heads.bytes().size());
    size_ = sizeof item + heads.bytes().size();
  }
  Bytes bytes() const noexcept { return {bytes_, size_}; }

 private:
  std::size_t size_;
  std::byte bytes_[sizeof(am::ItemHeader) + kMostHeadBytes];
};

// A task in a message.
struct TaskView {
  std::uint16_t id;
  std::int32_t priority;
  Bytes payload;
};

// Takes the first task off `rest`. Returns false if there is no valid one.
inline bool take_task(Bytes& rest, TaskView& out) noexcept {
  am::ItemHeader item;
  if (rest.size() < sizeof item) return false;
  std::memcpy(&item, rest.data(), sizeof item);
  if (item.bytes > rest.size() - sizeof item || (item.detail & ~kDetails) != 0) return false;
  Bytes contents = rest.subspan(sizeof item, item.bytes);
  out = {item.handler, 0, {}};
  if ((item.detail & kPrioritized) != 0) {
    PriorityHead head;
    if (contents.size() < sizeof head) return false;
    std::memcpy(&head, contents.data(), sizeof head);
    out.priority = head.priority;
    contents = contents.subspan(sizeof head);
  }
  out.payload = contents;
  const std::size_t taken = am::Batch::room_for(item.bytes);
  rest = rest.subspan(taken < rest.size() ? taken : rest.size());
  return true;
}

// In front of each piece of a message of tasks.
struct PieceHead {
  std::uint32_t message;  // tells the pieces of messages of one source apart
  std::uint32_t offset;
  std::uint32_t total;
  std::uint32_t reserved;
};
static_assert(sizeof(PieceHead) == 16);

}  // namespace shmemx::tasks
