// The format of tasks: items of batches (am/coalescer.hpp), whose `handler` is the number of the task's handler and
// whose `detail` says which heads stand in front of the payload. The function that reads it checks every length.
//
//   item     am::ItemHeader | PriorityHead, if kPrioritized | CallId, if kCall or kReply | MulticastHead, if kMulticast
//            | payload
//   tasks    items; the last one need not be filled up. The message's handler says what is among them (handler_of)
//   piece    PieceHead (pieces.hpp) with the details of the items, bytes of a message of tasks
//   offer    OfferHead, the item without its payload, which the target pulls by a rendezvous of pt2pt
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "am/coalescer.hpp"
#include "am/handlers.hpp"
#include "base/bytes.hpp"
#include "pt2pt/request.hpp"

namespace shmemx::tasks {

inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 30;

enum Detail : std::uint16_t {
  kPlain = 0,
  kPrioritized = 1,  // its priority is not 0
  kCall = 2,         // a reply is expected
  kReply = 4,        // is the reply of a call, and no task
  kMulticast = 8,    // the receiver passes it on
};
inline constexpr std::uint16_t kKinds = kCall | kReply | kMulticast;  // an item is of one kind at most
inline constexpr std::uint16_t kDetails = kPrioritized | kKinds;

// Returns the handler of a message whose items have these details.
constexpr am::HandlerId handler_of(std::uint16_t details) noexcept {
  if ((details & (kReply | kMulticast)) != 0) return am::kTasksHandled;
  return (details & kPrioritized) != 0 ? am::kTasksMixed : am::kTasks;
}

// The caller's request.
using CallId = pt2pt::RequestId;
static_assert(sizeof(CallId) == 8);

struct PriorityHead {
  std::int32_t priority;
  std::uint32_t reserved;
};

// Of a multicast: the PE that has sent it, the team, and the members that the receiver sees to (multicast.hpp).
struct MulticastHead {
  std::int32_t origin;
  std::int32_t first;  // world PE of member 0
  std::int32_t step;   // from one member to the next
  std::uint32_t size;
  std::uint32_t begin;
  std::uint32_t count;
};
static_assert(sizeof(MulticastHead) == 24);
inline constexpr std::size_t kMostHeadBytes = sizeof(PriorityHead) + sizeof(MulticastHead);

// Runs when the library no longer needs memory that the program has handed over.
struct Release {
  void (*function)(void* payload, void* argument) = nullptr;
  void* payload = nullptr;
  void* argument = nullptr;
};

// A task as it is sent.
struct NewTask {
  int pe;
  std::uint16_t id;
  std::int32_t priority;
  Bytes payload;
  std::uint16_t kind = kPlain;   // or one of kKinds
  CallId call = {};              // of kCall and kReply
  Release release = {};          // with a function: the payload stays until that is called
  MulticastHead multicast = {};  // of kMulticast

  bool is_owned() const noexcept { return release.function != nullptr; }
};

// What stands between the item's header and the payload.
class Heads {
 public:
  explicit Heads(const NewTask& task) noexcept {
    detail_ = task.kind;
    if (task.priority != 0) {
      detail_ |= kPrioritized;
      add(PriorityHead{task.priority, 0});
    }
    if (task.kind == kPlain) return;
    if (task.kind == kMulticast) {
      add(task.multicast);
    } else {
      add(task.call);
    }
  }
  std::uint16_t detail() const noexcept { return detail_; }
  Bytes bytes() const noexcept { return {bytes_, size_}; }

 private:
  template <class Head>
  void add(const Head& head) noexcept {
    std::memcpy(bytes_ + size_, &head, sizeof head);
    size_ += sizeof head;
  }

  std::uint16_t detail_ = kPlain;
  std::size_t size_ = 0;
  std::byte bytes_[kMostHeadBytes];
};

// The item's header and what follows it in front of the payload, for a task that travels alone.
class ItemHeads {
 public:
  explicit ItemHeads(const NewTask& task) noexcept {
    const Heads heads(task);
    const am::ItemHeader item{task.id, heads.detail(),
                              static_cast<std::uint32_t>(heads.bytes().size() + task.payload.size())};
    std::memcpy(bytes_, &item, sizeof item);
    copy_short(bytes_ + sizeof item, heads.bytes().data(), heads.bytes().size());
    size_ = sizeof item + heads.bytes().size();
    detail_ = heads.detail();
  }
  std::uint16_t detail() const noexcept { return detail_; }
  Bytes bytes() const noexcept { return {bytes_, size_}; }

 private:
  std::size_t size_;
  std::uint16_t detail_;
  std::byte bytes_[sizeof(am::ItemHeader) + kMostHeadBytes];
};

// A task in a message.
struct TaskView {
  std::uint16_t id;
  std::uint16_t kind;  // kPlain or one of kKinds
  std::int32_t priority;
  CallId call;              // of kCall and kReply
  MulticastHead multicast;  // of kMulticast
  Bytes payload;
};

// Takes what the details of an item name off its contents.
inline bool take_heads(Bytes& contents, std::uint16_t detail, TaskView& out) noexcept {
  if ((detail & kPrioritized) != 0) {
    PriorityHead head;
    if (!take_header(contents, head)) return false;
    out.priority = head.priority;
  }
  switch (out.kind) {
    case kPlain:
      return true;
    case kCall:
    case kReply:
      return take_header(contents, out.call);
    case kMulticast:
      return take_header(contents, out.multicast);
    default:
      return false;
  }
}

// Takes the first task off `rest`. Returns false if there is no valid one.
inline bool take_task(Bytes& rest, TaskView& out) noexcept {
  am::ItemHeader item;
  if (rest.size() < sizeof item) return false;
  std::memcpy(&item, rest.data(), sizeof item);
  if (item.bytes > rest.size() - sizeof item || (item.detail & ~kDetails) != 0) return false;
  Bytes contents = rest.subspan(sizeof item, item.bytes);
  out.id = item.handler;
  out.kind = static_cast<std::uint16_t>(item.detail & kKinds);
  out.priority = 0;
  if (item.detail != kPlain && !take_heads(contents, item.detail, out)) return false;
  out.payload = contents;
  const std::size_t taken = am::Batch::room_for(item.bytes);
  rest = rest.subspan(taken < rest.size() ? taken : rest.size());
  return true;
}

// Payloads from here on are pulled.
inline constexpr std::size_t kPullBytes = std::size_t{64} << 10;
struct OfferHead {
  std::int32_t tag;  // of the message of pt2pt that brings the payload
  std::uint32_t payload_bytes;
};
static_assert(sizeof(OfferHead) == 8);

// Tags of such messages: those that no collective in the background has.
inline constexpr std::uint32_t kPullTags = 16383;
constexpr std::int32_t pull_tag(std::uint32_t number) noexcept {
  constexpr std::int64_t kStep = std::int64_t{1} << 17;
  return static_cast<std::int32_t>(std::numeric_limits<std::int32_t>::min() + number % kPullTags * kStep + kStep - 1);
}
constexpr bool is_pull_tag(std::int32_t tag) noexcept {
  return tag < pt2pt::kAny && (static_cast<std::uint32_t>(tag) & 0x1ffffU) == 0x1ffffU;
}
static_assert(is_pull_tag(pull_tag(0)) && is_pull_tag(pull_tag(kPullTags - 1)));

}  // namespace shmemx::tasks
