// The queue layer's bench: instructions, latency and rate of its structures, with each of their parts left out in turn,
// beside what the Nemesis papers report. Plain processes on shared memory; of the library only src/nemesis is used.
//   bench_queue [--rounds N] [--output FOLDER] [--only counts|pairs|rates]
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "count.hpp"
#include "crew.hpp"
#include "results.hpp"

namespace {
using namespace shmemx::bench;

constexpr double kSampleNs = 60'000;
constexpr double kRateSampleNs = 2e7;
constexpr double kShortRateSampleNs = 1e6;  // for a smoke test

struct Options {
  int rounds = 300;
  std::string output;
  std::string only;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--counted") {
      run_counted_operations();
      std::exit(0);
    }
    if (i + 1 < argc && argument == "--rounds") {
      options.rounds = std::max(1, std::atoi(argv[++i]));
    } else if (i + 1 < argc && argument == "--output") {
      options.output = argv[++i];
    } else if (i + 1 < argc && argument == "--only") {
      options.only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: bench_queue [--rounds N] [--output FOLDER] [--only counts|pairs|rates]\n");
      std::exit(2);
    }
  }
  return options;
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

// Sessions are scheduled as groups; a raised weight keeps the cores for this one. Ordinary users may not do that.
void raise_weight_of_session() {
  setsid();
  const int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, "-15", 3);
  close(fd);
}

// Returns the number of iterations for a sample that is long enough for the clock. Takes the best of a few runs,
// since a disturbed run seems long enough with hardly any iterations.
long calibrate(Crew& crew, std::size_t variation, int senders, double target_ns) {
  long n = 1;
  for (int i = 0; i < 40; ++i) {
    double ns = crew.time(variation, senders, n);
    for (int again = 0; again < 4; ++again) ns = std::min(ns, crew.time(variation, senders, n));
    if (ns >= target_ns) break;
    n = static_cast<long>(static_cast<double>(n) * std::min(4.0, std::max(1.3, target_ns / std::max(ns, 1.0)))) + 1;
  }
  return n;
}

// One message in ns, or GB/s of long ones.
double figure(const Variation& variation, double ns, long n) {
  const auto messages = static_cast<double>(n);
  if (std::strcmp(variation.kind, "bytes") == 0) return messages * kLongMessageBytes / ns;
  return std::strcmp(variation.kind, "latency") == 0 ? ns / messages / 2 : ns / messages;
}

// The location of pages changes figures by a factor of two, so memory is renewed every few rounds.
constexpr int kRoundsOnSameMemory = 10;

void measure_pairs(const Options& options, Results& results) {
  for (int done = 0; done < options.rounds; done += kRoundsOnSameMemory) {
    Crew crew(pair_variations(), 2);
    const std::vector<Variation>& all = crew.variations();
    std::vector<long> n;
    for (std::size_t v = 0; v < all.size(); ++v) n.push_back(calibrate(crew, v, 1, kSampleNs));
    for (int round = done; round < std::min(done + kRoundsOnSameMemory, options.rounds); ++round) {
      for (std::size_t v = 0; v < all.size(); ++v) {
        const std::string before = crew.state();
        const double ns = crew.time(v, 1, n[v]);
        const bool kept = before != "disturbed" && crew.state() == before;
        results.add(all[v], kept ? before : "disturbed", figure(all[v], ns, n[v]));
      }
    }
  }
}

void measure_rates(const Options& options, Results& results) {
  Crew crew(rate_variations(), kMaxProcesses);
  const std::vector<Variation>& all = crew.variations();
  const int rounds = std::max(1, options.rounds / 30);
  const double sample_ns = options.rounds < 30 ? kShortRateSampleNs : kRateSampleNs;
  for (int senders = 1; senders < kMaxProcesses; ++senders) {
    std::vector<long> n;
    for (std::size_t v = 0; v < all.size(); ++v) n.push_back(calibrate(crew, v, senders, sample_ns));
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t v = 0; v < all.size(); ++v) {
        crew.time(v, senders, 1);  // wakes the senders
        const double ns = crew.time(v, senders, n[v]);
        results.add_rate(all[v], senders, static_cast<double>(n[v] * senders) * 1000 / ns);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Results results;
  if (options.only.empty() || options.only == "counts") results.set_counts(count_instructions(own_path()));
  raise_weight_of_session();
  if (options.only.empty() || options.only == "pairs") measure_pairs(options, results);
  if (options.only.empty() || options.only == "rates") measure_rates(options, results);
  results.print();
  if (!options.output.empty()) results.write(options.output);
  return 0;
}
