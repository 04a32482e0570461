// A PE that makes no call of the library for longer than SHMEMX_NET_TIMEOUT, in jobs without progress threads: the
// others wait for it, and it is not reported as lost.
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <vector>

#include "../support/file_mark.hpp"
#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr useconds_t kLonger = 4'500'000;  // than SHMEMX_NET_TIMEOUT of these runs, two seconds

}  // namespace

// The network accepts no more messages, so some that quiet waits for have not been sent yet.
PE_TEST_MIN(quiet_waits_for_messages_that_were_not_sent_yet, 2) {
  constexpr std::size_t kMessages = 400;
  constexpr std::size_t kBytes = 60000;
  const int target = pes() - 1;
  const Symmetric<long> word;
  *word = 0;
  const FileMark quiet_is_over;
  std::vector<char> data(kBytes);
  shmem_barrier_all();
  if (me() == target) {
    usleep(kLonger);
    const bool is_over = quiet_is_over.is_there();
    const bool is_here = __atomic_load_n(word.get(), __ATOMIC_ACQUIRE) == 7;
    CHECK(is_here || !is_over);
    for (std::size_t i = 0; i < kMessages; ++i) shmemx_recv(data.data(), kBytes, 0, 1, nullptr);
  } else if (me() == 0) {
    static const long seven = 7;
    std::vector<shmemx_request_t> requests(kMessages);
    for (auto& request : requests) shmemx_isend(data.data(), kBytes, target, 1, &request);
    shmem_long_put_nbi(word.get(), &seven, 1, target);
    shmem_quiet();
    quiet_is_over.write();
    shmemx_waitall(kMessages, requests.data(), nullptr);
  }
  shmem_barrier_all();
  if (me() == target) CHECK_EQUAL(*word, 7L);
}

// More data than the buffers of any network hold.
PE_TEST_MIN(puts_wait_for_a_pe_that_computes_long, 2) {
  constexpr std::size_t kWords = std::size_t{1} << 18;
  constexpr int kRounds = 16;
  const int target = pes() - 1;
  const Symmetric<long> dest(kWords * static_cast<std::size_t>(pes()));
  std::vector<long> source(kWords);
  shmem_barrier_all();
  if (me() == target) {
    usleep(kLonger);
  } else {
    long* const place = dest.get() + static_cast<std::size_t>(me()) * kWords;
    for (int round = 1; round <= kRounds; ++round) {
      source.assign(kWords, round * 100L + me());
      shmem_long_put(place, source.data(), kWords, target);
    }
    shmem_quiet();
  }
  shmem_barrier_all();
  int bad = 0;
  for (int pe = 0; me() == target && pe < target; ++pe) {
    for (std::size_t i = 0; i < kWords; ++i) {
      bad += dest[static_cast<std::size_t>(pe) * kWords + i] != kRounds * 100L + pe;
    }
  }
  CHECK_EQUAL(bad, 0);
}

// For PEs that send it nothing meanwhile, and for those that connect to it for the first time.
PE_TEST_MIN(barriers_wait_for_a_pe_that_computes_long, 2) {
  const Symmetric<long> word;
  shmem_barrier_all();
  if (me() == pes() - 1) usleep(kLonger);
  if (me() == 0) shmem_long_atomic_inc(word.get(), pes() - 1);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(word.get(), pes() - 1), 1L);
}
