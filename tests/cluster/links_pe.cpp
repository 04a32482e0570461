// links_pe PHASE [SEED [SCHEDULES]]: PEs on hosts with two networks, whose links are cut and joined while the PEs are
// in PHASE. One link of each host works at any time, so the job goes on, with the right data.
//   PHASE  start, put, get, atomic, collective, malloc, finalize; random: all of them but the first and the last, and
//          SCHEDULES schedules of cuts that depend on SEED; both: all links of the last host are cut for good; first:
//          the first link of a host is cut for good, while PEs are in all of them, at a time that depends on SEED;
//          streams: the same while long puts and gets are under way, and the link is joined later, so that it brings
//          what is late; end: the first link of a host is cut for good while all PEs finalize; later: the only link is
//          cut for good, and an interface that was down at the start comes up; outage: all links of the last host are
//          cut for 2 s, and the job goes on after it; down: the same with its only interface; reset: the connection of
//          two PEs is reset by the network while the other PE does not answer for a while
#include <shmem.h>
#include <shmemx.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "request_fault.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWords = 32 << 10;  // of the long area: 256 KiB
constexpr long kOps = 20;                 // of each kind in a round

constexpr std::size_t kStreamWords = 64 << 10;  // of each area of a stream: 512 KiB
constexpr std::size_t kPieces = 8;

long area[kWords];
long streamed[kStreamWords], offered[kStreamWords], inbox[kStreamWords];
uint64_t inbox_signal;
long fetched[kWords];
long counter;
long sum_in[2], sum_out[2];
int me, n_pes;

[[noreturn]] void fail(const char* what, long round, long got, long expected) {
  std::fprintf(stderr, "links_pe: PE %d, round %ld: %s is %ld instead of %ld\n", me, round, what, got, expected);
  shmem_global_exit(1);
}
void expect(const char* what, long round, long got, long expected) {
  if (got != expected) fail(what, round, got, expected);
}

// What happens to the links, and when. PE 0 requests it while it takes part in the phase.
class Schedule {
 public:
  // Cut, join, cut the other one, join, on the last host.
  void add_usual() {
    for (const char* step : {"cut h1/0", "join h1/0", "cut h1/1", "join h1/1"}) add(300, step);
  }
  // Any host, any order of the networks, any times; what has been cut is joined before the other one is cut.
  void add_random(std::mt19937& random) {
    const std::string host = random() % 2 == 0 ? "h0" : "h1";
    const std::string network = random() % 2 == 0 ? "0" : "1";
    add(static_cast<long>(random() % 200), "cut " + host + "/" + network);
    add(static_cast<long>(random() % 600), "join " + host + "/" + network);
  }
  void add_first(std::mt19937& random) {
    const char* const host = random() % 2 == 0 ? "h0" : "h1";
    add(static_cast<long>(random() % 1000), std::string("cut ") + host + "/0");
  }
  // The link comes back after another network has taken over, and may bring what was under way before.
  void add_streams(std::mt19937& random) {
    const char* const host = random() % 2 == 0 ? "h0" : "h1";
    add(static_cast<long>(random() % 700), std::string("cut ") + host + "/0");
    add(1500 + static_cast<long>(random() % 1000), std::string("join ") + host + "/0");
    last_ms_ += 1500;
  }
  void carry_out() {
    while (!steps_.empty() && Clock::now() >= begin_ + std::chrono::milliseconds(steps_.front().at_ms)) {
      std::printf("%s\n", steps_.front().what.c_str());
      request_fault(steps_.front().what);
      steps_.erase(steps_.begin());
    }
  }
  bool is_over() const { return steps_.empty() && Clock::now() >= begin_ + std::chrono::milliseconds(last_ms_ + 300); }

 private:
  struct Step {
    long at_ms;
    std::string what;
  };
  void add(long after_ms, const std::string& what) {
    last_ms_ += after_ms;
    steps_.push_back({last_ms_, what});
  }
  Clock::time_point begin_ = Clock::now();
  long last_ms_ = 0;
  std::vector<Step> steps_;
};

int next() { return (me + n_pes / 2) % n_pes; }  // on the other host
int previous() { return (me + n_pes - n_pes / 2) % n_pes; }
long value_of(int pe, long round, std::size_t word) { return pe * 1'000'003 + round * 101 + static_cast<long>(word); }

void fill(std::vector<long>& words, int pe, long round) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = value_of(pe, round, i);
}
void expect_words(const char* what, const long* words, std::size_t n, int pe, long round) {
  for (std::size_t i = 0; i < n; ++i) expect(what, round, words[i], value_of(pe, round, i));
}

// One long put, many short ones on top of it, and the data at the target.
void put(long round) {
  static std::vector<long> source(kWords);
  fill(source, me, round);
  shmem_long_put(area, source.data(), kWords, next());
  for (std::size_t i = 0; i < kOps; ++i) shmem_long_p(&area[i], -value_of(me, round, i), next());
  shmem_fence();
  for (std::size_t i = 0; i < kOps; ++i) shmem_long_put_nbi(&area[i], &source[i], 1, next());
  std::vector<long> once = source;
  shmem_long_put(area, once.data(), kWords / 8, next());
  std::fill(once.begin(), once.end(), -1);  // may be used again
  shmem_barrier_all();
  expect_words("a word that was put", area, kWords, previous(), round);
  shmem_barrier_all();
}

void get(long round) {
  for (std::size_t i = 0; i < kWords; ++i) area[i] = value_of(me, round, i);
  shmem_barrier_all();
  for (std::size_t i = 0; i < kOps; ++i)
    expect("a word that was got", round, shmem_long_g(&area[i], next()), value_of(next(), round, i));
  shmem_long_get(fetched, area, kWords, next());
  expect_words("a word that was got", fetched, kWords, next(), round);
  shmem_barrier_all();
}

// Long puts and gets, with a fence, signals and atomics between them: older data never replace newer ones, a signal
// comes behind its data, and an atomic is executed once.
void stream(long round) {
  constexpr std::size_t kPiece = kStreamWords / kPieces;
  static std::vector<long> older(kStreamWords), newer(kStreamWords), got(kStreamWords);
  fill(older, -1 - me, round);
  fill(newer, me, round);
  for (std::size_t i = 0; i < kStreamWords; ++i) offered[i] = value_of(me, round, i);
  counter = 0;
  shmem_barrier_all();
  for (std::size_t at = 0; at < kStreamWords; at += kPiece)
    shmem_long_put_nbi(&streamed[at], &older[at], kPiece, next());
  shmem_fence();
  for (std::size_t at = 0; at < kStreamWords; at += kPiece) {
    shmem_long_put_nbi(&streamed[at], &newer[at], kPiece, next());
    shmem_long_get_nbi(&got[at], &offered[at], kPiece, next());
    shmem_long_atomic_inc(&counter, next());
  }
  const long before = shmem_long_atomic_fetch_add(&counter, 1, next());
  if (before < 0 || before > static_cast<long>(kPieces)) fail("the counter of a stream", round, before, kPieces);
  shmem_long_put_signal(inbox, newer.data(), kStreamWords, &inbox_signal, static_cast<uint64_t>(round) + 1,
                        SHMEM_SIGNAL_SET, next());
  shmem_signal_wait_until(&inbox_signal, SHMEM_CMP_GE, static_cast<uint64_t>(round) + 1);
  expect_words("a word behind a signal", inbox, kStreamWords, previous(), round);
  shmem_long_put(streamed, newer.data(), kPiece, next());
  shmem_quiet();
  expect_words("a word of a stream of gets", got.data(), kStreamWords, next(), round);
  shmem_barrier_all();
  expect_words("a word of a stream of puts", streamed, kStreamWords, previous(), round);
  expect("the number of atomics of a stream", round, counter, static_cast<long>(kPieces) + 1);
  shmem_barrier_all();
}

// Each value is fetched once: no update is lost or carried out twice.
void atomic(long round) {
  counter = 0;
  shmem_barrier_all();
  long last = -1;
  for (long i = 0; i < kOps * 5; ++i) {
    const long before = shmem_long_atomic_fetch_add(&counter, 1, next());
    expect("the counter", round, before, last + 1);
    last = before;
    shmem_long_atomic_add(&sum_in[1], 0, next());
  }
  shmem_barrier_all();
  expect("the number of fetch_adds", round, counter, kOps * 5);
  shmem_barrier_all();
}

void collective(long round) {
  for (long i = 0; i < kOps; ++i) {
    sum_in[0] = round + i * me;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum_out, sum_in, 1);
    expect("a sum", round, sum_out[0], n_pes * round + i * n_pes * (n_pes - 1) / 2);
    if (i % 5 == 0) shmem_barrier_all();
  }
}

void allocate(long round) {
  auto* const words = static_cast<long*>(shmem_malloc(1024 * sizeof(long)));
  if (words == nullptr) fail("memory", round, 0, 1);
  shmem_long_p(&words[round % 1024], round, next());
  shmem_barrier_all();
  expect("a word of new memory", round, words[round % 1024], round);
  shmem_free(words);
}

// Returns whether a PE needs another round.
bool agree(bool more) {
  sum_in[0] = more ? 1 : 0;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum_out, sum_in, 1);
  return sum_out[0] != 0;
}

using Round = void (*)(long);
void run(const std::vector<Round>& rounds, Schedule& schedule) {
  long round = 0;
  Clock::duration longest{};
  do {
    const Clock::time_point begin = Clock::now();
    if (me == 0) schedule.carry_out();
    rounds[static_cast<std::size_t>(round) % rounds.size()](round);
    ++round;
    longest = std::max(longest, Clock::now() - begin);
  } while (agree(me == 0 && !schedule.is_over()));
  if (me == 0)
    std::printf("%ld rounds, the longest took %ld ms\n", round,
                static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
}

// Resets the connections to other hosts, as a machine between the two may do: both kernels end them at once.
void reset_connections() {
  constexpr int kMostDescriptors = 256;
  const sockaddr nowhere{AF_UNSPEC, {}};
  int resets = 0;
  for (int fd = 3; fd < kMostDescriptors; ++fd) {
    sockaddr_storage far{};
    socklen_t bytes = sizeof far;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&far), &bytes) != 0) continue;
    if (far.ss_family != AF_INET && far.ss_family != AF_INET6) continue;
    resets += ::connect(fd, &nowhere, sizeof nowhere) == 0 ? 1 : 0;
  }
  if (resets == 0) fail("the number of connections", 0, 0, 1);
}

// PE 1 does not answer in time: it computes, without a progress thread.
void run_reset() {
  constexpr useconds_t kComputeUs = 1'500'000;
  put(0);
  for (long round = 1; round < 3; ++round) {
    if (me == 1) {
      reset_connections();
      ::usleep(kComputeUs);
    }
    atomic(round);
    put(round);
  }
}

// All kinds of rounds in turn, until `is_over` on each PE.
void all_rounds_until(const std::atomic<bool>& is_over) {
  long round = 1;
  do {
    for (const Round step : {put, get, atomic, collective, allocate}) step(round);
    ++round;
  } while (agree(!is_over));
  if (me == 0) std::printf("%ld rounds\n", round);
}

// No link works for 2 s, in which every PE waits; then all goes on. `actor` carries out both changes.
template <class Cut, class Join>
void run_outage(int actor, Cut cut, Join join) {
  std::atomic<bool> is_over{me != actor};
  std::thread outage;
  put(0);
  if (me == actor) {
    outage = std::thread([&] {
      cut();
      ::usleep(2'000'000);
      join();
      ::usleep(200'000);
      is_over = true;
    });
  }
  all_rounds_until(is_over);
  if (outage.joinable()) outage.join();
}

void set_interface(const std::string& interface, const char* state) {
  if (std::system(("ip link set " + interface + " " + state).c_str()) != 0) fail("the status of ip", 0, 1, 0);
}

// The PEs of one host come to finalize when the others are there and the link is cut: what they send then is the last,
// and they need nothing more themselves. What has been put and added before is complete after finalize.
void run_end(std::mt19937& random) {
  static std::vector<long> source(kStreamWords);
  const int late_host = static_cast<int>(random() % 2);
  const std::string cut = random() % 2 == 0 ? "cut h0/0" : "cut h1/0";
  fill(source, me, 0);
  counter = 0;
  shmem_barrier_all();
  std::thread fault;
  if (me == 0) {
    fault = std::thread([&] {
      ::usleep(150'000);
      request_fault(cut);
    });
  }
  shmem_long_put_nbi(streamed, source.data(), kStreamWords, next());
  for (long i = 0; i < kOps; ++i) shmem_long_atomic_inc(&counter, next());
  if (me / (n_pes / 2) == late_host) {
    shmem_quiet();
    ::usleep(250'000 + static_cast<useconds_t>(random() % 200'000));
  }
  shmem_finalize();
  expect_words("a word that finalize has completed", streamed, kStreamWords, previous(), 0);
  expect("the number of atomics before finalize", 0, counter, kOps);
  if (fault.joinable()) fault.join();
}

// The second interface of each host is down at the start. It comes up a second after the first link has been cut.
void run_later() {
  std::thread change;
  std::atomic<bool> is_over{me % (n_pes / 2) != 0};
  put(0);
  if (me == 0) request_fault("cut h1/0");
  if (me % (n_pes / 2) == 0) {
    change = std::thread([&] {
      ::usleep(1'000'000);
      set_interface("eth1", "up");
      ::usleep(1'000'000);
      is_over = true;
    });
  }
  all_rounds_until(is_over);
  if (change.joinable()) change.join();
}

const char* own_number() {
  const char* const number = std::getenv("PMI_RANK");
  return number == nullptr ? "0" : number;
}

Round round_of(const std::string& phase) {
  return phase == "put"          ? put
         : phase == "get"        ? get
         : phase == "atomic"     ? atomic
         : phase == "collective" ? collective
         : phase == "malloc"     ? allocate
                                 : nullptr;
}

// The phases that have a course of their own. Returns false if it is none of them.
bool run_special(const std::string& phase, std::mt19937& random) {
  if (phase == "later") {
    run_later();
  } else if (phase == "outage") {
    run_outage(
        0, [] { request_fault("cut h1"); }, [] { request_fault("join h1"); });
  } else if (phase == "down") {
    run_outage(
        n_pes - 1, [] { set_interface("eth0", "down"); }, [] { set_interface("eth0", "up"); });
  } else if (phase == "reset") {
    run_reset();
  } else if (phase == "both") {
    if (me == 0) request_fault("cut h1");
    for (long round = 0;; ++round) atomic(round);
  } else if (phase == "finalize") {
    atomic(0);
    if (me == 0) request_fault("cut h1/0");
  } else if (phase == "end") {
    put(0);
    run_end(random);
    std::exit(0);
  } else {
    return false;
  }
  return true;
}

int run_phase(const std::string& phase, unsigned seed, int schedules) {
  std::mt19937 random(seed);
  Schedule early;
  if (phase == "start" && own_number()[0] == '0') {
    request_fault("cut h1/0");
    ::usleep(20'000);
  }
  shmem_init();
  me = shmem_my_pe();
  n_pes = shmem_n_pes();
  shmem_barrier_all();
  Schedule schedule;
  if (phase == "random" && me == 0) std::printf("seed %u\n", seed);
  if (phase == "random") {
    for (int i = 0; i < schedules; ++i) schedule.add_random(random);
    run({put, get, atomic, collective, allocate}, schedule);
  } else if (phase == "first") {
    if (me == 0) schedule.add_first(random);
    run({put, get, atomic, collective, allocate}, schedule);
  } else if (phase == "streams") {
    if (me == 0) schedule.add_streams(random);
    run({stream, stream, stream, put, get, atomic}, schedule);
  } else if (phase == "start") {
    put(0);
    atomic(0);
    if (me == 0) request_fault("join h1/0");
  } else if (!run_special(phase, random)) {
    schedule.add_usual();
    const Round round = round_of(phase);
    if (round == nullptr) return 2;
    run({round}, schedule);
  }
  if (phase == "random") std::fflush(stdout);
  shmem_finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 1;
  return run_phase(argv[1], seed, argc > 3 ? std::atoi(argv[3]) : 10);
}
