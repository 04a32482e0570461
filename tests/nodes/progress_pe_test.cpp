// Operations on a PE that computes: it makes no call of the library until it finds, in its own memory, that all of them
// have completed. So each case hangs until the time limit unless the progress thread executes them.
#include <shmem.h>
#include <shmemx.h>

#include <vector>

#include "../support/computing.hpp"
#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

void compute_until_set(const long& word) { compute_until(word, 1); }

// The last PE computes, all others access its memory at once. `work` returns when its operations are complete there.
template <class Work>
void on_a_computing_pe(Work work) {
  static long finished = 0;
  static long released = 0;
  finished = 0;
  released = 0;
  shmem_barrier_all();
  const int target = pes() - 1;
  if (me() == target) {
    compute_until_set(released);
  } else {
    work(target);
    if (shmem_long_atomic_fetch_inc(&finished, 0) == target - 1) {
      shmem_long_p(&released, 1, target);
      shmem_quiet();
    }
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(&released, target), 1L);
}

PE_TEST_MIN(puts_and_quiet_complete, 2) {
  const std::size_t count = 40000;
  const Symmetric<long> dest(count * static_cast<std::size_t>(pes()));
  std::vector<long> source(count, me() + 1);
  on_a_computing_pe([&](int target) {
    for (const std::size_t nelems : {std::size_t{1}, std::size_t{100}, count}) {
      shmem_long_put(dest.get() + static_cast<std::size_t>(me()) * count, source.data(), nelems, target);
      shmem_quiet();
    }
  });
  if (me() == pes() - 1) {
    for (int pe = 0; pe < me(); ++pe) CHECK_EQUAL(dest.get()[(static_cast<std::size_t>(pe) + 1) * count - 1], pe + 1L);
  }
}

PE_TEST_MIN(gets_complete, 2) {
  const std::size_t count = 40000;
  const Symmetric<long> source(count);
  for (std::size_t i = 0; i < count; ++i) source.get()[i] = me() * 100000L + static_cast<long>(i);
  on_a_computing_pe([&](int target) {
    std::vector<long> got(count);
    for (const std::size_t nelems : {std::size_t{1}, std::size_t{100}, count}) {
      shmem_long_get(got.data(), source.get(), nelems, target);
      CHECK_EQUAL(got[nelems - 1], target * 100000L + static_cast<long>(nelems) - 1);
    }
  });
}

PE_TEST_MIN(fetching_atomics_complete, 2) {
  const Symmetric<long> word(1);
  *word.get() = 0;
  on_a_computing_pe([&](int target) {
    for (int i = 0; i < 50; ++i) shmem_long_atomic_fetch_add(word.get(), 1, target);
  });
  if (me() == pes() - 1) CHECK_EQUAL(*word.get(), 50L * (pes() - 1));
}

PE_TEST_MIN(signals_with_data_complete, 2) {
  const Symmetric<long> data(static_cast<std::size_t>(pes()));
  const Symmetric<std::uint64_t> signal(1);
  *signal.get() = 0;
  on_a_computing_pe([&](int target) {
    const long value = me() + 7;
    shmem_long_put_signal(data.get() + me(), &value, 1, signal.get(), 1, SHMEM_SIGNAL_ADD, target);
    shmem_quiet();
  });
  if (me() == pes() - 1) {
    CHECK_EQUAL(*signal.get(), static_cast<std::uint64_t>(pes() - 1));
    for (int pe = 0; pe < me(); ++pe) CHECK_EQUAL(data.get()[pe], pe + 7L);
  }
}

// More messages than a PE keeps until they are acknowledged, where another network may have to send them once more. The
// receiver takes them when all have been sent.
PE_TEST_MIN(messages_leave_before_they_are_received, 2) {
  constexpr std::size_t kBursts = 200;
  constexpr std::size_t kBurst = 100;
  constexpr int kTag = 3;
  static long word = 0;
  const auto is_here = [](int pe) { return shmem_ptr(&word, pe) != nullptr; };  // of the same node
  std::vector<shmemx_request_t> requests(kBurst, SHMEMX_REQUEST_NULL);
  const long sent = me();
  on_a_computing_pe([&](int target) {
    for (std::size_t burst = 0; burst < kBursts && !is_here(target); ++burst) {
      for (shmemx_request_t& request : requests) shmemx_isend(&sent, sizeof sent, target, kTag, &request);
      shmemx_waitall(kBurst, requests.data(), nullptr);
    }
  });
  for (int pe = 0; me() == pes() - 1 && pe < me(); ++pe) {
    long received = pe;
    for (std::size_t i = 0; i < kBursts * kBurst && !is_here(pe) && received == pe; ++i)
      shmemx_recv(&received, sizeof received, pe, kTag, nullptr);
    CHECK_EQUAL(received, long{pe});
  }
  shmem_barrier_all();
}

// Small non-blocking puts may be coalesced, but must be sent although no PE calls the library any more.
PE_TEST_MIN(coalesced_puts_are_sent_without_a_further_call, 2) {
  static long arrived = 0;
  static long answered = 0;
  arrived = answered = 0;
  shmem_barrier_all();
  static const long one = 1;
  const int last = pes() - 1;
  if (me() == 0) {
    shmem_long_put_nbi(&arrived, &one, 1, last);
    compute_until_set(answered);
  } else if (me() == last) {
    compute_until_set(arrived);
    shmem_long_p(&answered, 1, 0);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(&arrived, last), 1L);
}

}  // namespace
