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
#include "progress/hints.hpp"
#include "progress/policy.hpp"
#include "progress/progress_thread.hpp"
#include "progress/threads.hpp"
#include "progress/wake_socket.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint32_t kFewPolls = 5;   // of others between two looks: each is a system call or two
constexpr std::uint32_t kMaxAlarms = 8;  // some networks leave their descriptor readable without need

// What the thread, or a waiter in its place, sleeps on: the networks' descriptors, an event by which other threads of
// this process wake it, and a socket by which PEs of the node wake the waiter.
struct WakeUp {
  UniqueFd epoll;
  UniqueFd event;
  WakeSocket socket;
  bool wakes = false;
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

// Returns whether a thread that sleeps there wakes where necessary: by the networks, or after a short time.
bool open_wake_up() {
  WakeUp& made = wake_up();
  if (made.epoll.valid()) return made.wakes;
  made.epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  made.event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made.epoll.valid() || !made.event.valid() || !watch(made.epoll.get(), made.event.get())) return false;
  made.wakes = policy().unwoken.longest_sleep_ns != kUntilWoken;
  for (const int fd : am::network_descriptors()) made.wakes |= watch(made.epoll.get(), fd);
  return made.wakes;
}

// Returns whether PEs of the node can wake a waiter that sleeps there.
bool open_wake_socket() {
  WakeUp& made = wake_up();
  return made.socket.name() != 0 || (made.socket.open() && watch(made.epoll.get(), made.socket.descriptor()));
}

void drain_event() {
  std::uint64_t count;
  static_cast<void>(!::read(wake_up().event.get(), &count, sizeof count));
}

// A wake-up by the socket is for the waiter. One that has come after it has left ends here.
Slept take_wake_up(bool is_waiter) {
  if (!is_waiter && hints.waiter_on_networks.load(std::memory_order_relaxed)) return Slept::called;
  wake_up().socket.drain();
  return Slept::until_woken;
}

// Short times need ppoll, since epoll_wait counts milliseconds.
Slept sleep_on_descriptors(std::uint64_t ns, bool is_waiter) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  int ms = static_cast<int>((ns + kNsPerMs - 1) / kNsPerMs);
  if (ns < kNsPerMs) {
    pollfd descriptor{wake_up().epoll.get(), POLLIN, 0};
    const timespec time{0, static_cast<long>(ns)};
    if (::ppoll(&descriptor, 1, &time, nullptr) <= 0) return Slept::to_the_end;
    ms = 0;
  }
  epoll_event event;
  if (::epoll_wait(wake_up().epoll.get(), &event, 1, ms) <= 0) return Slept::to_the_end;
  if (event.data.fd == wake_up().socket.descriptor()) return take_wake_up(is_waiter);
  if (event.data.fd != wake_up().event.get()) return Slept::until_woken;
  drain_event();
  return Slept::called;
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
  const bool is_long = hints.long_waits.load(std::memory_order_seq_cst) != 0;  // long_wait
  return std::max(is_long ? kLongestStepNs : kLeastNs, policy().sleep.max_ns);
}

class NetworkSource final : public Source {
 public:
  Slept sleep(std::uint64_t ns) noexcept override;
  bool stand_aside() noexcept override;
  bool is_attended(const Others& others) const noexcept override { return is_attended(others, kFewPolls); }
  std::uint64_t longest_sleep_ns() const noexcept override { return policy().unwoken.longest_sleep_ns; }

 private:
  // Returns whether others poll more often than `few` times, or sleep in place of this thread: then its wake-ups are a
  // waste.
  bool is_attended(const Others& others, std::uint32_t few) const noexcept {
    if (hints.waiters_sleep()) return false;
    return hints.waiter_on_networks.load(std::memory_order_relaxed) || others.polls() > few;
  }

  Gathering gathering_;
};

// A waiter that goes to sleep on its doorbell calls this thread (leave_polling()), one for a node peer's store only if
// it sleeps for long. A waiter that returns to the program does not, as a call takes longer than the wake-up that it
// ends; nor does one that loses its core. So there is a look at intervals, longer ones while a waiter sleeps on the
// networks.
// Edge hand_over: this thread says that it is idle, then reads which threads sleep; a waiter counts itself as asleep,
// then reads whether this thread is idle. Edge long_wait: this thread says that it is idle, then reads whether waits
// are long; a waiter that has slept long no longer counts as such, then reads whether this thread is idle.
bool NetworkSource::stand_aside() noexcept {
  const std::uint32_t seen = network_thread.calls();
  const Others others;
  hints.network_thread_is_idle.store(true, std::memory_order_seq_cst);  // hand_over, long_wait
  const bool relieved = hints.waiter_on_networks.load(std::memory_order_seq_cst);
  const bool gathers = gathering_.is_recent();
  const std::uint64_t look_ns = gathers ? std::min(gathering_.look_ns(), kLookNs) : kLookNs;
  if (!hints.waiters_sleep() && !network_thread.is_stopping())
    network_thread.pause(seen, relieved ? relieved_ns() : look_ns);
  hints.network_thread_is_idle.store(false, std::memory_order_relaxed);
  if (gathers) gathering_.look();
  return is_attended(others, look_ns < kLookNs ? 0 : kFewPolls) || (!hints.waiters_sleep() && others.have_contended());
}

// While the program gathers messages, sleeps are short, so that it need not wake this thread. Before a long sleep this
// thread says so, and then the program wakes it. The look under the lock comes after the word.
Slept NetworkSource::sleep(std::uint64_t ns) noexcept {
  const bool is_short = gathering_.is_recent();
  am::network_thread.sleeps_long.store(!is_short, std::memory_order_relaxed);  // long_sleep
  if (!am::is_quiet_for_sleep(is_short)) {
    am::network_thread.sleeps_long.store(false, std::memory_order_relaxed);
    if (!is_short) gathering_.look();  // this thread had no core while something was held back
    return Slept::not_at_all;
  }
  const std::uint64_t least = is_short ? std::min(ns, gathering_.look_ns()) : ns;
  const Slept slept = sleep_on_descriptors(least, false);
  am::network_thread.sleeps_long.store(false, std::memory_order_relaxed);
  if (slept != Slept::to_the_end) return slept;
  gathering_.look();
  return least < ns ? Slept::in_part : Slept::to_the_end;
}

void network_main() {
  NetworkSource source;
  Plan plan = plan_of_thread({.first_ns = kLongSleepNs, .max_ns = kLongSleepNs});
  plan.max_alarms = kMaxAlarms;
  plan.refused_is_aside = true;
  work(network_thread, source, plan);
}

// Policy::leave_polling where there are networks.
void call_network_thread() {
  if (hints.network_thread_is_idle.load(std::memory_order_seq_cst) &&  // hand_over, long_wait
      hints.network_thread_is_idle.exchange(false, std::memory_order_relaxed))
    network_thread.call();
}

// Policy::sleep_on_networks: one waiter at a time takes the thread's place, so a message wakes one thread, not two.
Slept sleep_in_place_of_thread(std::uint32_t seen, std::uint64_t ns) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  Doorbell& doorbell = am::own_endpoint().doorbell_of(am::own_endpoint().me());
  if (doorbell.unreachable.load(std::memory_order_relaxed) != 0) return Slept::not_at_all;           // a hint
  if (hints.waiter_on_networks.exchange(true, std::memory_order_seq_cst)) return Slept::not_at_all;  // seat
  doorbell.wake_socket.store(wake_up().socket.name(), std::memory_order_seq_cst);                    // seat
  Slept slept = Slept::until_woken;
  if (am::is_quiet_for_sleep() && doorbell.wake_seq.load(std::memory_order_seq_cst) == seen)  // seat
    slept = sleep_on_descriptors(policy().unwoken.longest_sleep_ns == kUntilWoken ? round_up(ns, kNsPerMs) : ns, true);
  doorbell.wake_socket.store(0, std::memory_order_relaxed);
  hints.waiter_on_networks.store(false, std::memory_order_seq_cst);  // hand_over
  return slept == Slept::called ? Slept::until_woken : slept;
}

}  // namespace

constinit ProgressThread network_thread("shmemx-net", network_main, wake_network_thread);

void start_network_thread(bool has_node_peers) noexcept {
  if (!open_wake_up()) return;
  const bool takes_waiters = !has_node_peers || open_wake_socket();  // before the thread, which looks at the socket
  if (!network_thread.start()) return;
  am::network_thread.runs.store(true, std::memory_order_relaxed);
  policy().hooks.leave_polling = call_network_thread;
  policy().hooks.only_for_other_nodes = has_node_peers;
  if (takes_waiters) policy().hooks.sleep_on_networks = sleep_in_place_of_thread;
}

void wake_network_thread() noexcept { ::eventfd_write(wake_up().event.get(), 1); }

// Edge seat: the waker counts up wake_seq, then reads whether a waiter has the seat, or names its socket; the waiter
// takes the seat and names its socket, then reads wake_seq.
void wake_network_sleeper(Doorbell& doorbell) noexcept {
  if (&doorbell == own_doorbell()) {
    if (hints.waiter_on_networks.load(std::memory_order_seq_cst)) wake_network_thread();  // seat
    return;
  }
  const std::uint64_t name = doorbell.wake_socket.load(std::memory_order_seq_cst);                 // seat
  if (name != 0 && !send_wake_up(name)) doorbell.unreachable.store(1, std::memory_order_relaxed);  // a hint
}

}  // namespace shmemx::progress
