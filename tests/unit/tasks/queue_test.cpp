#include "tasks/queue.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(tasks_queue)

namespace {

using shmemx::tasks::Task;
using shmemx::tasks::TaskQueue;

Task numbered(std::uint32_t number) { return {nullptr, nullptr, number, 0, 0, false, {}}; }

struct Queued {
  std::int32_t priority;
  std::uint32_t number;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_smallest_priority_comes_first_and_within_it_the_oldest) {
  std::mt19937 random(7);
  TaskQueue queue;
  std::vector<Queued> model;
  for (std::uint32_t step = 0; step < 20000; ++step) {
    if (random() % 100 < (step % 4000 < 2000 ? 60 : 40)) {
      const std::int32_t priority = random() % 3 == 0 ? 0 : static_cast<std::int32_t>(random() % 21) - 10;
      queue.push(priority, numbered(step));
      model.push_back({priority, step});
      continue;
    }
    Task task;
    BOOST_REQUIRE_EQUAL(queue.try_pop(task), !model.empty());
    if (model.empty()) continue;
    const auto first = std::min_element(model.begin(), model.end(),
                                        [](const Queued& a, const Queued& b) { return a.priority < b.priority; });
    BOOST_REQUIRE_EQUAL(task.bytes, first->number);
    model.erase(first);
    BOOST_REQUIRE_EQUAL(queue.size(), model.size());
    BOOST_REQUIRE_EQUAL(queue.is_empty(), model.empty());
  }
}

BOOST_AUTO_TEST_CASE(extreme_priorities_are_ordered) {
  TaskQueue queue;
  queue.push(INT32_MAX, numbered(2));
  queue.push(0, numbered(1));
  queue.push(INT32_MIN, numbered(0));
  Task task;
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_REQUIRE(queue.try_pop(task));
    BOOST_CHECK_EQUAL(task.bytes, i);
  }
  BOOST_CHECK(!queue.try_pop(task));
}

BOOST_AUTO_TEST_SUITE_END()
