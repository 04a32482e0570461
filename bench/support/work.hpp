// What a measured loop works on, and the description of a case of a bench program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "job.hpp"

namespace shmemx::bench {

struct alignas(64) Word {
  long value;
};
struct alignas(64) Real {
  double value;
};
struct alignas(64) Mailbox {
  std::atomic<long> sequence;
  long value;
};

// The symmetric words of a PE, each in a line of its own.
struct Shared {
  static constexpr int kSlots = 8;
  Word word;
  Word flag;
  Word value;
  Word result;
  Real real;
  Mailbox mailbox[kSlots];
  Mailbox gate;          // arrivals of the raw programs' barrier, in PE 0
  Mailbox gate_release;  // and its release
};

struct Work {
  Job* job = nullptr;
  Shared* shared = nullptr;       // mine
  Shared* peer_shared = nullptr;  // the peer's, where it is mapped
  std::byte* source = nullptr;    // buffers of the size that the program requested; symmetric if possible
  std::byte* dest = nullptr;
  std::byte* peer_source = nullptr;
  std::byte* peer_dest = nullptr;
  std::size_t bytes = 0;
  int pe = 0;
  int pes = 0;
  int peer = 0;                 // the right neighbour
  int method = 0;               // selects one of several methods, if a program has them
  bool crowded = false;         // more PEs than cores
  long sequence = 0;            // advances equally on all PEs that run a kernel together
  std::int64_t runs_done = 0;   // of PE 0: the expected value of Control::done
  std::int64_t last_order = 0;  // of followers: the last order carried out

  Control& control(int of) const { return job->control(of); }
  long* words() const { return reinterpret_cast<long*>(dest); }
  long* peer_words() const { return reinterpret_cast<long*>(peer_dest); }
};

enum class Unit { ns, us, gb_per_s, mops_per_s };

inline const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::ns:
      return "ns";
    case Unit::us:
      return "us";
    case Unit::gb_per_s:
      return "GB/s";
    case Unit::mops_per_s:
      return "Mops/s";
  }
  return "?";
}
inline bool high_is_good(Unit unit) { return unit == Unit::gb_per_s || unit == Unit::mops_per_s; }

enum class Role {
  alone,    // PE 0 works, its peer touches nothing
  against,  // PE 0 works while its peer runs `companion` on the same words
  together  // all PEs run the kernel
};

struct Case {
  const char* name;
  std::size_t bytes;
  Unit unit;
  Role role;
  const char* note;
  double (*operations)(const Work&);  // measured operations in one iteration of the kernel
  void (*kernel)(Work&, long iterations);
  void (*companion)(Work&);        // a few hundred nanoseconds of it
  int raw_methods;                 // number of methods of the raw program; the best one is the limit
  int peer_methods = 1;            // the same for programs built with another library
  void (*begin)(Work&) = nullptr;  // all PEs, before the samples of the case and after them; not measured
  void (*end)(Work&) = nullptr;
  void (*rival)(Work&,
                long iterations) = nullptr;  // without the library, by all PEs: samples of it alternate with ours
  double sample_ns = 0;                      // minimum length, if the usual one is too short
};
// The note in lines of the rival.
constexpr const char* kRivalNote = "raw";

inline double one_operation(const Work&) { return 1; }

}  // namespace shmemx::bench
