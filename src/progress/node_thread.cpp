// The progress thread for messages of the node: sleeps on the PE's doorbell.
#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/futex.hpp"
#include "progress/progress_thread.hpp"
#include "progress/threads.hpp"
#include "progress/wait.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kFirstSleepNs = 1'000'000;  // see sleep_until_woken
constexpr std::uint32_t kBusyPolls = 200;           // polls of others in kLookNs: they do the work
constexpr std::uint64_t kBusyNs = 2000;             // from one poll to the next

Doorbell& doorbell_of_this_pe() { return am::own_endpoint().doorbell_of(am::own_endpoint().me()); }

// Idles while other threads wait in the library, or poll it all the time: they do the work, and no sender need wake
// this thread.
void idle_beside_others() {
  bool busy = true;
  while (busy && !node_thread.is_stopping()) {
    const std::uint32_t seen = node_thread.calls();
    const std::uint32_t before = am::own_endpoint().activity();
    if (node_thread.is_stopping()) return;
    node_thread.pause(seen, kLookNs);
    busy = others_wait() || am::own_endpoint().activity() - before > kBusyPolls;
  }
}

// How much other threads have polled since some moment.
struct Since {
  std::uint64_t begin_ns = now_ns();
  std::uint32_t polls = am::own_endpoint().activity();

  bool busy() const {
    const std::uint32_t count = am::own_endpoint().activity() - polls;
    return count > kBusyPolls && now_ns() - begin_ns < count * kBusyNs;
  }
};

// Registers as a sleeper and sleeps until a PE sends. A sender stores its message, then reads `sleepers`, without a
// full fence (edge asleep): should both miss each other, its store is visible long before the first sleep ends.
void sleep_until_woken(Doorbell& doorbell, LastThread& last) {
  for (std::uint64_t ns = kFirstSleepNs; !node_thread.is_stopping(); ns = last.interval_ns()) {
    last.look();
    const std::uint32_t seen = doorbell.wake_seq.load(std::memory_order_acquire);  // wake
    doorbell.sleepers.store(1, std::memory_order_seq_cst);                         // asleep
    {
      const am::Locked endpoint;
      if (!endpoint->arm()) return;
    }
    if (node_thread.is_stopping()) return;
    futex_sleep(doorbell.wake_seq, seen, ns, FutexScope::node);
    if (doorbell.wake_seq.load(std::memory_order_acquire) != seen) return;  // wake
  }
}

void node_main() {
  Doorbell& doorbell = doorbell_of_this_pe();
  LastThread last(node_thread);
  while (!node_thread.is_stopping()) {
    if (work(node_thread) == Worked::contended || others_wait()) idle_beside_others();
    const Since armed;
    sleep_until_woken(doorbell, last);
    if (armed.busy()) idle_beside_others();
  }
}

void wake_node_thread() {
  Doorbell& doorbell = doorbell_of_this_pe();
  doorbell.sleepers.store(1, std::memory_order_relaxed);  // so that the next line wakes in any case
  wake_sleepers(doorbell);
}

}  // namespace

constinit ProgressThread node_thread("shmemx-agent", node_main, wake_node_thread);

void start_node_thread() noexcept { node_thread.start(); }

void stop_node_thread() noexcept { node_thread.stop(); }

void stop_threads() noexcept {
  node_thread.stop();
  am::network_thread.runs.store(false, std::memory_order_relaxed);
  network_thread.stop();
}

}  // namespace shmemx::progress
