// Requests that tasks complete, and tasks that wait for requests. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <vector>

#include "pt2pt/messages.hpp"
#include "tasks/queue.hpp"
#include "tasks/wire.hpp"

namespace shmemx::tasks {

// Opens the request of a call to `pe`, whose reply is written to `result`.
CallId open_call(const char* routine, int pe, std::byte* result, std::size_t result_bytes) noexcept;
// Completes the call by the reply of `source`. Returns false if none is open that waits for one.
bool complete_call(int source, CallId call, Bytes reply) noexcept;
// Returns the call that a reply of `source` is written to piece by piece, until complete_call(); null as above.
pt2pt::Operation* begin_reply(int source, CallId call) noexcept;
void complete_call(pt2pt::Operation& call, int source, std::size_t bytes, bool truncated) noexcept;

// Tasks of this PE that are queued once a request is complete.
class Awaiting {
 public:
  // `item` lies in the buffer.
  void add(pt2pt::RequestId request, std::int32_t priority, Bytes item, Buffer& buffer) {
    list_.push_back({request, priority, item, &buffer});
  }
  bool is_empty() const noexcept { return list_.empty(); }
  std::size_t count() const noexcept { return list_.size(); }
  bool has_complete() const noexcept;
  // Ends the requests that are complete, and calls queue(priority, item, buffer) for their tasks.
  template <class Queue>
  void take_complete(const Queue& queue) {
    std::erase_if(list_, [&](const Entry& entry) {
      if (!try_end(entry.request)) return false;
      queue(entry.priority, entry.item, *entry.buffer);
      return true;
    });
  }

 private:
  struct Entry {
    pt2pt::RequestId request;
    std::int32_t priority;
    Bytes item;
    Buffer* buffer;
  };
  static bool try_end(pt2pt::RequestId request) noexcept;

  std::vector<Entry> list_;
};

}  // namespace shmemx::tasks
