// Objects that send each other tasks (shmemx/tasks.hpp).
#include <shmemx/tasks.hpp>

#include <cstring>
#include <vector>

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
  Pair doubled(Pair pair) { return {pair.weight * 2, pair.number + static_cast<int>(index)}; }
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

PE_TEST(results_of_entries_come_to_the_caller) {
  shmemx::object_array<Counter> counters(11);
  std::vector<shmemx::task_future<Pair>> results;
  for (std::size_t i = 0; i < counters.size(); ++i)
    results.push_back(counters.call<&Counter::doubled>(i, Pair{0.25, me()}));
  for (std::size_t i = counters.size(); i-- > 0;) {
    CHECK(results[i].valid());
    const Pair pair = results[i].get();
    CHECK_EQUAL(pair.weight, 0.5);
    CHECK_EQUAL(pair.number, me() + static_cast<int>(i));
    CHECK(!results[i].valid());
  }
  shmemx::task_future<void> ended = counters.call<&Counter::pass_on>(static_cast<std::size_t>(me()) % 11, 0);
  ended.wait();
  CHECK(ended.is_ready());
  ended.get();
  counters.send<&Counter::doubled>(0, Pair{1, 1});  // its result is dropped
  shmemx_scheduler_quiesce();
  long passed = 0;
  counters.for_each_local([&](Counter& counter) { passed += counter.passed; });
  static long sum, all;
  sum = passed;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &sum, 1);
  CHECK_EQUAL(all, pes());
}

// The other PEs are still inside the array when this one has left it: the end of an array is not collective.
PE_TEST(an_array_ends_on_each_pe_alone) {
  static long is_over;
  is_over = 0;
  shmem_barrier_all();
  {
    shmemx::object_array<Counter> counters(9);
    counters.send<&Counter::pass_on>(static_cast<std::size_t>(me()) % 9, 0);
    shmemx_scheduler_quiesce();
    if (me() != 0) shmem_long_wait_until(&is_over, SHMEM_CMP_EQ, 1);
    CHECK_EQUAL(counters.size(), 9u);
  }
  if (me() == 0)
    for (int pe = 1; pe < pes(); ++pe) shmem_long_p(&is_over, 1, pe);
}

PE_TEST(an_exception_leaves_an_array_without_the_others) {
  static long is_caught;
  is_caught = 0;
  shmem_barrier_all();
  try {
    shmemx::object_array<Counter> counters(9);
    shmemx_scheduler_quiesce();
    if (me() == 0) throw 7;
    shmem_long_wait_until(&is_caught, SHMEM_CMP_EQ, 1);
  } catch (int number) {
    CHECK_EQUAL(number, 7);
    for (int pe = 1; pe < pes(); ++pe) shmem_long_p(&is_caught, 1, pe);
  }
  shmemx::object_array<Counter> later(9);  // the PEs still agree about the numbers of arrays
  later.send<&Counter::pass_on>(0, 8);
  shmemx_scheduler_quiesce();
  later.for_each_local([](Counter& counter) { CHECK_EQUAL(counter.passed, pes()); });
}

// The last PE's objects refuse to be made.
struct Fragile {
  Fragile(shmemx::object_array<Fragile>&, std::size_t) {
    if (me() == pes() - 1) throw 8;
  }
  void touch() { ++touched; }
  long touched = 0;
};

PE_TEST(an_exception_of_a_constructor_comes_after_all_have_arrived) {
  try {
    shmemx::object_array<Fragile> fragile(static_cast<std::size_t>(pes()));
    CHECK(me() != pes() - 1);
    fragile.send<&Fragile::touch>(0);
    shmemx_scheduler_quiesce();
    if (me() == 0) CHECK_EQUAL(fragile.local(0)->touched, pes() - 1);
  } catch (int number) {
    CHECK_EQUAL(number, 8);
    CHECK_EQUAL(me(), pes() - 1);
    shmemx_scheduler_quiesce();
  }
}

// All PEs call each other and wait, so each runs the calls of others while it waits.
PE_TEST(futures_of_handlers_bring_results) {
  constexpr int kSquare = 77, kName = 78;
  shmemx_task_register(
      kSquare,
      [](int, const void* payload, size_t, void*) {
        long value;
        std::memcpy(&value, payload, sizeof value);
        shmemx::task_reply(value * value);
      },
      nullptr);
  shmemx_task_register(
      kName, [](int, const void*, size_t, void*) { shmemx::task_reply(me()); }, nullptr);
  shmem_barrier_all();
  shmemx::task_future<long> square;
  CHECK(!square.valid());
  for (long i = 0; i < 40; ++i) {
    square = shmemx::task_call<long>((me() + static_cast<int>(i)) % pes(), kSquare, i);
    if (i % 4 == 3) continue;  // the next call waits for this one
    CHECK_EQUAL(square.get(), i * i);
  }
  CHECK_EQUAL(shmemx::task_call<int>(right(), kName).get(), right());
  { const auto dropped = shmemx::task_call<int>(right(), kName); }
  shmemx_scheduler_quiesce();
}

}  // namespace
