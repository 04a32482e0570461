// Collectives that do not block (shmemx/collectives.h), beside those that do and beside messages.
#include <shmemx.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../support/computing.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

int n() { return shmem_n_pes(); }

// Waits, and checks that the status is empty and the request gone.
void finish(shmemx_request_t& request) {
  shmemx_status_t status;
  CHECK_EQUAL(shmemx_wait(&request, &status), 0);
  CHECK(request == SHMEMX_REQUEST_NULL);
  CHECK_EQUAL(status.source_pe, SHMEMX_ANY_SOURCE);
  CHECK_EQUAL(status.tag, SHMEMX_ANY_TAG);
  CHECK_EQUAL(status.bytes, 0U);
  CHECK_EQUAL(status.error, 0);
  CHECK_EQUAL(status.cancelled, 0);
}

// Sums of these depend on the association of the operands.
double rough(int pe, std::size_t i) {
  return (pe % 3 == 1 ? 1e16 : 1.0) / (1.0 + static_cast<double>(pe) * 0.7 + static_cast<double>(i % 101));
}

void compare_with_blocking(shmem_team_t team, std::size_t count) {
  auto* const source = static_cast<double*>(shmem_malloc(count * sizeof(double)));
  auto* const expected = static_cast<double*>(shmem_malloc(count * sizeof(double)));
  std::vector<double> dest(count, -1);
  for (std::size_t i = 0; i < count; ++i) source[i] = rough(me(), i);
  if (team != SHMEM_TEAM_INVALID) {
    const std::vector<double> copy(source, source + count);
    shmemx_request_t request;
    CHECK_EQUAL(shmemx_reduce_nb(team, dest.data(), copy.data(), count, SHMEMX_DOUBLE, SHMEMX_OP_SUM, &request), 0);
    shmem_double_sum_reduce(team, expected, source, count);
    finish(request);
    CHECK(std::memcmp(dest.data(), expected, count * sizeof(double)) == 0);
  }
  shmem_free(expected);
  shmem_free(source);
}

// Whether a thread of the library advances collectives while a PE computes.
bool has_progress_thread() {
  const char* const progress = std::getenv("SHMEMX_PROGRESS");
  if (progress != nullptr && std::strcmp(progress, "off") == 0) return false;
  const char* const path = std::getenv("SHMEMX_NODE_PATH");
  return n() > 1 && ((path != nullptr && std::strcmp(path, "queue") == 0) || shmem_team_n_pes(SHMEM_TEAM_SHARED) < n());
}

}  // namespace

PE_TEST(a_barrier_completes_when_all_have_begun_it) {
  auto* const begun = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (int turn = 0; turn < 20; ++turn) {
    for (int pe = 0; pe < n(); ++pe) shmem_long_atomic_inc(begun, pe);
    shmem_quiet();
    shmemx_request_t request;
    CHECK_EQUAL(shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request), 0);
    finish(request);
    CHECK(shmem_long_atomic_fetch(begun, me()) >= static_cast<long>(turn + 1) * n());
  }
  shmem_barrier_all();
  shmem_free(begun);
}

PE_TEST(a_reduction_has_the_bits_of_one_that_blocks) {
  for (const std::size_t count : {1, 7, 1000, 2000, 70'000}) compare_with_blocking(SHMEM_TEAM_WORLD, count);
}

PE_TEST(a_long_reduction_has_the_bits_of_one_that_blocks) { compare_with_blocking(SHMEM_TEAM_WORLD, 600'001); }

PE_TEST(a_reduction_on_a_team_of_every_other_PE) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n() + 1) / 2, nullptr, 0, &team);
  CHECK_EQUAL(team != SHMEM_TEAM_INVALID, me() % 2 == 0);
  for (const std::size_t count : {1, 3000}) compare_with_blocking(team, count);
  if (team != SHMEM_TEAM_INVALID) shmem_team_destroy(team);
}

PE_TEST(dest_of_a_reduction_may_be_its_source) {
  for (const std::size_t count : {3, 5000, 300'000}) {
    std::vector<long> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = me() + static_cast<long>(i);
    shmemx_request_t request;
    shmemx_reduce_nb(SHMEM_TEAM_WORLD, values.data(), values.data(), count, SHMEMX_INT64, SHMEMX_OP_SUM, &request);
    finish(request);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
      wrong += values[i] != static_cast<long>(n()) * (n() - 1) / 2 + static_cast<long>(i) * n();
    CHECK_EQUAL(wrong, 0U);
  }
}

PE_TEST(all_kinds_of_types_and_operators_reduce) {
  struct FloatInt {
    float value;
    int index;
  };
  const FloatInt pair{static_cast<float>((me() * 7 + 3) % 5), me()};
  FloatInt least{};
  const short number = static_cast<short>(me() + 2);
  short product = 0;
  const std::uint8_t flag = me() == n() - 1 ? 1 : 0;
  std::uint8_t any = 7;
  const float complex[2] = {1.0F, static_cast<float>(me())};
  float sum[2] = {};
  const long double large = 1.0L / (me() + 1);
  long double most = 0;
  shmemx_request_t requests[5];
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &least, &pair, 1, SHMEMX_FLOAT_INT, SHMEMX_OP_MINLOC, &requests[0]);
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &product, &number, 1, SHMEMX_INT16, SHMEMX_OP_PROD, &requests[1]);
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &any, &flag, 1, SHMEMX_BOOL, SHMEMX_OP_LOR, &requests[2]);
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, sum, complex, 1, SHMEMX_COMPLEX_FLOAT, SHMEMX_OP_SUM, &requests[3]);
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &most, &large, 1, SHMEMX_LONG_DOUBLE, SHMEMX_OP_MAX, &requests[4]);
  CHECK_EQUAL(shmemx_waitall(5, requests, nullptr), 0);
  FloatInt expected{100, 0};
  unsigned factor = 1;
  float imaginary = 0;
  for (int pe = 0; pe < n(); ++pe) {
    const auto value = static_cast<float>((pe * 7 + 3) % 5);
    if (value < expected.value) expected = {value, pe};
    factor *= static_cast<unsigned>(pe + 2);
    imaginary += static_cast<float>(pe);
  }
  CHECK_EQUAL(least.value, expected.value);
  CHECK_EQUAL(least.index, expected.index);
  CHECK_EQUAL(product, static_cast<short>(factor));
  CHECK_EQUAL(any, 1);
  CHECK_EQUAL(sum[0], static_cast<float>(n()));
  CHECK_EQUAL(sum[1], imaginary);
  CHECK(most == 1.0L);
}

PE_TEST(several_collectives_of_a_team_are_under_way_at_once) {
  constexpr int kOpen = 40;
  long sources[kOpen];
  long dests[kOpen];
  shmemx_request_t requests[2 * kOpen];
  for (int i = 0; i < kOpen; ++i) {
    sources[i] = me() + 1000L * i;
    shmemx_reduce_nb(SHMEM_TEAM_WORLD, &dests[i], &sources[i], 1, SHMEMX_INT64, SHMEMX_OP_MAX, &requests[2 * i]);
    shmemx_barrier_nb(SHMEM_TEAM_WORLD, &requests[2 * i + 1]);
  }
  shmem_sync_all();
  // Completed in another order than they were begun in.
  for (int left = 2 * kOpen; left > 0; --left) {
    size_t index = 0;
    if (left % 2 == 0) {
      shmemx_waitany(2 * kOpen, requests, &index, nullptr);
    } else {
      for (index = 2 * kOpen; requests[--index] == SHMEMX_REQUEST_NULL;) {
      }
      finish(requests[index]);
    }
    CHECK(requests[index] == SHMEMX_REQUEST_NULL);
  }
  for (int i = 0; i < kOpen; ++i) CHECK_EQUAL(dests[i], n() - 1 + 1000L * i);
}

PE_TEST(events_and_tests_complete_collectives) {
  long value = me();
  long sum = 0;
  shmemx_request_t request;
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, &sum, &value, 1, SHMEMX_INT64, SHMEMX_OP_SUM, &request);
  shmemx_event_t event{};
  event.kind = SHMEMX_EVENT_REQUEST;
  event.object = &request;
  CHECK_EQUAL(shmemx_event_wait(&event, 1), 0U);
  int flag = 0;
  CHECK_EQUAL(shmemx_test(&request, &flag, nullptr), 0);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(sum, static_cast<long>(n()) * (n() - 1) / 2);
  shmemx_barrier_nb(SHMEM_TEAM_WORLD, &request);
  for (flag = 0; flag == 0;) shmemx_test(&request, &flag, nullptr);
  CHECK(request == SHMEMX_REQUEST_NULL);
}

PE_TEST(wildcards_and_probes_do_not_see_messages_of_collectives) {
  const int next = (me() + 1) % n();
  int flag = 1;
  std::vector<long> values(20'000, me());
  std::vector<long> sums(values.size());
  shmemx_request_t requests[3];
  long got[2] = {-1, -1};
  shmemx_irecv(&got[0], sizeof got[0], SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, &requests[0]);
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, sums.data(), values.data(), values.size(), SHMEMX_INT64, SHMEMX_OP_SUM,
                   &requests[1]);
  shmemx_barrier_nb(SHMEM_TEAM_WORLD, &requests[2]);
  for (int i = 0; i < 50; ++i) {
    shmemx_iprobe(SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, &flag, nullptr);
    CHECK_EQUAL(flag, 0);
  }
  shmemx_waitall(2, requests + 1, nullptr);
  shmem_barrier_all();
  const long sent = 7'000'000 + me();
  shmemx_send(&sent, sizeof sent, next, 5);
  shmemx_status_t status;
  shmemx_wait(&requests[0], &status);
  CHECK_EQUAL(status.tag, 5);
  CHECK_EQUAL(got[0], 7'000'000 + (me() + n() - 1) % n());
  CHECK_EQUAL(sums[123], static_cast<long>(n()) * (n() - 1) / 2);
}

PE_TEST(teams_of_which_a_PE_is_a_member_do_not_mix) {
  shmem_team_t copies[3];
  for (auto& copy : copies) shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n(), nullptr, 0, &copy);
  long values[4];
  long sums[4] = {};
  shmemx_request_t requests[4];
  // Each PE begins them in an order of its own: only those of one team have an order.
  for (int i = 0; i < 4; ++i) {
    const int which = (i + me()) % 4;
    values[which] = 100L * which + me();
    shmemx_reduce_nb(which == 3 ? SHMEM_TEAM_WORLD : copies[which], &sums[which], &values[which], 1, SHMEMX_INT64,
                     SHMEMX_OP_SUM, &requests[which]);
  }
  shmemx_waitall(4, requests, nullptr);
  for (int i = 0; i < 4; ++i) CHECK_EQUAL(sums[i], 100L * i * n() + static_cast<long>(n()) * (n() - 1) / 2);
  for (auto& copy : copies) shmem_team_destroy(copy);
}

// The last PE does not call the library until all others have got their results, which need several steps of it.
PE_TEST(a_progress_thread_advances_collectives_while_a_PE_computes) {
  static long others_are_done;
  others_are_done = 0;
  shmem_barrier_all();
  const bool is_last = me() == n() - 1;
  std::vector<long> values(20'000, me());
  std::vector<long> sums(values.size());
  shmemx_request_t requests[2];
  shmemx_reduce_nb(SHMEM_TEAM_WORLD, sums.data(), values.data(), values.size(), SHMEMX_INT64, SHMEMX_OP_SUM,
                   &requests[0]);
  shmemx_barrier_nb(SHMEM_TEAM_WORLD, &requests[1]);
  if (has_progress_thread() && is_last) pe_test::compute_until(others_are_done, n() - 1);
  shmemx_waitall(2, requests, nullptr);
  if (!is_last) shmem_long_atomic_inc(&others_are_done, n() - 1);
  CHECK_EQUAL(sums[19'999], static_cast<long>(n()) * (n() - 1) / 2);
  shmem_barrier_all();
}
