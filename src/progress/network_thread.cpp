// The progress thread for the networks: sleeps on their descriptors. A waiter may take its place.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "am/net_channel.hpp"
#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/unique_fd.hpp"
#include "progress/progress_thread.hpp"
#include "progress/threads.hpp"
#include "progress/wait.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint32_t kFewPolls = 5;  // of others between two looks: each is a system call or two

constinit std::atomic<bool> waiter_on_networks{false};      // a waiter sleeps on the networks in the thread's place
constinit std::atomic<bool> network_thread_is_idle{false};  // it leaves the networks to others, and may be called

// What the thread sleeps on: the networks' descriptors, and an event to wake it.
struct WakeUp {
  UniqueFd epoll;
  UniqueFd event;
  bool is_useful = false;  // a network has a descriptor
};
// Never destroyed: threads may still sleep while the process exits.
WakeUp& wake_up() {
  static WakeUp* const instance = new WakeUp;
  return *instance;
}

bool watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

// Returns false if no network has a descriptor.
bool open_wake_up() {
  WakeUp& made = wake_up();
  if (made.epoll.valid()) return made.is_useful;
  made.epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  made.event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made.epoll.valid() || !made.event.valid() || !watch(made.epoll.get(), made.event.get())) return false;
  for (const int fd : am::network_descriptors()) made.is_useful |= watch(made.epoll.get(), fd);
  return made.is_useful;
}

void drain_event() {
  std::uint64_t count;
  static_cast<void>(!::read(wake_up().event.get(), &count, sizeof count));
}

enum class SleptOnNetwork : std::uint8_t { timed_out, woken, network };

// Short times need ppoll, since epoll_wait counts milliseconds.
SleptOnNetwork sleep_on_descriptors(std::uint64_t ns) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  int ms = static_cast<int>((ns + kNsPerMs - 1) / kNsPerMs);
  if (ns < kNsPerMs) {
    pollfd descriptor{wake_up().epoll.get(), POLLIN, 0};
    const timespec time{0, static_cast<long>(ns)};
    if (::ppoll(&descriptor, 1, &time, nullptr) <= 0) return SleptOnNetwork::timed_out;
    ms = 0;
  }
  epoll_event event;
  if (::epoll_wait(wake_up().epoll.get(), &event, 1, ms) <= 0) return SleptOnNetwork::timed_out;
  if (event.data.fd != wake_up().event.get()) return SleptOnNetwork::network;
  drain_event();
  return SleptOnNetwork::woken;
}

// Returns whether all threads that wait in the library sleep. Then none of them polls the networks.
bool waiters_sleep() {
  const std::uint32_t asleep = threads_asleep.load(std::memory_order_seq_cst);  // hand_over
  return asleep != 0 && asleep >= threads_waiting.load(std::memory_order_relaxed);
}

// Returns whether others poll more often than `few` times, or sleep in place of this thread: then its wake-ups are a
// waste.
bool others_poll(const std::uint32_t before, std::uint32_t few = kFewPolls) {
  if (waiter_on_networks.load(std::memory_order_relaxed)) return true;
  return !waiters_sleep() && am::own_endpoint().activity() - before > few;
}

// When to look for old batches. A batch that has been begun has to leave some time, and the thread that has begun it
// may compute. Mostly it leaves by itself, at the acknowledgement or at a poll of the program, and each look takes a
// core from somebody. So looks that find no batch make the time to the next one longer.
class Gathering {
 public:
  // Returns whether the program has begun batches lately. Then it need not wake this thread for one.
  bool is_recent() {
    const std::uint32_t batches = am::gathered_batches();
    const std::uint64_t now = now_ns();
    if (batches != seen_) last_ns_ = now;
    seen_ = batches;
    return now - last_ns_ < kRecentNs;
  }
  std::uint64_t look_ns() const { return look_ns_; }
  void look() { look_ns_ = am::send_old_batches() ? am::kLookIntervalNs : std::min(2 * look_ns_, kLongestLookNs); }

 private:
  static constexpr std::uint64_t kRecentNs = 20'000'000;
  static constexpr std::uint64_t kLongestLookNs = 800'000;
  std::uint32_t seen_ = am::gathered_batches();
  std::uint64_t last_ns_ = 0;
  std::uint64_t look_ns_ = am::kLookIntervalNs;
};

// As kLookNs, while a waiter sleeps in place of this thread: as long as waiters sleep, which is longer with more PEs on
// each core. There each look delays the others, and a PE gets its turn after all of them anyway.
std::uint64_t relieved_ns() {
  constexpr std::uint64_t kLeastNs = 1'000'000;
  const bool is_long = long_waits.load(std::memory_order_seq_cst) != 0;  // long_wait
  return std::max(is_long ? kLongestStepNs : kLeastNs, policy().sleep_max_ns);
}

// Idles until the other threads leave the networks alone. A waiter that goes to sleep on its doorbell calls this thread
// (leave_polling()), one for a node peer's store only if it sleeps for long. A waiter that returns to the program does
// not, as a call takes longer than the wake-up that it ends; nor does one that loses its core. So there is a look at
// intervals, longer ones while a waiter sleeps on the networks.
// Edge hand_over: this thread says that it is idle, then reads which threads sleep; a waiter counts itself as asleep,
// then reads whether this thread is idle. Edge long_wait: this thread says that it is idle, then reads whether waits
// are long; a waiter that has slept long no longer counts as such, then reads whether this thread is idle.
void idle_beside_others(Gathering& gathering) {
  bool busy = true;
  while (busy && !network_thread.is_stopping()) {
    const std::uint32_t seen = network_thread.calls();
    const std::uint32_t before = am::own_endpoint().activity();
    const std::uint32_t contention = am::endpoint_lock.contention();
    network_thread_is_idle.store(true, std::memory_order_seq_cst);  // hand_over, long_wait
    const bool relieved = waiter_on_networks.load(std::memory_order_seq_cst);
    const bool gathers = gathering.is_recent();
    const std::uint64_t look_ns = gathers ? std::min(gathering.look_ns(), kLookNs) : kLookNs;
    if (!waiters_sleep() && !network_thread.is_stopping())
      network_thread.pause(seen, relieved ? relieved_ns() : look_ns);
    network_thread_is_idle.store(false, std::memory_order_relaxed);
    if (gathers) gathering.look();
    busy = !waiters_sleep() &&
           (others_poll(before, look_ns < kLookNs ? 0 : kFewPolls) || am::endpoint_lock.contention() != contention);
  }
}

// How long the thread may sleep. While the program gathers messages, sleeps are short, so that it need not wake this
// thread. Before a long sleep this thread says so, and then the program wakes it. Returns 0 if there is something to
// do. The look under the lock comes after the word.
std::uint64_t sleep_ns(Gathering& gathering) {
  const bool is_short = gathering.is_recent();
  am::network_thread.sleeps_long.store(!is_short, std::memory_order_relaxed);  // long_sleep
  if (am::is_quiet_for_sleep(is_short)) return is_short ? gathering.look_ns() : kLongSleepNs;
  am::network_thread.sleeps_long.store(false, std::memory_order_relaxed);
  if (!is_short) gathering.look();  // this thread had no core while something was held back
  return 0;
}

// Returns true if a message has arrived and no other thread polls, or if it is time to look for old batches. Returns
// false also if a thread has woken this one: it is in the library, and this thread looks after what it leaves behind
// later.
bool sleep_on_networks(std::uint64_t ns, SleptOnNetwork& slept) {
  const std::uint32_t before = am::own_endpoint().activity();
  slept = sleep_on_descriptors(ns);
  am::network_thread.sleeps_long.store(false, std::memory_order_relaxed);
  if (slept == SleptOnNetwork::timed_out) return ns < kLongSleepNs;
  return slept == SleptOnNetwork::network && !others_poll(before);
}

// Wake-ups without a message in a row: some networks leave their descriptor readable without need. Then this thread
// looks at intervals only, until a message arrives.
class FalseAlarms {
 public:
  void count(Worked worked) {
    in_a_row_ = worked == Worked::something ? 0 : in_a_row_ + 1;
    if (in_a_row_ < kBelieved) return;
    network_thread.pause(network_thread.calls(), kIntervalNs);
    am::poll_in_passing();
  }
  bool expects_one() const { return in_a_row_ >= kBelieved; }

 private:
  static constexpr int kBelieved = 8;
  static constexpr std::uint64_t kIntervalNs = 500'000;
  int in_a_row_ = 0;
};

Worked work_once() { return am::poll_in_passing() ? Worked::something : Worked::nothing; }

void network_main() {
  Gathering gathering;
  FalseAlarms alarms;
  LastThread last(network_thread);
  while (!network_thread.is_stopping()) {
    idle_beside_others(gathering);
    if (work(network_thread) == Worked::contended) continue;
    for (std::uint64_t ns; !network_thread.is_stopping() && (ns = sleep_ns(gathering)) != 0;) {
      last.look();
      SleptOnNetwork slept;
      if (!sleep_on_networks(std::min(ns, last.interval_ns()), slept)) break;
      if (slept == SleptOnNetwork::timed_out) {
        gathering.look();
        continue;
      }
      const Worked worked = alarms.expects_one() ? work_once() : work(network_thread);
      if (worked == Worked::contended) break;
      alarms.count(worked);
    }
  }
}

// Policy::leave_polling where there are networks.
void call_network_thread() {
  if (network_thread_is_idle.load(std::memory_order_seq_cst) &&  // hand_over, long_wait
      network_thread_is_idle.exchange(false, std::memory_order_relaxed))
    network_thread.call();
}

// Policy::sleep_on_networks: one waiter at a time takes the thread's place, so a message wakes one thread, not two.
NetworkSleep sleep_in_place_of_thread(std::uint32_t seen, std::uint64_t ns) {
  if (waiter_on_networks.exchange(true, std::memory_order_seq_cst)) return NetworkSleep::refused;  // seat
  const Doorbell& doorbell = am::own_endpoint().doorbell_of(am::own_endpoint().me());
  SleptOnNetwork slept = SleptOnNetwork::woken;
  if (am::is_quiet_for_sleep() && doorbell.wake_seq.load(std::memory_order_seq_cst) == seen)  // seat
    slept = sleep_on_descriptors(round_up(ns, 1'000'000));
  waiter_on_networks.store(false, std::memory_order_seq_cst);  // hand_over
  return slept != SleptOnNetwork::timed_out ? NetworkSleep::woken : NetworkSleep::timed_out;
}

}  // namespace

constinit ProgressThread network_thread("shmemx-net", network_main, wake_network_thread);

void start_network_thread(bool has_node_peers) noexcept {
  if (!open_wake_up() || !network_thread.start()) return;
  am::network_thread.runs.store(true, std::memory_order_relaxed);
  policy().leave_polling = call_network_thread;
  if (!has_node_peers) policy().sleep_on_networks = sleep_in_place_of_thread;
}

void wake_network_thread() noexcept { ::eventfd_write(wake_up().event.get(), 1); }

// Edge seat: the waker counts up wake_seq, then reads whether a waiter has the seat; the waiter takes it, then reads
// wake_seq.
void wake_network_sleeper() noexcept {
  if (waiter_on_networks.load(std::memory_order_seq_cst)) wake_network_thread();  // seat
}

}  // namespace shmemx::progress
