// Short messages from all PEs to all others at full speed: measures the total rate and the share of the slowest PE.
// Each PE sends to the others in turn and receives from any source; at most kCredit messages of each pair are
// unconfirmed. Lines: the messages of all PEs by time, and those of the PE with the fewest sent as a fraction of the
// mean. The raw program does the same through one ring in shared memory for each pair.
#include <array>

#include "../support/program.hpp"
#include "messages.hpp"

namespace {
using namespace shmemx::bench;

enum Tag : int { kData = 1, kConfirm, kEnd };
constexpr long kCredit = 64;
constexpr long kConfirmEvery = kCredit / 2;
constexpr int kMostPes = 64;

// The counters of one PE for one of the others.
struct Peer {
  long unconfirmed = 0;  // sent to that PE
  long received = 0;     // received from that PE
};

struct Counts {
  std::array<Peer, kMostPes> peers;
  long sent = 0;
  int ended = 0;
};

#if defined(BENCH_RAW)

constexpr std::size_t kRingSlots = 256;  // more than can be outstanding: data, confirmations, an end

// One writer, one reader. Edge `slot`: sequence.store -> sequence.load, the number and tag of a message.
struct Ring {
  struct alignas(64) Slot {
    std::atomic<long> sequence;
    long value;
    int tag;
  };
  Slot slots[kRingSlots];
};

// A ring lies in its reader's memory, one for each writer.
struct Rings {
  Ring* mine = nullptr;
  std::array<long, kMostPes> written{};
  std::array<long, kMostPes> read{};
  int next_source = 0;
};
Rings rings;

void prepare(Work& work) {
  rings.mine = static_cast<Ring*>(work.job->allocate(sizeof(Ring) * static_cast<std::size_t>(work.pes)));
}

void send_word(Work& work, int pe, Tag tag, long value) {
  const long number = rings.written[static_cast<std::size_t>(pe)]++;
  Ring& ring = work.job->remote(rings.mine, pe)[work.pe];
  Ring::Slot& slot = ring.slots[static_cast<std::size_t>(number) % kRingSlots];
  slot.value = value;
  slot.tag = tag;
  slot.sequence.store(number + 1, std::memory_order_release);  // edge `slot`
}

Arrival receive_word(Work& work) {
  for (int tries = 1;; ++tries) {
    const int source = rings.next_source = (rings.next_source + 1) % work.pes;
    long& number = rings.read[static_cast<std::size_t>(source)];
    Ring::Slot& slot = rings.mine[source].slots[static_cast<std::size_t>(number) % kRingSlots];
    if (slot.sequence.load(std::memory_order_acquire) == number + 1) {  // edge `slot`
      ++number;
      return {source, slot.tag};
    }
    if (work.crowded && tries % work.pes == 0) sched_yield();
  }
}

#else

void prepare(Work&) {}
void send_word(Work&, int pe, Tag tag, long value) { send(&value, sizeof value, pe, tag); }
Arrival receive_word(Work&) {
  long value;
  return receive_any(&value, sizeof value);
}

#endif

void take_one(Work& work, Counts& counts) {
  const Arrival arrival = receive_word(work);
  Peer& peer = counts.peers[static_cast<std::size_t>(arrival.source)];
  switch (arrival.tag) {
    case kData:
      if (++peer.received % kConfirmEvery == 0) send_word(work, arrival.source, kConfirm, peer.received);
      break;
    case kConfirm:
      peer.unconfirmed -= kConfirmEvery;
      break;
    default:
      ++counts.ended;
      break;
  }
}

// Sends one message to each PE that has credit; waits for any message if none has.
void send_round(Work& work, Counts& counts) {
  bool sent = false;
  for (int step = 1; step < work.pes; ++step) {
    const int pe = (work.pe + step) % work.pes;
    Peer& peer = counts.peers[static_cast<std::size_t>(pe)];
    if (peer.unconfirmed == kCredit) continue;
    ++peer.unconfirmed;
    ++counts.sent;
    send_word(work, pe, kData, counts.sent);
    sent = true;
  }
  if (!sent) take_one(work, counts);
}

// Returns the number of messages sent by this PE within `ns`. Afterwards all PEs receive the outstanding messages.
long exchange(Work& work, std::int64_t ns) {
  Counts counts;
  const std::int64_t until = now_ns() + ns;
  while (now_ns() < until) send_round(work, counts);
  for (int step = 1; step < work.pes; ++step) send_word(work, (work.pe + step) % work.pes, kEnd, 0);
  const auto is_under_way = [](const Peer& peer) { return peer.unconfirmed >= kConfirmEvery; };
  while (counts.ended < work.pes - 1 || std::any_of(counts.peers.begin(), counts.peers.end(), is_under_way))
    take_one(work, counts);
  return counts.sent;
}

void report(const Work& work, const std::vector<double>& sent, double ns) {
  double all = 0, fewest = sent[0];
  for (const double count : sent) {
    all += count;
    fewest = std::min(fewest, count);
  }
  const double rate = all * 1000 / ns;
  const double share = all > 0 ? fewest * static_cast<double>(sent.size()) / all : 0;
  const auto messages = static_cast<std::size_t>(all);
  print_result({"alltoall_messages", work.pes, 8, "Mops/s", "all", "", {rate, rate, 0, messages}});
  print_result({"alltoall_share", work.pes, 8, "of mean", "fewest", "", {share, share, 0, messages}});
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  const std::size_t ring_bytes = 64 * 256 * static_cast<std::size_t>(options.pes);
  Job job(options.pes, ring_bytes + (std::size_t{1} << 17));
  if (job.pes() > kMostPes) die("too many PEs");
  Work work = make_work(job, 4096);
  work.crowded = job.pes() > static_cast<int>(usable_cpus().size());
  prepare(work);
  pin(options, job.pe(), job.pes());
  const auto ns = static_cast<std::int64_t>(options.limits.budget_ms * 1e6);
  job.sync();
  exchange(work, ns / 10);  // warms up
  job.sync();
  const long sent = exchange(work, ns);
  job.control(job.pe()).iterations = sent;
  job.sync();
  if (job.pe() == 0) {
    std::vector<double> all;
    for (int pe = 0; pe < job.pes(); ++pe) all.push_back(static_cast<double>(job.control(pe).iterations));
    report(work, all, static_cast<double>(ns));
  }
  job.sync();
  return 0;
}
