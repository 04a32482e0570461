#include "plan.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "copy.hpp"
#include "support/stats.hpp"

namespace shmemx::bench {
namespace {

constexpr int kLimitMs = 15'000;       // of one order; a process that takes longer hangs
constexpr double kDisturbedNs = 2000;  // another program had a core during the probe
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kHelpBytes[] = {8, kMiB};

struct Seat {
  Pair* pair;
  Measured* measured;
};

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) list.push_back(cpu);
  return list;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

// Returns the kernel's value in kB. Both arenas together use at most half of it.
std::size_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (std::size_t kib = 0; info >> name >> kib; std::getline(info, unit))
    if (name == "MemAvailable:") return kib << 10;
  return kMiB << 10;
}

std::size_t choose_arena(const Settings& settings, const CacheSizes& caches) {
  const std::size_t wanted =
      settings.arena_bytes != 0 ? settings.arena_bytes : caches.last_bytes * 8 + settings.largest_bytes + kMiB;
  const std::size_t least = 2 * settings.largest_bytes + kMiB;
  const std::size_t most = available_bytes() / 4;
  return std::max(least, std::min(wanted, most)) / kMiB * kMiB;
}

class Plan {
 public:
  explicit Plan(const Settings& settings)
      : settings_(settings),
        begin_ns_(now_ns()),
        cpus_(usable_cpus()),
        caches_(cache_sizes()),
        arena_(choose_arena(settings, caches_)) {
    describe();
  }

  Results run() {
    start_pairs();
    measure_copies();
    for (const std::size_t bytes : sizes()) verify(bytes);
    find_chunks();
    for (results_.rounds = 0; results_.rounds < settings_.rounds && (results_.rounds == 0 || in_time());
         ++results_.rounds)
      measure_round();
    for (const std::size_t bytes : sizes()) verify(bytes);
    finish();
    return std::move(results_);
  }

 private:
  void describe() {
    results_.mode = settings_.mode;
    results_.cpu = cpu_model();
    results_.cores = static_cast<int>(cpus_.size());
    results_.last_cache_bytes = caches_.last_bytes;
    results_.private_cache_bytes = caches_.private_bytes;
    results_.arena_bytes = arena_.bytes();
    results_.working_set_bytes = caches_.private_bytes / 2;
    results_.sweep_bytes = std::min(4 * kMiB, settings_.largest_bytes);
    results_.processor_bytes = std::min(kMiB, settings_.largest_bytes);
    results_.disturb_bytes = std::min(2 * caches_.private_bytes, settings_.largest_bytes);
    results_.set_up_bytes = kMiB;
    results_.copy = kCopyNames[copy_method];
  }

  bool in_time() const { return static_cast<double>(now_ns() - begin_ns_) < settings_.limit_s * 1e9; }

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> list;
    for (std::size_t bytes = 1; bytes <= settings_.largest_bytes;
         bytes *= static_cast<std::size_t>(settings_.size_step))
      list.push_back(bytes);
    return list;
  }

  Site site() const {
    Site site;
    site.arena = &arena_;
    site.working_set_bytes = results_.working_set_bytes;
    site.crowded = cpus_.size() < 2;
    if (!site.crowded) {
      site.cpus[0] = cpus_[0];
      site.cpus[1] = cpus_[1];
    }
    return site;
  }

  bool wanted(const MechanismInfo& info) const {
    return settings_.only.empty() ||
           std::find(settings_.only.begin(), settings_.only.end(), info.name) != settings_.only.end();
  }

  void start_pairs() {
    for (const MechanismInfo& info : mechanisms()) {
      if (!wanted(info)) continue;
      Measured measured;
      measured.info = &info;
      measured.chunk_bytes = info.chunk_bytes;
      results_.mechanisms.push_back(std::move(measured));
    }
    for (Measured& measured : results_.mechanisms) {
      pairs_.push_back(std::make_unique<Pair>(*measured.info, site()));
      Seat seat{pairs_.back().get(), &measured};
      measured.started = prepare(seat, measured.chunk_bytes);
      seats_.push_back(seat);
      if (!measured.started) {
        measured.why = seat.pair->why();
        std::fprintf(stderr, "bench_transfer: %s is left out: %s\n", measured.info->name.c_str(), measured.why.c_str());
      }
    }
  }

  Order order(Command command, std::size_t bytes) const {
    Order order{};
    order.command = command;
    order.bytes = bytes;
    order.walk = walk_;
    return order;
  }

  // Gives an order, advances the walk and counts checks. A failure ends only this mechanism.
  bool carry_out(const Seat& seat, Order order) {
    if (!seat.pair->alive()) return false;
    order.chunk_bytes = order.chunk_bytes != 0 ? order.chunk_bytes : seat.measured->chunk_bytes;
    if (!seat.pair->carry_out(order, kLimitMs)) {
      seat.measured->why = seat.pair->why();
      return false;
    }
    for (const Outcome* outcome : {&seat.pair->local(), &seat.pair->remote()}) {
      seat.measured->checks += outcome->checks;
      seat.measured->failures += outcome->failures;
    }
    walk_ = {seat.pair->local().next_source, seat.pair->local().next_dest, seat.pair->local().laps};
    return true;
  }

  bool prepare(const Seat& seat, std::size_t chunk_bytes) {
    Order one = order(Command::prepare, 0);
    one.chunk_bytes = chunk_bytes;
    return carry_out(seat, one);
  }

  // Runs the task for all seats; each round begins with another one.
  template <class Task>
  void in_turn(Task task) {
    ++turn_;
    for (std::size_t i = 0; i < seats_.size(); ++i) task(seats_[(i + turn_) % seats_.size()]);
  }

  void verify(std::size_t bytes) {
    in_turn([&](const Seat& seat) { carry_out(seat, order(Command::verify, bytes)); });
  }

  std::string state_of(const Outcome& outcome) const {
    if (cpus_.size() < 2) return "shared";
    const auto name = [this](double ns) {
      return std::string(ns > kDisturbedNs ? "mixed" : ns > settings_.far_ns ? "far" : "near");
    };
    const std::string before = name(outcome.probe_before_ns);
    return before == name(outcome.probe_after_ns) ? before : "mixed";
  }

  void time_into(const Seat& seat, std::size_t bytes, double budget_ms, Timing& timing) {
    Order one = order(Command::time, bytes);
    one.budget_ms = budget_ms;
    if (!carry_out(seat, one)) return;
    const Series& series = seat.pair->local().series[0];
    if (series.count == 0) return;
    const double us = median_of({series.value, series.value + series.count}) / 1000;
    timing.by_state[state_of(seat.pair->local())].push_back(us);
    timing.samples += series.count;
  }

  // Tries buffers and cells of every size; selects the smallest one within 3 % of the best.
  void find_chunks() {
    for (int round = 0; round < 2 * settings_.rounds; ++round)
      for (std::size_t chunk = 1024; chunk <= std::min(kMiB, results_.sweep_bytes); chunk *= 2)
        in_turn([&](const Seat& seat) {
          if (seat.measured->info->chunk_bytes == 0 || !prepare(seat, chunk)) return;
          time_into(seat, results_.sweep_bytes, settings_.budget_ms, seat.measured->sweep[chunk]);
        });
    for (const Seat& seat : seats_) {
      Measured& measured = *seat.measured;
      if (!seat.pair->alive() || measured.sweep.empty()) continue;
      measured.chunk_bytes = best_chunk(measured);
      prepare(seat, measured.chunk_bytes);
    }
  }

  // Over all states: a sweep has too few rounds to separate them.
  static std::size_t best_chunk(const Measured& measured) {
    std::map<std::size_t, double> us;
    double best = 0;
    for (const auto& [chunk, timing] : measured.sweep) {
      Samples all;
      for (const auto& [state, samples] : timing.by_state) all.insert(all.end(), samples.begin(), samples.end());
      if (all.empty()) continue;
      us[chunk] = median_of(all);
      if (best == 0 || us[chunk] < best) best = us[chunk];
    }
    for (const auto& [chunk, time] : us)
      if (time <= best * 1.03) return chunk;
    return measured.chunk_bytes;
  }

  void measure_round() {
    for (const std::size_t bytes : sizes())
      in_turn([&](const Seat& seat) { time_into(seat, bytes, settings_.budget_ms, seat.measured->times[bytes]); });
    in_turn([&](const Seat& seat) { measure_set_up(seat); });
    in_turn([&](const Seat& seat) { measure_processor(seat); });
    in_turn([&](const Seat& seat) { measure_cache(seat); });
    in_turn([&](const Seat& seat) { measure_help(seat); });
    in_turn([&](const Seat& seat) { measure_overlap(seat); });
  }

  // Both processes take part; the slower one counts.
  void measure_set_up(const Seat& seat) {
    Order one = order(Command::set_up, results_.set_up_bytes);
    one.count = settings_.budget_ms < 5 ? 2 : 5;
    if (!carry_out(seat, one)) return;
    SetUp& set_up = seat.measured->set_up;
    Samples* const into[] = {&set_up.init_us, &set_up.register_us, &set_up.deregister_us, &set_up.finalize_us};
    for (int i = 0; i < 4; ++i) {
      double slower = 0;
      for (const Outcome* outcome : {&seat.pair->local(), &seat.pair->remote()}) {
        const Series& series = outcome->series[i];
        slower = std::max(slower, median_of({series.value, series.value + series.count}) / 1000);
      }
      into[i]->push_back(slower);
    }
  }

  const Outcome& source(const Seat& seat) const {
    return seat.measured->info->direction == Direction::put ? seat.pair->local() : seat.pair->remote();
  }
  const Outcome& dest(const Seat& seat) const {
    return seat.measured->info->direction == Direction::put ? seat.pair->remote() : seat.pair->local();
  }

  void measure_processor(const Seat& seat) {
    Order one = order(Command::processor, results_.processor_bytes);
    one.count = settings_.budget_ms < 5 ? 4 : 20;
    if (!carry_out(seat, one)) return;
    seat.measured->source_cpu_us.push_back(source(seat).series[0].value[0] / 1000);
    seat.measured->dest_cpu_us.push_back(dest(seat).series[0].value[0] / 1000);
  }

  static void add_all(const Series& series, Samples& samples) {
    samples.insert(samples.end(), series.value, series.value + series.count);
  }

  void measure_cache(const Seat& seat) {
    Order one = order(Command::disturb, results_.disturb_bytes);
    one.count = settings_.budget_ms < 5 ? 2 : 8;
    if (!carry_out(seat, one)) return;
    const std::pair<const Outcome*, Cache*> sides[] = {{&source(seat), &seat.measured->source_cache},
                                                       {&dest(seat), &seat.measured->dest_cache}};
    for (const auto& [outcome, cache] : sides) {
      add_all(outcome->series[0], cache->warm_ns);
      add_all(outcome->series[1], cache->evicted_ns);
      add_all(outcome->series[2], cache->after_ns);
    }
  }

  void measure_help(const Seat& seat) {
    for (const std::size_t bytes : kHelpBytes) {
      const std::size_t size = std::min(bytes, settings_.largest_bytes);
      if (carry_out(seat, order(Command::help, size))) add_all(seat.pair->local().series[0], seat.measured->help[size]);
    }
  }

  // If the target must help, its own work cannot overlap with the transfer.
  void measure_overlap(const Seat& seat) {
    if (cpus_.size() < 2 || seat.measured->help.empty() || !one_sided(*seat.measured)) return;
    const Figure waited = median(seat.measured->help.rbegin()->second);
    if (!waited || *waited > 0.5) return;
    if (carry_out(seat, order(Command::overlap, results_.processor_bytes)))
      add_all(seat.pair->remote().series[0], seat.measured->overlap);
  }

  // Measures the three copy methods within one process, from one arena to the other.
  void measure_copies() {
    const Mapping source(arena_.source_fd(), arena_.bytes());
    const Mapping dest(arena_.dest_fd(), arena_.bytes());
    for (const char* name : kCopyNames) results_.copies.push_back({name, {}});
    for (std::size_t bytes = kLineBytes; bytes <= std::min(4 * kMiB, settings_.largest_bytes); bytes *= 4)
      for (int method = 0; method < kCopyMethods; ++method) {
        Samples& samples = results_.copies[static_cast<std::size_t>(method)].mib_per_s[bytes];
        const std::int64_t end = now_ns() + static_cast<std::int64_t>(settings_.budget_ms * 1e6);
        do {
          const Transfer transfer = walk_.next(bytes, arena_.bytes());
          const std::int64_t begin = now_ns();
          copy_bytes(method, dest.region().base + transfer.dest, source.region().base + transfer.source, bytes);
          const double us = static_cast<double>(now_ns() - begin) / 1000;
          samples.push_back(*mib_per_s(bytes, std::max(us, 1e-3)));
        } while (now_ns() < end && samples.size() < kMaxSamples);
      }
  }

  void finish() {
    seats_.clear();
    pairs_.clear();
    results_.state = common_state(results_.mechanisms);
    results_.wall_s = static_cast<double>(now_ns() - begin_ns_) / 1e9;
  }

  Settings settings_;
  std::int64_t begin_ns_;
  std::vector<int> cpus_;
  CacheSizes caches_;
  Arena arena_;
  Results results_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::vector<Seat> seats_;
  Walk walk_;
  std::size_t turn_ = 0;
};

}  // namespace

Results measure_all(const Settings& settings) { return Plan(settings).run(); }

}  // namespace shmemx::bench
