// The progress thread of a network that wakes nobody, and a waiter beside it.
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "../../support/fake_transport.hpp"
#include "am/endpoint.hpp"
#include "base/cache_line.hpp"
#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "progress/hints.hpp"
#include "progress/policy.hpp"
#include "progress/threads.hpp"
#include "progress/wait.hpp"
#include "progress/wake_socket.hpp"
#include "support/core.hpp"

BOOST_AUTO_TEST_SUITE(progress_network_thread)

namespace {

using namespace shmemx;
using std::chrono::milliseconds;

constexpr std::uint64_t kLongestNs = 1'000'000;

// Without a descriptor. Only a poll brings its message.
struct SilentNetwork {
  SilentNetwork() {
    transport.can.waits = false;
    transport.arms = false;
    transport.on_poll = [this] {
      polls.fetch_add(1, std::memory_order_relaxed);
      if (!is_sent.exchange(false)) return;
      has_arrived = transport.moves = true;
    };
  }

  test_support::FakeTransport transport{"silent"};
  std::atomic<int> polls{0};
  std::atomic<bool> is_sent{false};
  std::atomic<bool> has_arrived{false};
};

struct Process {
  Process() {
    const nemesis::Layout layout = nemesis::make_layout(2, 1024, 16);
    memory.resize(layout.total_bytes + kCacheLine);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const nemesis::Parts parts(memory.data() + (kCacheLine - address % kCacheLine) % kCacheLine, layout);
    Doorbell& doorbell = parts.control(0).doorbell;
    doorbell_hooks = {.own = &doorbell, .wake_network_sleeper = progress::wake_network_sleeper};
    am::network_thread.wake = progress::wake_network_thread;
    progress::policy().unwoken.longest_sleep_ns = kLongestNs;
    static std::uint8_t via[2] = {am::kNodeRoute, 0};
    static transport::Transport* const networks[1] = {&network.transport};
    am::set_up(
        {.parts = parts,
         .me = 0,
         .n_pes = 2,
         .doorbells = {reinterpret_cast<std::byte*>(&doorbell), static_cast<std::ptrdiff_t>(layout.part_bytes), {}},
         .many_threads = true,
         .pending_max = 1U << 20,
         .route = via,
         .networks = networks});
    progress::open();
  }
  std::vector<std::byte> memory;
  SilentNetwork network;
};
Process& process() {
  static auto* const instance = new Process;
  return *instance;
}

struct WithThread : unit::NoOtherPrograms {
  explicit WithThread(bool has_node_peers = false) : network(process().network) {
    network.has_arrived = false;
    progress::policy().hooks = {};
    progress::start_network_thread(has_node_peers);
  }
  ~WithThread() { progress::stop_threads(); }

  SilentNetwork& network;
};

}  // namespace

BOOST_AUTO_TEST_CASE(while_the_program_computes_the_thread_polls) {
  WithThread thread;
  for (int message = 0; message < 20; ++message) {
    thread.network.has_arrived = false;
    thread.network.is_sent = true;
    for (int i = 0; i < 5000 && !thread.network.has_arrived; ++i) std::this_thread::sleep_for(milliseconds(1));
    BOOST_CHECK(thread.network.has_arrived);
  }
}

// Returns whether the condition has come true within half a minute.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 30000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

// Some polls at each wake-up, of which there is one in a millisecond.
BOOST_AUTO_TEST_CASE(an_idle_thread_polls_seldom) {
  constexpr std::uint64_t kMostPerSleep = 8;
  constexpr int kEnough = 500;
  WithThread thread;
  std::this_thread::sleep_for(milliseconds(20));
  const int before = thread.network.polls;
  const std::uint64_t begin = now_ns();
  BOOST_CHECK(comes_true([&] { return thread.network.polls - before > kEnough; }));
  const auto polls = static_cast<std::uint64_t>(thread.network.polls - before);
  BOOST_CHECK_LT(polls, kMostPerSleep * ((now_ns() - begin) / kLongestNs + 1));
}

// The waiter sleeps in place of the thread, or on its doorbell, where the thread wakes it.
BOOST_AUTO_TEST_CASE(a_waiter_gets_what_only_a_poll_brings) {
  for (const bool has_node_peers : {false, true}) {
    WithThread thread(has_node_peers);
    std::thread sender([&] {
      std::this_thread::sleep_for(milliseconds(50));
      thread.network.is_sent = true;
    });
    progress::wait_for("shmem_test", [&] { return thread.network.has_arrived.load(); });
    sender.join();
    BOOST_CHECK_EQUAL(progress::hints.threads_waiting.load(), 0U);
    BOOST_CHECK_EQUAL(progress::hints.threads_asleep.load(), 0U);
  }
}

// Another thread waits for `flag`, which it expects a message of another node to set.
std::thread waiter_for_other_node(std::atomic<bool>& flag) {
  return std::thread([&] { progress::wait_until("shmem_test", 1, [&] { return flag.load(); }); });
}

BOOST_AUTO_TEST_CASE(who_awaits_another_node_sleeps_on_the_networks_beside_node_peers) {
  WithThread thread(true);
  std::thread waiter = waiter_for_other_node(thread.network.has_arrived);
  BOOST_CHECK(comes_true([] { return progress::hints.waiter_on_networks.load(); }));
  thread.network.is_sent = true;
  waiter.join();
  std::atomic<bool> flag{false};
  std::thread other([&] { progress::wait_for("shmem_test", [&] { return flag.load(); }); });
  BOOST_CHECK(comes_true([] { return progress::hints.threads_asleep.load() == 1; }));
  BOOST_CHECK(!progress::hints.waiter_on_networks);
  flag = true;
  other.join();
}

BOOST_AUTO_TEST_CASE(a_node_peer_wakes_who_sleeps_on_the_networks) {
  constexpr std::uint64_t kForeverNs = 1'000'000'000'000;
  progress::Policy& policy = progress::policy();
  const progress::SleepSteps steps_before = policy.sleep;
  policy.sleep = {.first_ns = kForeverNs, .max_ns = kForeverNs};
  policy.unwoken.longest_sleep_ns = kForeverNs;
  {
    WithThread thread(true);
    std::atomic<bool> flag{false};
    std::atomic<bool> is_over{false};
    std::thread waiter([&] {
      progress::wait_until("shmem_test", 1, [&] { return flag.load(); });
      is_over = true;
    });
    Doorbell& doorbell = *own_doorbell();
    std::uint64_t socket = 0;
    BOOST_CHECK(comes_true([&] { return (socket = doorbell.wake_socket) != 0; }));
    flag = true;
    doorbell.wake_seq.fetch_add(1);
    BOOST_CHECK(progress::send_wake_up(socket));
    BOOST_CHECK(comes_true([&] { return is_over.load(); }));
    waiter.join();
  }
  policy.sleep = steps_before;
  policy.unwoken.longest_sleep_ns = kLongestNs;
}

// By RMA that this PE takes no part in.
BOOST_AUTO_TEST_CASE(a_waiter_finds_a_store_that_wakes_nobody) {
  for (const bool has_node_peers : {false, true}) {
    WithThread thread(has_node_peers);
    std::atomic<bool> flag{false};
    std::thread sender([&] {
      std::this_thread::sleep_for(milliseconds(50));
      flag = true;
    });
    progress::wait_for("shmem_test", [&] { return flag.load(); });
    sender.join();
  }
}

BOOST_AUTO_TEST_SUITE_END()
