// The cases for one PE and its peer on another host: the same for this library, for Open MPI's OSHMEM, and for UCX
// and libfabric alone. Each of them provides the loops.
#pragma once

#include <array>

#include "../support/work.hpp"

namespace shmemx::bench {

using Loop = void (*)(Work&, long iterations);

struct Loops {
  Loop pingpong;     // put of 8 bytes and a wait, there and back
  Loop put_quiet;    // put of 8 bytes, complete before the next one
  Loop get;          // `work.bytes`, one after the other
  Loop fadd;         // fetching addition
  Loop put_signal;   // `work.bytes` and a signal, there and back
  Loop put_rate;     // kBurst puts of 8 bytes, all complete at the end of an iteration
  Loop put;          // `work.bytes`, repeated, all complete at the end
  Loop p_rate;       // kStreamed single words by value, all complete at the end of an iteration
  Loop add_rate;     // the same with additions without a result
  Loop signal_rate;  // the same with words that carry a signal
  Loop get_rate;     // kStreamed nonblocking gets of 8 bytes, all complete at the end of an iteration
  Loop fetch_rate;   // the same with fetching additions
};
// The rival that alternates with each loop; null: none.
struct Rivals {
  Loop pingpong = nullptr;
  Loop round_trip = nullptr;
  Loop fetch = nullptr;
  Loop records = nullptr;
  Loop stream_out = nullptr;
  Loop stream_in = nullptr;
};

constexpr std::size_t kLargestBytes = std::size_t{4} << 20;
constexpr long kBurst = 16384;     // puts in one iteration of the rate
constexpr long kStreamed = 10000;  // small operations between two calls of quiet, in programs as they are

inline double there_and_back_operations(const Work&) { return 2; }
inline double burst_operations(const Work&) { return kBurst; }
inline double streamed_operations(const Work&) { return kStreamed; }

constexpr double kLatencySampleNs = 4e5;  // some twenty round trips
constexpr double kStreamSampleNs = 3e6;   // a handful of the largest transfers

constexpr Case one_way(const char* name, std::size_t bytes, Loop loop, Loop rival) {
  return {name, bytes, Unit::ns, Role::together, "",    there_and_back_operations, loop, nullptr,
          2,    1,     nullptr,  nullptr,        rival, kLatencySampleNs};
}
constexpr Case round_trip(const char* name, std::size_t bytes, Loop loop, Loop rival) {
  return {name,    bytes, Unit::ns, Role::together, "",      one_operation, loop,
          nullptr, 2,     1,        nullptr,        nullptr, rival,         kLatencySampleNs};
}
constexpr Case stream(const char* name, std::size_t bytes, Loop loop, Loop rival) {
  return {name, bytes, Unit::gb_per_s, Role::together, "",    one_operation,  loop, nullptr,
          2,    1,     nullptr,        nullptr,        rival, kStreamSampleNs};
}

constexpr Case rate(const char* name, Loop loop, Loop rival, double (*operations)(const Work&)) {
  Case made = stream(name, 8, loop, rival);
  made.unit = Unit::mops_per_s;
  made.operations = operations;
  return made;
}

constexpr auto one_sided_cases(const Loops& loops, const Rivals& rivals) {
  constexpr std::size_t kKiB = 1024;
  return std::array{
      one_way("net_pingpong", 8, loops.pingpong, rivals.pingpong),
      round_trip("net_put_quiet", 8, loops.put_quiet, rivals.round_trip),
      round_trip("net_get", 8, loops.get, rivals.fetch),
      round_trip("net_fadd", 8, loops.fadd, rivals.round_trip),
      one_way("net_put_signal", 8, loops.put_signal, rivals.pingpong),
      rate("net_put_nbi_rate", loops.put_rate, rivals.records, burst_operations),
      rate("net_p_rate", loops.p_rate, nullptr, streamed_operations),
      rate("net_atomic_add_rate", loops.add_rate, nullptr, streamed_operations),
      rate("net_put_signal_rate", loops.signal_rate, nullptr, streamed_operations),
      rate("net_get_nbi_rate", loops.get_rate, nullptr, streamed_operations),
      rate("net_fetch_add_nbi_rate", loops.fetch_rate, nullptr, streamed_operations),
      stream("net_put", kKiB * 1024, loops.put, rivals.stream_out),
      stream("net_get", kKiB * 1024, loops.get, rivals.stream_in),
      stream("net_put", kLargestBytes, loops.put, rivals.stream_out),
      stream("net_get", kLargestBytes, loops.get, rivals.stream_in),
      one_way("net_put_signal", 64, loops.put_signal, rivals.pingpong),
      one_way("net_put_signal", 512, loops.put_signal, rivals.pingpong),
      one_way("net_put_signal", 4 * kKiB, loops.put_signal, rivals.pingpong),
      one_way("net_put_signal", 16 * kKiB, loops.put_signal, rivals.pingpong),
      one_way("net_put_signal", 64 * kKiB, loops.put_signal, rivals.pingpong),
      round_trip("net_get", 512, loops.get, rivals.fetch),
      round_trip("net_get", 4 * kKiB, loops.get, rivals.fetch),
      stream("net_put", 4 * kKiB, loops.put, rivals.stream_out),
      stream("net_put", 16 * kKiB, loops.put, rivals.stream_out),
      stream("net_put", 64 * kKiB, loops.put, rivals.stream_out),
      stream("net_put", 256 * kKiB, loops.put, rivals.stream_out),
      stream("net_get", 16 * kKiB, loops.get, rivals.stream_in),
      stream("net_get", 64 * kKiB, loops.get, rivals.stream_in),
      stream("net_get", 256 * kKiB, loops.get, rivals.stream_in),
  };
}

}  // namespace shmemx::bench
