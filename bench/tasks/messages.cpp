// Two-sided messages as a scheduler on top of them would use them: a receive that is posted before or after its message
// arrives; one that is posted behind others; windows of messages one way and both ways. Built for MPI, too, with
// BENCH_MPI.
//   messages [--rounds n] [--case tasks_unexpected|tasks_posted|tasks_blocking|tasks_bandwidth]
#include <array>

#include "../two_sided/messages.hpp"
#include "processes.hpp"
#include "program.hpp"

namespace {
using namespace shmemx::bench;

constexpr int kTag = 7, kAnswerTag = 8, kOtherTags = 1000;

enum class Posted { before, after, blocking };

// Half of a round trip between PE 0 and PE 1, in microseconds.
double half_trip_us(std::size_t bytes, Posted posted, int count) {
  static std::array<char, 16384> source{}, dest{};
  const int peer = 1 - me();
  MessageRequest request;
  const auto post = [&] {
    if (posted == Posted::before) start_receive(&request, dest.data(), bytes, peer, kTag);
  };
  const auto take = [&] {
    if (posted == Posted::before) return complete(&request, 1);
    if (posted == Posted::after) await_unexpected(peer, kTag);
    receive(dest.data(), bytes, peer, kTag);
  };
  post();
  synchronize();
  const std::int64_t begin = now_ns();
  for (int i = 0; i < count; ++i) {
    if (me() != 0) take();
    if (me() != 0 && i + 1 < count) post();
    send(source.data(), bytes, peer, kTag);
    if (me() == 0) take();
    if (me() == 0 && i + 1 < count) post();
  }
  const double us = seconds_since(begin) * 1e6;
  synchronize();
  return us / count / 2;
}

// Short samples, so that most of them have the cores for themselves.
constexpr int kTrips = 50;
int samples_of(const Options& options) { return options.rounds <= 1 ? 2 : 20 * options.rounds; }

void measure_unexpected(const Options& options) {
  for (const std::size_t bytes : {1024, 4096, 16384}) {
    std::vector<double> before, after;
    half_trip_us(bytes, Posted::after, kTrips);  // not counted: connections and memory
    for (int i = 0; i < samples_of(options); ++i) {
      before.push_back(half_trip_us(bytes, Posted::before, kTrips));
      after.push_back(half_trip_us(bytes, Posted::after, kTrips));
    }
    if (me() != 0) continue;
    print_figure({"tasks_expected", bytes, "us", "posted before arrival"}, pes(), before, "");
    const Figure figure{"tasks_unexpected", bytes, "us", "posted after arrival"};
    print_figure(figure, pes(), after, "");
    print_figure(figure, pes(), before, kComparator);
  }
}

// Receives with other tags, posted on both PEs before the measured ones.
class Others {
 public:
  explicit Others(int count) : requests_(static_cast<std::size_t>(count)), words_(requests_.size()) {
    for (int i = 0; i < count; ++i)
      start_receive(&requests_[static_cast<std::size_t>(i)], &words_[static_cast<std::size_t>(i)], sizeof(long),
                    1 - me(), kOtherTags + i);
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;
  ~Others() {
    const long word = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i)
      send(&word, sizeof word, 1 - me(), kOtherTags + static_cast<int>(i));
    complete(requests_.data(), requests_.size());
  }

 private:
  std::vector<MessageRequest> requests_;
  std::vector<long> words_;
};

void measure_posted(const Options& options) {
  constexpr std::array kReceives{1, 5, 9, 17, 33};
  for (const std::size_t bytes : {16, 64, 256}) {
    std::array<std::vector<double>, kReceives.size()> samples;
    for (int i = 0; i < samples_of(options); ++i)
      for (std::size_t i = 0; i < kReceives.size(); ++i) {
        const Others others(kReceives[i] - 1);
        samples[i].push_back(half_trip_us(bytes, Posted::before, kTrips));
      }
    for (std::size_t i = 0; me() == 0 && i < kReceives.size(); ++i) {
      const Figure figure{"tasks_posted", bytes, "us", std::to_string(kReceives[i]) + " receives"};
      print_figure(figure, pes(), samples[i], "");
      print_figure(figure, pes(), samples[0], kComparator);
    }
  }
}

// Receives that block: what the bypass of posted receives saves is the difference to a job without it.
void measure_blocking(const Options& options) {
  for (const std::size_t bytes : {8, 256, 4096}) {
    std::vector<double> samples;
    for (int i = 0; i < samples_of(options); ++i) samples.push_back(half_trip_us(bytes, Posted::blocking, kTrips));
    if (me() == 0) print_figure({"tasks_blocking", bytes, "us", "blocking"}, pes(), samples, "");
  }
}

constexpr std::size_t kWindow = 16;

// The lower half of the PEs send windows of messages to the upper half, or each to the other. Returns GB/s of all.
double bandwidth(std::size_t bytes, bool both_ways, int windows) {
  static std::vector<char> source(kWindow << 20, 1), dest(kWindow << 20);
  const int half = pes() / 2;
  const bool is_lower = me() < half;
  const int peer = is_lower ? me() + half : me() - half;
  std::array<MessageRequest, 2 * kWindow> requests;
  synchronize();
  const std::int64_t begin = now_ns();
  for (int w = 0; w < windows; ++w) {
    std::size_t open = 0;
    for (std::size_t i = 0; i < kWindow && (both_ways || !is_lower); ++i)
      start_receive(&requests[open++], dest.data() + i * bytes, bytes, peer, kTag);
    for (std::size_t i = 0; i < kWindow && (both_ways || is_lower); ++i)
      start_send(&requests[open++], source.data() + i * bytes, bytes, peer, kTag);
    complete(requests.data(), open);
    // The sender of one way learns that the window has arrived; both ways the other's messages tell.
    if (!both_ways && is_lower) receive(dest.data(), 0, peer, kAnswerTag);
    if (!both_ways && !is_lower) send(source.data(), 0, peer, kAnswerTag);
  }
  synchronize();
  return static_cast<double>(windows) * kWindow * static_cast<double>(bytes) * half * (both_ways ? 2 : 1) /
         static_cast<double>(now_ns() - begin);
}

void measure_bandwidth(const Options& options) {
  for (const std::size_t bytes : {std::size_t{16} << 10, std::size_t{128} << 10, std::size_t{1} << 20}) {
    const int windows = options.rounds <= 1 ? 1 : static_cast<int>((std::size_t{128} << 20) / kWindow / bytes);
    std::vector<double> one, both;
    bandwidth(bytes, true, 1);  // not counted: connections and memory
    for (int round = 0; round < options.rounds; ++round) {
      one.push_back(bandwidth(bytes, false, windows));
      both.push_back(bandwidth(bytes, true, windows));
    }
    if (me() != 0) continue;
    print_figure({"tasks_one_way", bytes, "GB/s", "one way", true}, pes(), one, "");
    const Figure figure{"tasks_both_ways", bytes, "GB/s", "both ways together", true};
    print_figure(figure, pes(), both, "");
    print_figure(figure, pes(), one, kComparator);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  begin_job(&argc, &argv);
  if (pes() == 2 && options.wants("tasks_unexpected")) measure_unexpected(options);
  if (pes() == 2 && options.wants("tasks_posted")) measure_posted(options);
  if (pes() == 2 && options.wants("tasks_blocking")) measure_blocking(options);
  if (options.wants("tasks_bandwidth")) measure_bandwidth(options);
  end_job();
  return 0;
}
