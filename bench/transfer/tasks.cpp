#include "tasks.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace shmemx::bench {

bool spoil_data = false;

namespace {

constexpr std::size_t kFirstTransferBytes = 4096;
constexpr int kFewestSamples = 3;
constexpr std::int64_t kComputeNs = 20'000'000;  // how long the target computes
constexpr std::int64_t kHelpedNs = 15'000'000;   // a transfer that took longer waited for the target
constexpr std::byte kMark{0xa5};

std::int64_t processor_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

long involuntary_switches() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Computes in registers. Returns the work done per nanosecond.
double compute_for(std::int64_t ns) {
  const std::int64_t begin = now_ns();
  std::int64_t now = begin;
  std::uint64_t value = 1;
  std::uint64_t rounds = 0;
  for (; now - begin < ns; now = now_ns(), ++rounds) {
    for (int i = 0; i < 500; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
    keep(value);
  }
  return static_cast<double>(rounds) / static_cast<double>(now - begin);
}

}  // namespace

Tasks::Tasks(Link& link, const MechanismInfo& info, const Arena& arena, std::size_t working_set_bytes)
    : link_(link),
      info_(info),
      arena_bytes_(arena.bytes()),
      mine_(link.local() == (info.direction == Direction::put) ? arena.source_fd() : arena.dest_fd(), arena.bytes()),
      working_set_(working_set_bytes) {}

void Tasks::count_check(bool good) {
  ++link_.outcome().checks;
  if (!good) ++link_.outcome().failures;
}

void Tasks::leave(const Walk& walk) {
  Outcome& outcome = link_.outcome();
  outcome.next_source = walk.source;
  outcome.next_dest = walk.dest;
  outcome.laps = walk.laps;
}

void Tasks::end_mechanism() {
  if (!mechanism_) return;
  mechanism_->deregister_mem();
  mechanism_->finalize();
  mechanism_.reset();
}

void Tasks::prepare(const Order& order) {
  end_mechanism();
  mechanism_ = info_.make(link_, order.chunk_bytes);
  mechanism_->init();
  mechanism_->register_mem(mine_.region());
  Walk walk = order.walk;
  transfer_checked(*mechanism_, walk.next(kFirstTransferBytes, arena_bytes_));
  leave(walk);
}

void Tasks::finish() { end_mechanism(); }

void Tasks::move(Mechanism& mechanism, const Transfer& transfer) {
  link_.begin_transfer();
  if (link_.local()) {
    mechanism.copy_local(transfer);
    link_.transfer_done();
  } else {
    mechanism.copy_remote(transfer);
  }
}

// The destination is filled with a pattern before, and a guard on either side must stay unchanged.
void Tasks::transfer_checked(Mechanism& mechanism, const Transfer& transfer) {
  std::byte* const begin = mine_.region().base + transfer.dest;
  std::byte* const end = begin + transfer.bytes;
  if (!is_source()) std::fill(begin - kGuardBytes, end + kGuardBytes, kMark);
  link_.barrier();
  move(mechanism, transfer);
  link_.wait([this] { return link_.is_done(); });
  if (is_source()) return;
  if (spoil_data) begin[transfer.bytes / 2] ^= std::byte{1};
  const auto marked = [](std::byte value) { return value == kMark; };
  count_check(std::all_of(begin - kGuardBytes, begin, marked) && std::all_of(end, end + kGuardBytes, marked) &&
              matches(begin, transfer.source, transfer.bytes));
}

void Tasks::verify(const Order& order) {
  Walk walk = order.walk;
  Transfer transfer = walk.next(order.bytes + 2 * kLineBytes, arena_bytes_);
  transfer.bytes = order.bytes;
  transfer.source += 3;
  transfer.dest += 5;
  transfer_checked(*mechanism_, transfer);
  leave(walk);
}

// Checks the first and last bytes of a timed transfer.
void Tasks::check_edges(const Transfer& transfer) {
  if (is_source()) return;
  const std::byte* const begin = mine_.region().base + transfer.dest;
  const std::size_t edge = std::min<std::size_t>(8, transfer.bytes);
  count_check(matches(begin, transfer.source, edge) &&
              matches(begin + transfer.bytes - edge, transfer.source + transfer.bytes - edge, edge));
}

void Tasks::time(const Order& order) {
  Outcome& outcome = link_.outcome();
  Walk walk = order.walk;
  outcome.probe_before_ns = link_.probe();
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(order.budget_ms * 1e6);
  Series& series = outcome.series[0];
  for (int round = 0;; ++round) {
    const bool more = round <= kFewestSamples || (now_ns() < end && series.count < kMaxSamples);
    const std::int64_t start = link_.start_together(more);
    if (start == 0) break;
    const Transfer transfer = walk.next(order.bytes, arena_bytes_);
    move(*mechanism_, transfer);
    const std::int64_t ns = now_ns() - start;
    link_.barrier();
    check_edges(transfer);
    const bool together = link_.crowded() || !link_.was_late(start);
    if (link_.local() && round > 0 && (together || round <= kFewestSamples)) series.add(static_cast<double>(ns));
  }
  outcome.probe_after_ns = link_.probe();
  leave(walk);
}

void Tasks::set_up(const Order& order) {
  Outcome& outcome = link_.outcome();
  Walk walk = order.walk;
  Region region = mine_.region();
  region.bytes = std::min<std::size_t>(region.bytes, order.bytes);
  for (int round = 0; round < order.count; ++round) {
    link_.barrier();
    const std::int64_t t0 = now_ns();
    std::unique_ptr<Mechanism> mechanism = info_.make(link_, order.chunk_bytes);
    mechanism->init();
    const std::int64_t t1 = now_ns();
    mechanism->register_mem(region);
    const std::int64_t t2 = now_ns();
    transfer_checked(*mechanism, {kLineBytes, kGuardBytes, std::min<std::size_t>(4096, region.bytes / 2)});
    link_.barrier();
    const std::int64_t t3 = now_ns();
    mechanism->deregister_mem();
    const std::int64_t t4 = now_ns();
    mechanism->finalize();
    const std::int64_t t5 = now_ns();
    const double times[] = {static_cast<double>(t1 - t0), static_cast<double>(t2 - t1), static_cast<double>(t4 - t3),
                            static_cast<double>(t5 - t4)};
    for (int i = 0; i < 4; ++i) outcome.series[i].add(times[i]);
  }
  leave(walk);
}

void Tasks::processor(const Order& order) {
  Walk walk = order.walk;
  link_.barrier();
  const std::int64_t begin = processor_ns();
  for (int i = 0; i < order.count; ++i) move(*mechanism_, walk.next(order.bytes, arena_bytes_));
  link_.outcome().series[0].add(static_cast<double>(processor_ns() - begin) / order.count);
  link_.barrier();
  leave(walk);
}

// Discards readings during which another program had the core.
template <class Prepare>
void Tasks::read_after(Prepare prepare, Series& series) {
  const long switches = involuntary_switches();
  prepare();
  const double ns = working_set_.read_ns();
  if (involuntary_switches() == switches) series.add(ns);
}

void Tasks::disturb(const Order& order) {
  Outcome& outcome = link_.outcome();
  Walk walk = order.walk;
  link_.keep_core(true);
  for (int round = 0; round < order.count; ++round) {
    read_after([this] { working_set_.warm(); }, outcome.series[0]);
    read_after([this] { working_set_.evict(); }, outcome.series[1]);
    const auto transfer = [&] {
      working_set_.warm();
      link_.start_together(true);
      move(*mechanism_, walk.next(order.bytes, arena_bytes_));
      link_.wait([this] { return link_.is_done(); });
    };
    read_after(transfer, outcome.series[2]);
  }
  link_.keep_core(false);
  link_.barrier();
  leave(walk);
}

void Tasks::help(const Order& order) {
  Walk walk = order.walk;
  const Transfer transfer = walk.next(order.bytes, arena_bytes_);
  const std::int64_t start = link_.start_together(true);
  if (!link_.local()) compute_for(kComputeNs);
  move(*mechanism_, transfer);
  if (link_.local()) link_.outcome().series[0].add(now_ns() - start < kHelpedNs ? 0 : 1);
  link_.wait([this] { return link_.is_done(); });
  check_edges(transfer);
  leave(walk);
}

// The remote process computes alone and then while the local one moves data without a pause.
void Tasks::overlap(const Order& order) {
  Walk walk = order.walk;
  link_.start_together(true);
  const double alone = link_.local() ? 0 : compute_for(kComputeNs / 2);
  const std::int64_t end = link_.start_together(true) + kComputeNs;
  if (link_.local()) {
    while (now_ns() < end) mechanism_->copy_local(walk.next(order.bytes, arena_bytes_));
  } else {
    link_.outcome().series[0].add(compute_for(end - now_ns()) / alone);
  }
  link_.barrier();
  leave(walk);
}

}  // namespace shmemx::bench
