// Measures puts and gets of 1 KiB to 64 MiB at several distances between source and dest, modulo a page: between a
// large block of malloc and the heap it is often 16, and copies may be slow where it is small. The plain copies that
// are the limit have page-aligned buffers, so each row is judged by the best copy at its best distance.
#include <array>
#include <utility>

#include "support/program.hpp"
#if defined(BENCH_RAW)
#include "support/raw_copy.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kMost = 64 * kMiB;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kSourceOffset = 5;

template <std::size_t Distance>
void put(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    raw_copy(work.method, work.peer_dest, work.source, work.bytes);
#else
    shmem_putmem(work.dest + (kSourceOffset + Distance) % kPage, work.source + kSourceOffset, work.bytes, work.peer);
#endif
  }
#if !defined(BENCH_RAW)
  shmem_quiet();
#endif
}

template <std::size_t Distance>
void get(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
#if defined(BENCH_RAW)
    raw_copy(work.method, work.dest, work.peer_source, work.bytes);
#else
    shmem_getmem(work.dest + (kSourceOffset + Distance) % kPage, work.source + kSourceOffset, work.bytes, work.peer);
#endif
  }
}

struct Distance {
  const char* note;
  void (*put)(Work&, long);
  void (*get)(Work&, long);
};
template <std::size_t Bytes>
constexpr Distance at(const char* note) {
  return {note, put<Bytes>, get<Bytes>};
}

constexpr std::array kDistances = {at<0>("distance 0"),   at<1>("distance 1"),      at<8>("distance 8"),
                                   at<14>("distance 14"), at<16>("distance 16"),    at<24>("distance 24"),
                                   at<48>("distance 48"), at<4080>("distance 4080")};
constexpr std::array kSizes = {kKiB, 4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, kMost};

constexpr auto kCases = [] {
  std::array<Case, 2 * kDistances.size() * kSizes.size()> cases{};
  std::size_t n = 0;
  for (const std::size_t bytes : kSizes) {
    for (const Distance& distance : kDistances) {
      for (const auto& [name, kernel] : {std::pair{"put_at", distance.put}, std::pair{"get_at", distance.get}})
        cases[n++] = {name, bytes, Unit::gb_per_s, Role::alone, distance.note, one_operation, kernel, nullptr, 4};
    }
  }
  return cases;
}();
}  // namespace

// Buffers lie one behind the other. AMD's first cache finds lines by a hash of the address; with two pages after each
// buffer source and dest collide in it, and a copy of a page takes three times as long by any method.
int main(int argc, char** argv) { return run_program(argc, argv, kCases, kMost + 16 * kPage); }
