#include "tasks/queue.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <list>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(tasks_queue)

namespace {

using namespace shmemx;
using namespace shmemx::tasks;

Task numbered(std::uint32_t number) { return {nullptr, nullptr, number, 0, 0, false, true, {}}; }

// Messages whose payloads are numbers of tasks.
class Messages {
 public:
  Stretch make(std::uint32_t first, std::uint32_t count, int source) {
    std::vector<std::byte>& bytes = messages_.emplace_back();
    for (std::uint32_t i = first; i < first + count; ++i) append(bytes, i);
    return {bytes, &buffer_, source};
  }
  static void append(std::vector<std::byte>& bytes, std::uint32_t number) {
    const am::ItemHeader item{static_cast<std::uint16_t>(number), kPlain, sizeof number};
    const std::size_t at = bytes.size();
    bytes.resize(at + am::Batch::room_for(sizeof number));
    std::memcpy(bytes.data() + at, &item, sizeof item);
    std::memcpy(bytes.data() + at + sizeof item, &number, sizeof number);
  }

 private:
  std::list<std::vector<std::byte>> messages_;
  Buffer buffer_{1, 0, 0, 0, nullptr};
};

std::uint32_t number_of(const Task& task) {
  if (task.payload == nullptr) return task.bytes;
  std::uint32_t number;
  std::memcpy(&number, task.payload, sizeof number);
  BOOST_REQUIRE_EQUAL(task.id, static_cast<std::uint16_t>(number));
  return number;
}

struct Queued {
  std::int32_t priority;
  std::uint32_t number;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_smallest_priority_comes_first_and_within_it_the_oldest) {
  std::mt19937 random(7);
  TaskQueue queue;
  Messages messages;
  std::vector<Queued> model;
  for (std::uint32_t step = 0; step < 100000; step += 10) {
    if (random() % 100 < (step % 20000 < 10000 ? 60 : 40)) {
      const std::int32_t priority = random() % 3 == 0 ? 0 : static_cast<std::int32_t>(random() % 21) - 10;
      const std::uint32_t count = priority == 0 ? 1 + static_cast<std::uint32_t>(random() % 9) : 1;
      for (std::uint32_t i = 0; i < count; ++i) model.push_back({priority, step + i});
      if (priority != 0) {
        queue.push(priority, numbered(step));
      } else {
        queue.push(messages.make(step, count, 3));
      }
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      Task task;
      BOOST_REQUIRE(queue.pop(task) == (model.empty() ? Popped::none : Popped::task));
      if (model.empty()) break;
      const auto first = std::min_element(model.begin(), model.end(),
                                          [](const Queued& a, const Queued& b) { return a.priority < b.priority; });
      BOOST_REQUIRE_EQUAL(number_of(task), first->number);
      model.erase(first);
      BOOST_REQUIRE_EQUAL(queue.is_empty(), model.empty());
    }
    if (step % 100 == 0) BOOST_REQUIRE_EQUAL(queue.count(), model.size());
  }
}

BOOST_AUTO_TEST_CASE(extreme_priorities_are_ordered) {
  TaskQueue queue;
  Messages messages;
  queue.push(INT32_MAX, numbered(2));
  queue.push(messages.make(1, 1, 0));
  queue.push(INT32_MIN, numbered(0));
  Task task;
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_REQUIRE(queue.pop(task) == Popped::task);
    BOOST_CHECK_EQUAL(number_of(task), i);
  }
  BOOST_CHECK(queue.pop(task) == Popped::none);
}

// What continues a stretch becomes a part of it, and only the last task of a stretch ends it.
BOOST_AUTO_TEST_CASE(tasks_that_follow_in_memory_are_one_stretch) {
  std::vector<std::byte> bytes;
  bytes.reserve(1000);
  Buffer buffer{1, 0, 0, 0, nullptr};
  TaskQueue queue;
  Messages::append(bytes, 0);
  const std::size_t one = bytes.size();
  BOOST_CHECK(queue.push(Stretch{Bytes(bytes), &buffer, 2}));
  Messages::append(bytes, 1);
  BOOST_CHECK(!queue.push(Stretch{Bytes(bytes).subspan(one), &buffer, 2}));
  Task task;
  BOOST_REQUIRE(queue.pop(task) == Popped::task);
  BOOST_CHECK(number_of(task) == 0 && !task.ends_stretch && task.source == 2);
  BOOST_REQUIRE(queue.pop(task) == Popped::task);
  BOOST_CHECK(number_of(task) == 1 && task.ends_stretch);
  Messages::append(bytes, 2);  // too late: the stretch has ended
  BOOST_CHECK(queue.push(Stretch{Bytes(bytes).subspan(2 * one), &buffer, 2}));
  BOOST_REQUIRE(queue.pop(task) == Popped::task && number_of(task) == 2 && task.ends_stretch);
}

BOOST_AUTO_TEST_CASE(damaged_items_of_a_stretch_are_found) {
  Messages messages;
  for (const std::uint16_t detail : {std::uint16_t{kPrioritized}, std::uint16_t{kReply}, std::uint16_t{16}}) {
    TaskQueue queue;
    Stretch stretch = messages.make(0, 4, 9);
    std::memcpy(const_cast<std::byte*>(stretch.items.data()) + offsetof(am::ItemHeader, detail), &detail,
                sizeof detail);
    queue.push(stretch);
    Task task;
    BOOST_REQUIRE(queue.pop(task) == Popped::damaged);
    BOOST_CHECK_EQUAL(task.source, 9);
  }
}

BOOST_AUTO_TEST_SUITE_END()
