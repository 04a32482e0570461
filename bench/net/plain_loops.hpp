// The loops of cases.hpp on a network library alone. Method 0 is messages, method 1 the library's own put, get and
// atomics; the better one counts. With BENCH_RMA_ONLY both are the latter.
//
// A Network offers
//   send(source, bytes)         starts a message; the source does not change before finish_sends()
//   finish_sends()
//   expect(count, bytes)        the next `count` messages have this size and arrive in turn in the buffer `dest`
//   receive()                   waits for the next of them
//   put(bytes), get(bytes)      between the two buffers; started
//   put_word(k)                 the k-th word of the source to its place; started
//   fetch_add()                 on a word of the peer; waits
//   finish()                    all puts are there, all gets here
//   progress()
#pragma once

#include <algorithm>
#include <cstdlib>

#include "../support/program.hpp"
#include "cases.hpp"

namespace shmemx::bench {

constexpr std::size_t kWordBytes = 8;
constexpr long kInFlight = 16;  // long transfers started before the program waits for the oldest

template <class Network>
class PlainLoops {
 public:
  static int main(int argc, char** argv) {
    static constexpr Loops kLoops{pingpong,    put_quiet,           get,      fadd,
                                  ping_signal, put_rate<kBurst>,    put,      put_rate<kStreamed>,
                                  add_rate,    put_rate<kStreamed>, get_rate, add_rate};
    static constexpr auto kCases = [] {
      auto cases = one_sided_cases(kLoops, Rivals{});
      for (Case& one : cases) one.begin = open;
      return cases;
    }();
    return run_program(argc, argv, kCases, kLargestBytes);
  }

 private:
  static inline Network* network = nullptr;

  static void open(Work& work) {
    if (network == nullptr)
      network = new Network(work);  // lives as long as the process, since its peer may still need it
  }
  static bool by_messages(const Work& work) {
    static const bool rma_only = std::getenv("BENCH_RMA_ONLY") != nullptr;
    return work.method == 0 && !rma_only;
  }
  static bool leads(const Work& work) { return work.pe == 0; }

  static void ping_messages(Work& work, long iterations, std::size_t bytes) {
    network->expect(iterations, bytes);
    for (long i = 0; i < iterations; ++i) {
      if (leads(work)) network->send(work.source, bytes);
      network->receive();
      if (!leads(work)) network->send(work.source, bytes);
    }
    network->finish_sends();
  }

  // The last word tells that a put is complete.
  static void ping_puts(Work& work, long iterations) {
    const std::size_t last = work.bytes / sizeof(long) - 1;
    const std::atomic_ref arrived(work.words()[last]);
    for (long i = 0; i < iterations; ++i) {
      ++work.sequence;
      for (const bool sends : {leads(work), !leads(work)}) {
        if (sends) {
          reinterpret_cast<long*>(work.source)[last] = work.sequence;
          network->put(work.bytes);
        } else {
          while (arrived.load(std::memory_order_acquire) != work.sequence) network->progress();  // the network's edge
        }
      }
    }
    network->finish();
    meet(work);
  }

  // Both continue when both are here; a process that serves the other's operations does so until then.
  static void meet(Work& work) { ping_messages(work, 1, kWordBytes); }

  static void pingpong(Work& work, long iterations) {
    if (by_messages(work)) {
      ping_messages(work, iterations, work.bytes);
    } else {
      ping_puts(work, iterations);
    }
  }
  static void ping_signal(Work& work, long iterations) { pingpong(work, iterations); }

  // PE 0 performs `operation`; its peer serves until PE 0 ends the loop.
  template <class Operation>
  static void against_server(Work& work, long iterations, Operation operation) {
    if (leads(work))
      for (long i = 0; i < iterations; ++i) operation(i);
    network->finish();
    meet(work);
  }

  static void put_quiet(Work& work, long iterations) {
    if (by_messages(work)) return ping_messages(work, iterations, kWordBytes);
    against_server(work, iterations, [](long k) {
      network->put_word(k % kBurst);
      network->finish();
    });
  }
  static void fadd(Work& work, long iterations) {
    if (by_messages(work)) return ping_messages(work, iterations, kWordBytes);
    against_server(work, iterations, [](long) { network->fetch_add(); });
  }
  static void get(Work& work, long iterations) {
    if (by_messages(work)) return fetch_by_messages(work, iterations);
    against_server(work, iterations, [&](long) {
      network->get(work.bytes);
      network->finish();
    });
  }
  static void fetch_by_messages(Work& work, long iterations) {
    network->expect(iterations, leads(work) ? work.bytes : kWordBytes);
    for (long i = 0; i < iterations; ++i) {
      if (leads(work)) network->send(work.source, kWordBytes);
      network->receive();
      if (!leads(work)) network->send(work.source, work.bytes);
    }
    network->finish_sends();
  }

  static void stream_messages(Work& work, long count, std::size_t bytes) {
    if (leads(work)) {
      for (long i = 0; i < count; ++i) {
        network->send(work.source, bytes);
        if (i % kInFlight == kInFlight - 1 && bytes > kWordBytes) network->finish_sends();
      }
      network->finish_sends();
    } else {
      network->expect(count, bytes);
      for (long i = 0; i < count; ++i) network->receive();
    }
    meet(work);
  }
  template <long kCount>
  static void put_rate(Work& work, long iterations) {
    if (by_messages(work)) return stream_messages(work, iterations * kCount, kWordBytes);
    against_server(work, iterations, [](long) {
      for (long k = 0; k < kCount; ++k) network->put_word(k);
      network->finish();
    });
  }
  static void add_rate(Work& work, long iterations) {
    if (by_messages(work)) return stream_messages(work, iterations * kStreamed, kWordBytes);
    against_server(work, iterations, [](long) {
      for (long k = 0; k < kStreamed; ++k) network->fetch_add();
    });
  }
  static void get_rate(Work& work, long iterations) {
    if (by_messages(work)) return stream_messages(work, iterations * kStreamed, kWordBytes);
    against_server(work, iterations, [](long) {
      for (long k = 0; k < kStreamed; ++k) network->get(kWordBytes);
      network->finish();
    });
  }
  static void put(Work& work, long iterations) {
    if (by_messages(work)) return stream_messages(work, iterations, work.bytes);
    against_server(work, iterations, [&](long k) {
      network->put(work.bytes);
      if (k % kInFlight == kInFlight - 1) network->finish();
    });
  }
};

}  // namespace shmemx::bench
