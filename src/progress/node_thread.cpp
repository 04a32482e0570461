// The progress thread for messages of the node: sleeps on the PE's doorbell.
#include "base/doorbell.hpp"
#include "base/futex.hpp"
#include "progress/hints.hpp"
#include "progress/progress_thread.hpp"
#include "progress/threads.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kFirstSleepNs = 1'000'000;  // see NodeSource::sleep
constexpr std::uint32_t kBusyPolls = 200;           // polls of others in kLookNs: they do the work
constexpr std::uint64_t kBusyNs = 2000;             // from one poll to the next

Doorbell& doorbell_of_this_pe() { return am::own_endpoint().doorbell_of(am::own_endpoint().me()); }

class NodeSource final : public Source {
 public:
  Slept sleep(std::uint64_t ns) noexcept override;
  bool stand_aside() noexcept override;
  bool is_attended(const Others& others) const noexcept override;
  std::uint64_t longest_sleep_ns() const noexcept override { return kUntilWoken; }

 private:
  Doorbell& doorbell_ = doorbell_of_this_pe();
};

// Registers as a sleeper and sleeps until a PE sends. A sender stores its message, then reads `sleepers`, without a
// full fence (edge asleep): should both miss each other, its store is visible long before the first sleep ends.
Slept NodeSource::sleep(std::uint64_t ns) noexcept {
  const std::uint32_t seen = doorbell_.wake_seq.load(std::memory_order_acquire);  // wake
  doorbell_.sleepers.store(1, std::memory_order_seq_cst);                         // asleep
  {
    const am::Locked endpoint;
    if (!endpoint->arm()) return Slept::not_at_all;
  }
  if (node_thread.is_stopping()) return Slept::not_at_all;
  futex_sleep(doorbell_.wake_seq, seen, ns, FutexScope::node);
  return doorbell_.wake_seq.load(std::memory_order_acquire) != seen ? Slept::until_woken : Slept::to_the_end;  // wake
}

// Meanwhile no sender need wake this thread.
bool NodeSource::stand_aside() noexcept {
  const std::uint32_t seen = node_thread.calls();
  const Others others;
  if (!node_thread.is_stopping()) node_thread.pause(seen, kLookNs);
  return is_attended(others);
}

// Other threads wait in the library, or poll it all the time. What wakes this thread wakes waiters, too.
bool NodeSource::is_attended(const Others& others) const noexcept {
  if (hints.threads_waiting.load(std::memory_order_relaxed) != 0) return true;
  const std::uint32_t polls = others.polls();
  return polls > kBusyPolls && others.elapsed_ns() < polls * kBusyNs;
}

void node_main() {
  NodeSource source;
  work(node_thread, source,
       plan_of_thread({.first_ns = kFirstSleepNs,
                       .max_ns = kLongSleepNs,
                       .growth = kLongSleepNs / kFirstSleepNs,
                       .begin_anew = true}));
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
