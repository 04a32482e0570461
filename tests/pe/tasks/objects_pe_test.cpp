// Objects that send each other tasks (shmemx/tasks.hpp).
#include <shmemx/tasks.hpp>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

struct Pair {
  double weight;
  int number;
};

struct Counter {
  Counter(shmemx::object_array<Counter>& all, std::size_t number) : array(all), index(number) {}

  void add(long value, Pair pair, char letter) {
    if (letter == 'x' && pair.number == static_cast<int>(value)) sum += value;
    weight += pair.weight;
  }
  void pass_on(int hops) {
    ++passed;
    if (hops != 0) array.send<&Counter::pass_on>((index + 1) % array.size(), hops - 1);
  }
  void begin() {
    array.contribute<&Counter::end>(*this, static_cast<long>(index) + 1, shmemx::sum());
    array.contribute<&Counter::highest>(*this, index, shmemx::greatest());
  }
  void end(long all) { total = all; }
  void highest(std::size_t most) { top = most; }

  shmemx::object_array<Counter>& array;
  std::size_t index;
  long sum = 0;
  double weight = 0;
  long passed = 0;
  long total = 0;
  std::size_t top = 0;
};

PE_TEST(entries_run_at_the_object_that_they_name) {
  shmemx::object_array<Counter> counters(17);
  for (std::size_t i = 0; i < counters.size(); ++i)
    counters.send<&Counter::add>(i, static_cast<long>(i), Pair{0.5, static_cast<int>(i)}, 'x');
  shmemx_scheduler_quiesce();
  long local = 0;
  counters.for_each_local([&](Counter& counter) {
    ++local;
    CHECK_EQUAL(counter.sum, static_cast<long>(counter.index) * pes());
    CHECK_EQUAL(counter.weight, 0.5 * pes());
    CHECK_EQUAL(counters.owner(counter.index), me());
    CHECK(counters.local(counter.index) == &counter);
  });
  CHECK(local >= 17 / pes());
}

PE_TEST(objects_of_any_owner_pass_tasks_on) {
  shmemx::object_array<Counter> counters(
      23, [](std::size_t i) { return static_cast<int>(i * 5 % static_cast<std::size_t>(shmem_n_pes())); });
  if (me() == 0) counters.send<&Counter::pass_on>(3, 22);
  shmemx_scheduler_quiesce();
  counters.for_each_local([](Counter& counter) { CHECK_EQUAL(counter.passed, 1); });
  CHECK_EQUAL(counters.size(), 23u);
}

// Fewer objects than PEs, too; and two arrays at once.
PE_TEST(contributions_of_all_objects_are_combined) {
  shmemx::object_array<Counter> few(2, [](std::size_t i) {
    return shmem_n_pes() - 1 - static_cast<int>(i % static_cast<std::size_t>(shmem_n_pes()));
  });
  shmemx::object_array<Counter> many(100);
  for (long round = 1; round <= 3; ++round) {
    if (me() == pes() - 1) few.broadcast<&Counter::begin>();
    if (me() == 0) many.broadcast<&Counter::begin>();
    shmemx_scheduler_quiesce();
    few.for_each_local([](Counter& counter) {
      CHECK_EQUAL(counter.total, 3);
      CHECK_EQUAL(counter.top, 1u);
    });
    many.for_each_local([](Counter& counter) {
      CHECK_EQUAL(counter.total, 5050);
      CHECK_EQUAL(counter.top, 99u);
    });
    shmem_barrier_all();
  }
  CHECK_EQUAL(many.size(), 100u);
}

}  // namespace
