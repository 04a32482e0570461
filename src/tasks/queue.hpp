// Tasks that wait to be run: the smallest priority first, first come first served within one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "pt2pt/request.hpp"
#include "tasks/memory.hpp"

namespace shmemx::tasks {

struct Task {
  const std::byte* payload;
  Buffer* buffer;  // that the payload lies in
  std::uint32_t bytes;
  std::int32_t source;
  std::uint16_t id;
  bool needs_reply;
  pt2pt::RequestId call;  // if it needs a reply
};

// One thread at a time.
class TaskQueue {
 public:
  bool is_empty() const noexcept { return usual_.empty() && others_.empty(); }
  std::size_t size() const noexcept { return size_; }

  void push(std::int32_t priority, const Task& task) {
    if (priority == 0) {
      usual_.push_back(task);
    } else {
      others_[priority].push_back(task);
    }
    ++size_;
  }
  // Returns false if the queue is empty.
  bool try_pop(Task& task) {
    if (is_empty()) return false;
    --size_;
    const bool is_usual = others_.empty() || (others_.begin()->first > 0 && !usual_.empty());
    std::deque<Task>& from = is_usual ? usual_ : others_.begin()->second;
    task = from.front();
    from.pop_front();
    if (!is_usual && from.empty()) others_.erase(others_.begin());
    return true;
  }

 private:
  std::deque<Task> usual_;                           // of priority 0
  std::map<std::int32_t, std::deque<Task>> others_;  // by priority; none is empty
  std::size_t size_ = 0;
};

}  // namespace shmemx::tasks
