// How many lines of memory that are not in the cache does a receive touch whose message is there, by the number of
// receives that are posted beside it? Runs under `valgrind --tool=callgrind --cache-sim=yes`, like
// ../two_sided/message_instructions.cpp. Before each one the program writes more memory than the simulated cache holds.
// PE 1 sends, and sees by a control word that PE 0 has posted.
#include <valgrind/callgrind.h>

#include <vector>

#include "../support/program.hpp"
#include "../two_sided/messages.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kShort = 20, kLong = 60;
constexpr int kTag = 7, kOtherTags = 1000;
constexpr int kMostReceives = 33;
constexpr std::size_t kOtherBytes = std::size_t{256} << 10;

void await_step(const Work& work, int pe, std::int64_t step) {
  while (work.control(pe).done.load(std::memory_order_acquire) < step) sched_yield();  // edge `done`
}
void reach_step(const Work& work, std::int64_t step) {
  work.control(work.pe).done.store(step, std::memory_order_release);  // edge `done`
}

void fill_cache() {
  static std::vector<char> other(kOtherBytes);
  for (std::size_t i = 0; i < kOtherBytes; i += 64) ++other[i];
  forget_memory();
}

// PE 0 receives behind others; its receive is the last that was posted.
void receive_all(Work& work, long iterations, std::int64_t& step) {
  for (long i = 0; i < iterations; ++i) {
    long word = 0;
    MessageRequest request;
    start_receive(&request, &word, sizeof word, work.peer, kTag);
    reach_step(work, ++step);
    await_step(work, 1, step);  // the message is there
    fill_cache();
    CALLGRIND_TOGGLE_COLLECT;
    complete(&request, 1);
    CALLGRIND_TOGGLE_COLLECT;
  }
}

void send_all(Work& work, long iterations, std::int64_t& step) {
  for (long i = 0; i < iterations; ++i) {
    await_step(work, 0, ++step);
    send(&i, sizeof i, work.peer, kTag);
    reach_step(work, step);
  }
}

void count_loop(Work& work, int receives, long iterations, std::int64_t& step) {
  if (work.pe != 0) return send_all(work, iterations, step);
  CALLGRIND_ZERO_STATS;
  receive_all(work, iterations, step);
  CALLGRIND_DUMP_STATS_AT(("receives_" + std::to_string(receives) + " " + std::to_string(iterations)).c_str());
}

void count(Work& work, int receives, std::int64_t& step) {
  const auto others = static_cast<std::size_t>(receives - 1);
  static MessageRequest requests[kMostReceives];
  static long words[kMostReceives];
  for (std::size_t i = 0; work.pe == 0 && i < others; ++i)
    start_receive(&requests[i], &words[i], sizeof(long), work.peer, kOtherTags + static_cast<int>(i));
  for (const long iterations : {kShort, kShort, kLong}) count_loop(work, receives, iterations, step);
  if (work.pe == 0) return complete(requests, others);
  for (std::size_t i = 0; i < others; ++i) send(words, sizeof(long), work.peer, kOtherTags + static_cast<int>(i));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  job.sync();
  CALLGRIND_TOGGLE_COLLECT;  // off
  std::int64_t step = 0;
  for (const int receives : {1, 5, 9, 13, 17, kMostReceives}) count(work, receives, step);
  job.sync();
  return 0;
}
