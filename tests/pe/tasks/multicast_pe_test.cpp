// Multicasts of tasks: every member of a team gets the task once, whoever is in the scheduler.
#include <shmemx.h>

#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

enum MulticastId { kSized = 310, kCount = 311, kFlood = 312 };

struct Seen {
  long count = 0;
  long bad = 0;
};
Seen seen;

template <class Done>
void run_until(Done done) {
  while (!done()) shmemx_scheduler_poll(16);
}

void on_sized(int source, const void* payload, size_t bytes, void*) {
  const auto* const data = static_cast<const unsigned char*>(payload);
  for (size_t i = 0; i < bytes; i += bytes < 5000 ? 1 : 997) {
    if (data[i] != test_support::pattern_byte(static_cast<std::size_t>(source) + bytes, i)) ++seen.bad;
  }
  ++seen.count;
}

void fresh() {
  seen = Seen{};
  shmemx_task_register(kSized, on_sized, nullptr);
  shmemx_task_register(
      kCount, [](int, const void*, size_t, void*) { ++seen.count; }, nullptr);
  shmem_barrier_all();
}

PE_TEST(multicasts_run_on_each_member) {
  fresh();
  std::vector<unsigned char> data(200000);
  for (const size_t bytes : {size_t{0}, size_t{8}, size_t{9000}, size_t{200000}}) {
    for (size_t i = 0; i < bytes; ++i) data[i] = test_support::pattern_byte(static_cast<std::size_t>(me()) + bytes, i);
    shmemx_task_multicast(SHMEM_TEAM_WORLD, kSized, data.data(), bytes, 1);
  }
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(seen.count, 4L * pes());
  CHECK_EQUAL(seen.bad, 0);
  shmem_barrier_all();
}

// Of teams with strides, also from handlers; the source is the PE that has sent it, whoever passed it on.
PE_TEST(multicasts_to_teams_run_on_their_members_alone) {
  fresh();
  shmem_team_t odd = SHMEM_TEAM_INVALID;
  const int members = pes() / 2;
  if (members > 0) shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, members, nullptr, 0, &odd);
  static shmem_team_t team;
  team = odd;
  shmemx_task_register(
      kFlood,
      [](int, const void*, size_t, void*) {
        std::vector<unsigned char> data(70000);
        for (const size_t bytes : {size_t{3}, size_t{600}, size_t{70000}}) {
          for (size_t i = 0; i < bytes; ++i)
            data[i] = test_support::pattern_byte(static_cast<std::size_t>(me()) + bytes, i);
          shmemx_task_multicast(team, kSized, data.data(), bytes, bytes == 600 ? 4 : 0);
        }
      },
      nullptr);
  shmem_barrier_all();
  const bool is_member = odd != SHMEM_TEAM_INVALID;
  if (is_member) {
    for (int i = 0; i < 10; ++i) shmemx_task_send(me(), kFlood, nullptr, 0, 0);
  }
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(seen.count, is_member ? 30L * members : 0L);
  CHECK_EQUAL(seen.bad, 0);
  if (is_member) shmem_team_destroy(odd);
  shmem_barrier_all();
}

// The PEs between the first and the last one are not in the scheduler while the last one gets its task.
PE_TEST_MIN(multicasts_pass_pes_that_wait_for_something_else, 2) {
  fresh();
  static long go_on;
  go_on = 0;
  shmem_barrier_all();
  const long value = 1;
  if (me() == 0) {
    shmemx_task_multicast(SHMEM_TEAM_WORLD, kCount, &value, sizeof value, 0);
    shmemx_task_flush();
  }
  if (me() == pes() - 1) {
    run_until([] { return seen.count == 1; });
    for (int pe = 0; pe < pes() - 1; ++pe) shmem_long_p(&go_on, 1, pe);
    shmem_quiet();
  } else {
    shmem_long_wait_until(&go_on, SHMEM_CMP_EQ, 1);
  }
  shmemx_scheduler_quiesce();
  CHECK_EQUAL(seen.count, 1);
  CHECK_EQUAL(seen.bad, 0);
}

}  // namespace
