// Tasks that wait to be run: the smallest priority first, first come first served within one.
//
// Most have priority 0 and came with others in one message. They stay as they lie there, in a stretch, and are read one
// by one when they are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "pt2pt/request.hpp"
#include "tasks/memory.hpp"
#include "tasks/wire.hpp"

namespace shmemx::tasks {

struct Task {
  const std::byte* payload;
  Buffer* buffer;  // that the payload lies in
  std::uint32_t bytes;
  std::int32_t source;
  std::uint16_t id;
  bool needs_reply;
  bool ends_stretch;      // nothing else of the queue needs the buffer for what this task came with
  pt2pt::RequestId call;  // if it needs a reply
};

// What a queue needs of an item in a buffer.
inline Task task_of(const TaskView& view, Buffer& buffer, std::int32_t source) noexcept {
  return {.payload = view.payload.data(),
          .buffer = &buffer,
          .bytes = static_cast<std::uint32_t>(view.payload.size()),
          .source = view.kind == kMulticast ? view.multicast.origin : source,
          .id = view.id,
          .needs_reply = view.kind == kCall,
          .ends_stretch = true,
          .call = view.kind == kCall ? view.call : pt2pt::RequestId{}};
}

// Items of priority 0, tasks all of them, that follow each other in a buffer.
struct Stretch {
  Bytes items;
  Buffer* buffer;
  std::int32_t source;
};

enum class Popped : std::uint8_t { none, task, damaged };

// One thread at a time.
class TaskQueue {
 public:
  bool is_empty() const noexcept { return current_.items.empty() && usual_.empty() && others_.empty(); }
  // Returns the number of tasks; the stretches are read for it.
  std::size_t count() const noexcept;

  // Requires another priority than 0.
  void push(std::int32_t priority, const Task& task) { others_[priority].push_back(task); }
  // Returns false if the tasks have become a part of the stretch that came last.
  bool push(const Stretch& stretch) {
    Stretch& last = usual_.empty() ? current_ : usual_.back();
    if (!last.items.empty() && last.items.data() + last.items.size() == stretch.items.data() &&
        last.source == stretch.source) {
      last.items = {last.items.data(), last.items.size() + stretch.items.size()};
      return false;
    }
    if (is_empty_of_usual()) {
      current_ = stretch;
    } else {
      usual_.push_back(stretch);
    }
    return true;
  }
  // Takes the next task out. damaged: an item of the stretch of `task.source` is not valid.
  [[gnu::always_inline]] Popped pop(Task& task) {
    if (!others_.empty()) [[unlikely]] {
      if (others_.begin()->first < 0 || is_empty_of_usual()) return pop_other(task);
    }
    if (current_.items.empty()) {
      if (usual_.empty()) return Popped::none;
      current_ = usual_.front();
      usual_.pop_front();
    }
    return pop_current(task);
  }

 private:
  bool is_empty_of_usual() const noexcept { return current_.items.empty() && usual_.empty(); }

  [[gnu::always_inline]] Popped pop_current(Task& task) noexcept {
    Bytes& items = current_.items;
    am::ItemHeader item;
    if (items.size() < sizeof item) return pop_unusual(task);
    std::memcpy(&item, items.data(), sizeof item);
    if (item.detail != kPlain || item.bytes > items.size() - sizeof item) [[unlikely]]
      return pop_unusual(task);
    task.payload = items.data() + sizeof item;
    task.buffer = current_.buffer;
    task.bytes = item.bytes;
    task.source = current_.source;
    task.id = item.handler;
    task.needs_reply = false;
    const std::size_t taken = am::Batch::room_for(item.bytes);
    items = items.subspan(taken < items.size() ? taken : items.size());
    task.ends_stretch = items.empty();
    return Popped::task;
  }

  // With heads, or damaged.
  [[gnu::noinline]] Popped pop_unusual(Task& task) noexcept {
    TaskView view;
    task.source = current_.source;
    if (!take_task(current_.items, view) || view.kind == kReply || view.priority != 0) [[unlikely]]
      return Popped::damaged;
    task = task_of(view, *current_.buffer, current_.source);
    task.ends_stretch = current_.items.empty();
    return Popped::task;
  }

  [[gnu::noinline]] Popped pop_other(Task& task) {
    std::deque<Task>& from = others_.begin()->second;
    task = from.front();
    from.pop_front();
    if (from.empty()) others_.erase(others_.begin());
    return Popped::task;
  }

  Stretch current_{};                                // of priority 0: the oldest one
  std::deque<Stretch> usual_;                        // and what follows; none is empty
  std::map<std::int32_t, std::deque<Task>> others_;  // by priority; none is empty
};

inline std::size_t TaskQueue::count() const noexcept {
  std::size_t count = 0;
  const auto add = [&count](Stretch stretch) {
    TaskView view;
    for (; !stretch.items.empty() && take_task(stretch.items, view); ++count) {
    }
  };
  add(current_);
  for (const Stretch& stretch : usual_) add(stretch);
  for (const auto& other : others_) count += other.second.size();
  return count;
}

}  // namespace shmemx::tasks
