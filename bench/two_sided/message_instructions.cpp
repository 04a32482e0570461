// How many instructions does a PE execute for an 8-byte send and for a receive whose message is there? Runs under
// `valgrind --tool=callgrind` like ../instructions.cpp: the counter is off but around the calls; what switching it
// costs is in the reference. PE 1 sends what PE 0 will receive, and takes what it sent, while PE 0 does not count.
#include <valgrind/callgrind.h>

#include "../support/program.hpp"
#include "messages.hpp"

namespace {
using namespace shmemx::bench;

constexpr long kShort = 40;
constexpr long kLong = 200;
constexpr int kThere = 1, kBack = 2;

enum class What { reference, send, receive, both };

// PE 0 learns PE 1's progress from the control words, not from a message.
void await_step(const Work& work, int pe, std::int64_t step) {
  while (work.control(pe).done.load(std::memory_order_acquire) < step) sched_yield();  // edge `done`
}
void reach_step(const Work& work, std::int64_t step) {
  work.control(work.pe).done.store(step, std::memory_order_release);  // edge `done`
}

void counted(Work& work, What what, long value) {
  CALLGRIND_TOGGLE_COLLECT;
  if (what == What::send || what == What::both) send(&value, sizeof value, work.peer, kThere);
  if (what == What::receive || what == What::both) receive(&work.shared->value.value, sizeof value, work.peer, kBack);
  CALLGRIND_TOGGLE_COLLECT;
}

// Sends a message each way. Uncounted parts run outside of the counted ones.
void lead(Work& work, What what, long iterations, std::int64_t& step) {
  for (long i = 0; i < iterations; ++i) {
    await_step(work, 1, ++step);  // PE 1 has sent
    if (what == What::receive || what == What::reference) send(&i, sizeof i, work.peer, kThere);
    counted(work, what, i);
    if (what == What::send || what == What::reference)
      receive(&work.shared->value.value, sizeof(long), work.peer, kBack);
    reach_step(work, step);
  }
}

void answer(Work& work, long iterations, std::int64_t& step) {
  for (long i = 0; i < iterations; ++i) {
    send(&i, sizeof i, work.peer, kBack);
    reach_step(work, ++step);
    await_step(work, 0, step);
    receive(&work.shared->value.value, sizeof(long), work.peer, kThere);
  }
}

// `label`: none for the first run, which resolves symbols.
void count_loop(Work& work, const char* label, What what, long iterations, std::int64_t& step) {
  if (work.pe != 0) {
    answer(work, iterations, step);
    return;
  }
  CALLGRIND_ZERO_STATS;
  lead(work, what, iterations, step);
  if (label != nullptr) CALLGRIND_DUMP_STATS_AT((std::string(label) + " " + std::to_string(iterations)).c_str());
}

void count(Work& work, const char* name, What what, std::int64_t& step) {
  count_loop(work, nullptr, what, kShort, step);
  count_loop(work, name, what, kShort, step);
  count_loop(work, name, what, kLong, step);
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  job.sync();
  CALLGRIND_TOGGLE_COLLECT;  // off
  std::int64_t step = 0;
  count(work, "reference", What::reference, step);
  count(work, "sendrecv", What::both, step);
  count(work, "send", What::send, step);
  count(work, "recv", What::receive, step);
  job.sync();
  return 0;
}
