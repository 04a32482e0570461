// Bursts of isends to PEs of other nodes, which travel together: their content, their order, and that they arrive
// although the program makes no further call of the library.
#include <shmemx.h>

#include <cstdint>
#include <vector>

#include "../pe/pt2pt/message_content.hpp"
#include "../support/computing.hpp"
#include "../support/pe_test.hpp"
#include "../support/random.hpp"

namespace {

using namespace pe_test;

constexpr int kTag = 7;
constexpr std::size_t kLongest = 20'000;  // longer than what gathers

std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

// The same on both sides: mostly short.
std::vector<std::size_t> lengths(int source, int dest, std::size_t count) {
  Random random(static_cast<std::uint64_t>(source * 1000 + dest + 1));
  std::vector<std::size_t> made;
  for (std::size_t k = 0; k < count; ++k) made.push_back(random.next() % (k % 8 == 7 ? kLongest : 200));
  return made;
}

// Messages of one tag from this PE to each PE, or from each PE to this one.
struct Batch {
  std::vector<std::vector<std::uint8_t>> memory;
  std::vector<shmemx_request_t> requests;

  std::uint8_t* add(std::size_t bytes) {
    memory.emplace_back(bytes + 1);
    requests.push_back(SHMEMX_REQUEST_NULL);
    return memory.back().data();
  }
  void wait() { shmemx_waitall(requests.size(), requests.data(), nullptr); }
};

enum class Receives { before, after };  // the sends

void exchange_with_all(Receives when) {
  constexpr std::size_t kCount = 150;
  Batch sends;
  Batch receives;
  const auto receive_all = [&] {
    for (int pe = 0; pe < pes(); ++pe) {
      for (std::size_t k = 0; k < kCount; ++k) {
        std::uint8_t* const to = receives.add(kLongest);
        shmemx_irecv(to, kLongest, pe, kTag, &receives.requests.back());
      }
    }
  };
  if (when == Receives::before) receive_all();
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) {
    const auto sizes = lengths(me(), pe, kCount);
    for (std::size_t k = 0; k < kCount; ++k) {
      std::uint8_t* const from = sends.add(sizes[k]);
      fill(from, sizes[k], me(), static_cast<int>(k));
      shmemx_isend(from, sizes[k], pe, kTag, &sends.requests.back());
    }
  }
  if (when == Receives::after) receive_all();
  sends.wait();
  receives.wait();
  std::size_t wrong = 0;
  for (int pe = 0; pe < pes(); ++pe) {
    const auto sizes = lengths(pe, me(), kCount);
    for (std::size_t k = 0; k < kCount; ++k)
      wrong += holds(receives.memory[at(pe) * kCount + k].data(), sizes[k], pe, static_cast<int>(k)) ? 0 : 1;
  }
  CHECK_EQUAL(wrong, std::size_t{0});
  shmem_barrier_all();
}

PE_TEST(bursts_to_all_pes_arrive_in_order_at_posted_receives) { exchange_with_all(Receives::before); }
PE_TEST(bursts_to_all_pes_arrive_in_order_before_their_receives) { exchange_with_all(Receives::after); }

// The receiver answers when it has all of them. Until then their sender calls nothing.
PE_TEST_MIN(a_burst_arrives_while_its_sender_computes, 2) {
  constexpr long kRounds = 30;
  constexpr int kCount = 10;
  const Symmetric<long> answered(1);
  shmem_barrier_all();
  for (long round = 1; round <= kRounds; ++round) {
    std::vector<long> values;
    std::vector<shmemx_request_t> requests(kCount);
    for (int k = 0; k < kCount; ++k) values.push_back(round * 100 + k);
    if (me() == 0) {
      for (int k = 0; k < kCount; ++k)
        shmemx_isend(&values[static_cast<std::size_t>(k)], sizeof(long), pes() - 1, kTag,
                     &requests[static_cast<std::size_t>(k)]);
      compute_until(*answered, round);
      shmemx_waitall(requests.size(), requests.data(), nullptr);
    } else if (me() == pes() - 1) {
      for (int k = 0; k < kCount; ++k) {
        long value = 0;
        shmemx_recv(&value, sizeof value, 0, kTag, nullptr);
        CHECK_EQUAL(value, values[static_cast<std::size_t>(k)]);
      }
      shmem_long_p(answered.get(), round, 0);
      shmem_quiet();
    }
  }
  shmem_barrier_all();
  CHECK_EQUAL(*answered, me() == 0 ? kRounds : 0);
  shmem_barrier_all();
}

PE_TEST_MIN(a_source_can_be_written_once_its_request_is_complete, 2) {
  constexpr long kCount = 3000;
  long wrong = 0;
  if (me() == 0) {
    long values[2] = {};
    shmemx_request_t requests[2];
    for (long k = 0; k < kCount; k += 2) {
      for (long i = 0; i < 2; ++i) {
        values[i] = k + i;
        shmemx_isend(&values[i], sizeof(long), pes() - 1, kTag, &requests[i]);
      }
      shmemx_waitall(2, requests, nullptr);
    }
  } else if (me() == pes() - 1) {
    for (long k = 0; k < kCount; ++k) {
      long value = -1;
      shmemx_recv(&value, sizeof value, 0, kTag, nullptr);
      wrong += value == k ? 0 : 1;
    }
  }
  CHECK_EQUAL(wrong, 0L);
  shmem_barrier_all();
}

// What follows a burst does not overtake it: blocking sends, synchronous ones, long ones.
PE_TEST_MIN(other_messages_stay_behind_a_burst, 2) {
  constexpr int kRounds = 100;
  constexpr std::size_t kLong = 150'000;
  std::vector<std::uint8_t> data(kLong);
  long wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t last = round % 3 == 0 ? 8 : round % 3 == 1 ? kLongest : kLong;
    if (me() == 0) {
      std::uint8_t values[6];
      shmemx_request_t requests[6];
      for (std::size_t k = 0; k < 6; ++k) {
        values[k] = static_cast<std::uint8_t>(round + static_cast<int>(k));
        shmemx_isend(&values[k], 1, pes() - 1, kTag, &requests[k]);
      }
      fill(data.data(), last, 0, round);
      if (round % 2 == 0) shmemx_send(data.data(), last, pes() - 1, kTag);
      if (round % 2 != 0) shmemx_ssend(data.data(), last, pes() - 1, kTag);
      shmemx_waitall(6, requests, nullptr);
    } else if (me() == pes() - 1) {
      for (std::size_t k = 0; k < 6; ++k) {
        shmemx_status_t status;
        shmemx_recv(data.data(), kLong, 0, kTag, &status);
        wrong += status.bytes == 1 && data[0] == static_cast<std::uint8_t>(round + static_cast<int>(k)) ? 0 : 1;
      }
      shmemx_status_t status;
      shmemx_recv(data.data(), kLong, 0, kTag, &status);
      wrong += status.bytes == last && holds(data.data(), last, 0, round) ? 0 : 1;
    }
  }
  CHECK_EQUAL(wrong, 0L);
  shmem_barrier_all();
}

}  // namespace
