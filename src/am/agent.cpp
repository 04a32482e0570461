#include "am/agent.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "am/channel.hpp"
#include "am/network.hpp"
#include "base/clock.hpp"
#include "base/fatal.hpp"
#include "base/threads.hpp"
#include "base/unique_fd.hpp"
#include "base/wait.hpp"

namespace shmemx::am {
namespace {

constexpr std::uint64_t kLookNs = 400'000;          // how often it looks whether others still poll
constexpr std::uint64_t kRelievedNs = 1'000'000;    // the same while a waiter sleeps in its place
constexpr std::uint64_t kFirstSleepNs = 1'000'000;  // see sleep_until_rung
constexpr std::uint64_t kLongSleepNs = 2'000'000'000;
constexpr std::uint32_t kBusyPolls = 200;  // polls of others in kLookNs: they do the work
constexpr std::uint64_t kBusyNs = 2000;    // from one poll to the next
constexpr int kPollsBeforeSleep = 50;
constexpr int kPollsBesideWaiters = 4;
// Of the networks: each poll is a system call or two.
constexpr std::uint32_t kBusyPollsOfNetwork = 5;
constexpr int kLongSleepMs = 2000;
constexpr std::size_t kStackBytes = std::size_t{1} << 20;  // handlers of programs run on it

constinit std::mutex start_mutex;

// A thread and what it does when there is nothing to do.
struct Agent {
  const char* name;
  void (*main)();
  std::atomic<std::uint32_t> stop;   // not 0: it is to end
  std::atomic<std::uint32_t> calls;  // grows when it is to look at once: the futex of its pauses
  std::atomic<pid_t> tid;            // 0: it does not run
  bool running;
  pthread_t thread;
  pid_t owner;
  bool runs() const { return running && owner == ::getpid(); }
};

void node_main();
void network_main();
constinit Agent node_agent{"shmemx-agent", node_main, 0, 0, 0, false, 0, 0};
constinit Agent network_agent{"shmemx-net", network_main, 0, 0, 0, false, 0, 0};

void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t ns, int operation) {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, seen, &limit, nullptr, 0);
}

constinit thread_local Agent* self = nullptr;
constinit std::atomic<bool> waiter_on_networks{false};       // a waiter sleeps on the networks in the agent's place
constinit std::atomic<bool> network_agent_stands_by{false};  // it leaves the networks to others, and may be called

bool stopping() { return self->stop.load(std::memory_order_acquire) != 0; }

// Sleeps until the agent is called, for `ns` at most. `seen`: its calls, read before the reasons to sleep were looked
// at.
void pause_agent(std::uint32_t seen, std::uint64_t ns) { sleep_on(self->calls, seen, ns, FUTEX_WAIT_PRIVATE); }
std::uint32_t calls_so_far() { return self->calls.load(std::memory_order_acquire); }

void call(Agent& agent) {
  agent.calls.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&agent.calls), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Once the main thread has called pthread_exit, the process is to end with the last of the other threads, as the C
// library would end it but for the agents: by exit(0).
class LastThread {
 public:
  void look() {
    const std::uint64_t now = now_ns();
    if (now < next_ns_) return;
    if (!main_ended_) main_ended_ = main_thread_has_ended();
    next_ns_ = now + interval_ns();
    const pid_t agents[] = {node_agent.tid.load(std::memory_order_relaxed),      // of this thread, or else a miss only
                            network_agent.tid.load(std::memory_order_relaxed)};  // puts the end off
    if (!main_ended_ || !only_these_threads_run(agents)) return;
    static constinit std::atomic<bool> ending{false};
    if (!ending.exchange(true, std::memory_order_relaxed)) ::exit(0);
    pause_agent(calls_so_far(), kLongSleepNs);  // the other agent is at it
  }
  std::uint64_t interval_ns() const { return main_ended_ ? kIntervalAfterMainNs : kLongSleepNs; }

 private:
  static constexpr std::uint64_t kIntervalAfterMainNs = 100'000'000;
  std::uint64_t next_ns_ = now_ns() + kLongSleepNs;
  bool main_ended_ = false;
};

enum class Worked { something, nothing, in_the_way };

// Is a thread awake that waits in the library? It polls.
bool waiters_poll() {
  return threads_waiting.load(std::memory_order_relaxed) > threads_asleep.load(std::memory_order_relaxed);
}

// Several polls, as what comes seldom comes alone. In the way: another thread has wanted the lock meanwhile; it polls
// itself, and would have to wait for each poll of this one.
Worked work() {
  const std::uint32_t contention = endpoint_lock.contention();
  Worked worked = Worked::nothing;
  for (int idle = 0; idle < kPollsBeforeSleep && !stopping(); ++idle) {
    if (endpoint_lock.contention() != contention) return Worked::in_the_way;
    if (poll()) {
      idle = 0;
      worked = Worked::something;
    } else if (idle >= kPollsBesideWaiters && waiters_poll()) {
      return Worked::in_the_way;
    }
    cpu_pause();
  }
  return worked;
}

bool others_wait() { return threads_waiting.load(std::memory_order_relaxed) != 0; }

// While other threads wait in the library, or poll it all the time, they do the work, and nobody need ring.
void stand_by() {
  bool busy = true;
  while (busy && !stopping()) {
    const std::uint32_t seen = calls_so_far();
    const std::uint32_t before = own_endpoint.activity();
    if (stopping()) return;
    pause_agent(seen, kLookNs);
    busy = others_wait() || own_endpoint.activity() - before > kBusyPolls;
  }
}

// How much others have polled since some moment.
struct Since {
  std::uint64_t begin_ns = now_ns();
  std::uint32_t polls = own_endpoint.activity();

  bool busy() const {
    const std::uint32_t count = own_endpoint.activity() - polls;
    return count > kBusyPolls && now_ns() - begin_ns < count * kBusyNs;
  }
};

// Registers as a sleeper and sleeps until somebody sends. A sender stores its message, then reads `sleepers`, without a
// full fence (edge doze): should both miss each other, its store is visible long before the first sleep ends.
void sleep_until_rung(Doorbell& doorbell, LastThread& last) {
  for (std::uint64_t ns = kFirstSleepNs; !stopping(); ns = last.interval_ns()) {
    last.look();
    const std::uint32_t seen = doorbell.wake_seq.load(std::memory_order_acquire);  // wake
    doorbell.sleepers.store(1, std::memory_order_seq_cst);                         // doze
    {
      const Locked endpoint;
      if (endpoint->has_work()) return;
    }
    if (stopping()) return;
    sleep_on(doorbell.wake_seq, seen, ns, FUTEX_WAIT);
    if (doorbell.wake_seq.load(std::memory_order_acquire) != seen) return;  // wake
  }
}

void node_main() {
  Doorbell& doorbell = own_endpoint.doorbell_of(own_endpoint.me());
  LastThread last;
  while (!stopping()) {
    if (work() == Worked::in_the_way || others_wait()) stand_by();
    const Since armed;
    sleep_until_rung(doorbell, last);
    if (armed.busy()) stand_by();
  }
}

// What the networks' agent sleeps on: their descriptors, and one to end it.
struct Bell {
  UniqueFd epoll;
  UniqueFd stop;
};
Bell& bell() {
  static Bell* const instance = new Bell;
  return *instance;
}

bool watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

// False: no network has a descriptor.
bool make_bell() {
  Bell& made = bell();
  made.epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  made.stop = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made.epoll.valid() || !made.stop.valid() || !watch(made.epoll.get(), made.stop.get())) return false;
  bool any = false;
  for (const int fd : network_descriptors()) any |= watch(made.epoll.get(), fd);
  return any;
}

// Do all threads that wait in the library sleep? Then none of them looks at the networks.
bool waiters_sleep() {
  const std::uint32_t asleep = threads_asleep.load(std::memory_order_seq_cst);  // hand_over
  return asleep != 0 && asleep >= threads_waiting.load(std::memory_order_relaxed);
}

// Others that poll, or sleep in place of this thread, make its wake-ups a waste.
bool others_poll(const std::uint32_t before) {
  if (waiter_on_networks.load(std::memory_order_relaxed)) return true;
  return !waiters_sleep() && own_endpoint.activity() - before > kBusyPollsOfNetwork;
}

// Waits until the other threads leave the networks alone. A waiter that goes to sleep on its doorbell calls
// (leave_polling()). One that returns to the program does not: a call takes longer than the wake-up that it ends. Nor
// does one that loses its core. So there is a look at intervals, longer ones while a waiter sleeps on the networks.
// Edge hand_over: this thread says that it stands by, then reads who sleeps; a waiter counts itself as asleep, then
// reads whether this thread stands by.
void stand_by_networks() {
  bool busy = true;
  while (busy && !stopping()) {
    const std::uint32_t seen = calls_so_far();
    const std::uint32_t before = own_endpoint.activity();
    const std::uint32_t contention = endpoint_lock.contention();
    network_agent_stands_by.store(true, std::memory_order_seq_cst);  // hand_over
    const bool relieved = waiter_on_networks.load(std::memory_order_seq_cst);
    if (!waiters_sleep() && !stopping()) pause_agent(seen, relieved ? kRelievedNs : kLookNs);
    network_agent_stands_by.store(false, std::memory_order_relaxed);
    busy = !waiters_sleep() && (others_poll(before) || endpoint_lock.contention() != contention);
  }
}

// What others have gathered and then left, to compute: it has to leave some time. Sleeps are short after such a time,
// and nobody need ring; before a long one it is said that somebody has to.
class Nap {
 public:
  // Milliseconds for the next sleep; -1: there is something to do. The look under the lock comes after the word.
  int length() {
    const std::uint32_t gathers = gathered_batches();
    const std::uint64_t now = now_ns();
    if (gathers != seen_) last_ns_ = now;
    seen_ = gathers;
    const bool shortly = now - last_ns_ < kRememberNs;
    network_agent_dozes.store(!shortly, std::memory_order_relaxed);  // nap
    if (is_quiet_for_sleep()) return shortly ? kNapMs : kLongSleepMs;
    network_agent_dozes.store(false, std::memory_order_relaxed);
    return -1;
  }

 private:
  static constexpr std::uint64_t kRememberNs = 50'000'000;
  static constexpr int kNapMs = 1;
  std::uint32_t seen_ = gathered_batches();
  std::uint64_t last_ns_ = 0;
};

int drain_bell() {
  std::uint64_t rings;
  return static_cast<int>(::read(bell().stop.get(), &rings, sizeof rings));
}

// True when something has come and nobody polls. False also when somebody has rung: he is at work in the library, and
// what he may leave behind is looked after when he has gone.
bool sleep_on_networks(int ms) {
  const std::uint32_t before = own_endpoint.activity();
  epoll_event event;
  const int count = ::epoll_wait(bell().epoll.get(), &event, 1, ms);
  network_agent_dozes.store(false, std::memory_order_relaxed);
  if (count <= 0) return false;
  const bool rung = event.data.fd == bell().stop.get();
  if (rung) drain_bell();
  return !rung && !others_poll(before);
}

// Wake-ups for nothing in a row: some networks leave their descriptor readable when nothing is there. Then this thread
// looks at intervals only, until something comes.
class FalseAlarms {
 public:
  void count(Worked worked) {
    in_a_row_ = worked == Worked::something ? 0 : in_a_row_ + 1;
    if (in_a_row_ < kBelieved) return;
    pause_agent(calls_so_far(), kIntervalNs);
    poll();
  }
  bool is_one() const { return in_a_row_ >= kBelieved; }

 private:
  static constexpr int kBelieved = 8;
  static constexpr std::uint64_t kIntervalNs = 500'000;
  int in_a_row_ = 0;
};

void network_main() {
  Nap nap;
  FalseAlarms alarms;
  LastThread last;
  while (!stopping()) {
    stand_by_networks();
    if (work() == Worked::in_the_way) continue;
    for (int ms; !stopping() && (ms = nap.length()) >= 0;) {
      last.look();
      if (!sleep_on_networks(std::min(ms, static_cast<int>(last.interval_ns() / 1'000'000U)))) break;
      const Worked worked = alarms.is_one() ? (poll() ? Worked::something : Worked::nothing) : work();
      if (worked == Worked::in_the_way) break;
      alarms.count(worked);
    }
  }
}

// WaitPolicy::leave_polling where there are networks.
void call_network_agent() {
  if (network_agent_stands_by.load(std::memory_order_seq_cst) &&  // hand_over
      network_agent_stands_by.exchange(false, std::memory_order_relaxed))
    call(network_agent);
}

// WaitPolicy::sleep_on_networks: one waiter at a time takes the agent's place, so a message wakes one thread, not two.
NetworkSleep sleep_in_place_of_agent(std::uint32_t seen, std::uint64_t ns) {
  if (waiter_on_networks.exchange(true, std::memory_order_seq_cst)) return NetworkSleep::refused;  // seat
  const Doorbell& doorbell = own_endpoint.doorbell_of(own_endpoint.me());
  int count = 1;
  if (is_quiet_for_sleep() && doorbell.wake_seq.load(std::memory_order_seq_cst) == seen) {  // seat
    epoll_event event;
    count = ::epoll_wait(bell().epoll.get(), &event, 1, static_cast<int>((ns + 999'999) / 1'000'000));
    if (count > 0 && event.data.fd == bell().stop.get()) drain_bell();
  }
  waiter_on_networks.store(false, std::memory_order_seq_cst);  // hand_over
  return count > 0 ? NetworkSleep::woken : NetworkSleep::timed_out;
}

// Edge seat: the waker counts up wake_seq, then reads whether a waiter has the seat; the waiter takes it, then reads
// wake_seq.
void ring_waiter() {
  if (waiter_on_networks.load(std::memory_order_seq_cst)) ring_network_agent();  // seat
}

void* agent_main(void* argument) {
  self = static_cast<Agent*>(argument);
  self->tid.store(::gettid(), std::memory_order_relaxed);  // an agent that is not found here counts as another thread
  ::prctl(PR_SET_NAME, self->name);
  self->main();
  return nullptr;
}

// Wants start_mutex.
void start(Agent& agent) {
  open();
  endpoint_lock.share();
  agent.stop.store(0, std::memory_order_release);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals of the program go to the program's threads
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = ::pthread_create(&agent.thread, &attributes, agent_main, &agent);
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    fatal("shmem_init", "cannot start the progress thread: %s (limits: ulimit -u, pids of the cgroup)",
          std::strerror(error));
  agent.running = true;
  agent.owner = ::getpid();
}

// `ring` wakes it from what else it may sleep on. The mutex is free while it ends: a thread that ends the process comes
// by here once more.
void end(Agent& agent, void (*ring)()) {
  {
    const std::lock_guard guard(start_mutex);
    if (!agent.runs() || self == &agent || agent.stop.load(std::memory_order_relaxed) != 0) return;
    agent.stop.store(1, std::memory_order_release);
    call(agent);
    ring();
  }
  ::pthread_join(agent.thread, nullptr);
  agent.tid.store(0, std::memory_order_relaxed);
  const std::lock_guard guard(start_mutex);
  agent.running = false;
}

void ring_node_agent() {
  Doorbell& doorbell = own_endpoint.doorbell_of(own_endpoint.me());
  doorbell.sleepers.store(1, std::memory_order_relaxed);  // so that the next line wakes in any case
  wake_sleepers(doorbell);
}

}  // namespace

void start_agent() noexcept {
  const std::lock_guard guard(start_mutex);
  if (!node_agent.runs()) start(node_agent);
}

void start_network_agent(bool has_node_peers) noexcept {
  const std::lock_guard guard(start_mutex);
  if (network_agent.runs() || !make_bell()) return;
  start(network_agent);
  wait_policy().leave_polling = call_network_agent;
  if (has_node_peers) return;
  wait_policy().sleep_on_networks = sleep_in_place_of_agent;
  wake_network_sleeper = ring_waiter;
}

void stop_node_agent() noexcept { end(node_agent, ring_node_agent); }

void stop_agents() noexcept {
  end(node_agent, ring_node_agent);
  end(network_agent, ring_network_agent);
}

void ring_network_agent() noexcept { ::eventfd_write(bell().stop.get(), 1); }

bool agent_runs() noexcept {
  const std::lock_guard guard(start_mutex);
  return node_agent.runs() || network_agent.runs();
}

}  // namespace shmemx::am
