#include "crew.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <limits>

namespace shmemx::bench {

namespace {

constexpr int kProbe = -1;
constexpr int kEnd = -2;
constexpr long kProbeTrips = 8;
constexpr int kProbeBatches = 3;
constexpr double kFarNs = 90;
constexpr double kDisturbedNs = 2000;

// Pins each process of a pair to its own core for the whole measurement.
void pin(int process) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int seen = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != process) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
}

}  // namespace

Crew::Crew(std::vector<Variation> variations, int processes)
    : variations_(std::move(variations)), processes_(processes), own_(variations_.size()) {
  g_crowded = processes > 2;
  std::size_t bytes = round_up(sizeof(Lead), kPageBytes);
  for (const Variation& variation : variations_) {
    offsets_.push_back(bytes);
    bytes += Place::bytes_for(variation.cell_bytes, variation.cell_count, static_cast<std::size_t>(processes));
  }
  memory_ = map_shared(bytes);
  bytes_ = bytes;
  lead_ = reinterpret_cast<Lead*>(memory_);
  for (std::size_t i = 0; i < variations_.size(); ++i) {
    place(i).cell_bytes = variations_[i].cell_bytes;
    place(i).cell_count = variations_[i].cell_count;
    variations_[i].fill(place(i), processes);
  }
  const pid_t leader = getpid();
  sched_getaffinity(0, sizeof before_, &before_);
  for (int me = 1; me < processes; ++me) {
    const pid_t child = fork();
    if (child > 0) {
      children_.push_back(child);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child < 0 || getppid() != leader) std::_Exit(1);
    if (processes == 2) pin(1);
    follow(me);
  }
  if (processes == 2) pin(0);
}

Crew::~Crew() {
  tell(kEnd, processes_ - 1, 0);
  for (const int child : children_) waitpid(child, nullptr, 0);
  munmap(memory_, bytes_);
  sched_setaffinity(0, sizeof before_, &before_);
}

void Crew::tell(int what, int senders, long iterations) {
  ++sequence_;
  for (int i = 1; i <= senders; ++i) {
    Order& order = lead_->orders[static_cast<std::size_t>(i)];
    order.what = what;
    order.senders = senders;
    order.iterations = iterations;
    order.sequence.store(sequence_, std::memory_order_release);  // order
  }
}

void Crew::await_done(int senders) {
  done_ += senders;
  poll_until([&] { return lead_->done.load(std::memory_order_acquire) == done_; });  // done
}

void Crew::follow(int me) {
  Order& order = lead_->orders[static_cast<std::size_t>(me)];
  long seen = 0;
  for (;;) {
    long polls = 0;
    while (order.sequence.load(std::memory_order_acquire) == seen) {  // order
      // A process without orders for a while yields its core.
      if (!g_crowded) continue;
      ++polls < 1000 ? static_cast<void>(sched_yield()) : sleep_ms(1);
    }
    seen = order.sequence.load(std::memory_order_acquire);  // order
    if (order.what == kEnd) std::_Exit(0);
    if (order.what == kProbe) {
      const long last = order.iterations;
      for (long trip = last - kProbeTrips * kProbeBatches + 1; trip <= last; ++trip) {
        while (lead_->ping.load(std::memory_order_acquire) < trip) continue;
        lead_->pong.store(trip, std::memory_order_release);
      }
    } else {
      const auto which = static_cast<std::size_t>(order.what);
      variations_[which].run(place(which), own_[which], me, order.senders, order.iterations);
    }
    lead_->done.fetch_add(1, std::memory_order_release);  // done
  }
}

double Crew::time(std::size_t variation, int senders, long iterations) {
  tell(static_cast<int>(variation), senders, iterations);
  const std::int64_t begin = now_ns();
  variations_[variation].run(place(variation), own_[variation], 0, senders, iterations);
  const auto ns = static_cast<double>(now_ns() - begin);
  await_done(senders);
  return ns;
}

std::string Crew::state() {
  const long end = pings_ + kProbeTrips * kProbeBatches;
  tell(kProbe, 1, end);
  double best = std::numeric_limits<double>::max();
  for (int batch = 0; batch < kProbeBatches; ++batch) {
    const std::int64_t begin = now_ns();
    for (long i = 0; i < kProbeTrips; ++i) {
      lead_->ping.store(++pings_, std::memory_order_release);
      while (lead_->pong.load(std::memory_order_acquire) < pings_) continue;
    }
    best = std::min(best, static_cast<double>(now_ns() - begin) / (2.0 * kProbeTrips));
  }
  await_done(1);
  if (best > kDisturbedNs) return "disturbed";
  return best > kFarNs ? "far" : "near";
}

}  // namespace shmemx::bench
