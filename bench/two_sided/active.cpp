// Measures an active message and the reply of its handler. The raw program sends a flag there and back.
#include <array>

#include "../support/program.hpp"
#if defined(BENCH_RAW)
#include "../support/raw_gate.hpp"
#else
#include <shmemx/active.h>
#endif

namespace {
using namespace shmemx::bench;

#if defined(BENCH_RAW)

void round_trips(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) raw_round_trip(work);
}
constexpr void (*register_handlers)(Work&) = nullptr;

#else

enum : int { kRequest = 1, kReply = 2 };

long answers = 0;

void answer(int source, const void* payload, std::size_t bytes, void*) {
  shmemx_am_send(source, kReply, payload, bytes);
}
void take_answer(int, const void* payload, std::size_t, void*) { std::memcpy(&answers, payload, sizeof answers); }

void register_handlers(Work&) {
  shmemx_am_register(kRequest, answer, nullptr);
  shmemx_am_register(kReply, take_answer, nullptr);
  shmem_barrier_all();
}

// PE 1 stays in the library until PE 0 releases it.
void round_trips(Work& work, long iterations) {
  const long last = work.sequence += iterations;
  if (work.pe == 0) {
    for (long number = last - iterations + 1; number <= last; ++number) {
      shmemx_am_send(work.peer, kRequest, &number, sizeof number);
      while (answers != number) {
        shmemx_am_poll();
        forget_memory();
      }
    }
    shmem_long_p(&work.shared->flag.value, last, work.peer);
  } else {
    shmem_long_wait_until(&work.shared->flag.value, SHMEM_CMP_EQ, last);
  }
}

#endif

constexpr std::array kCases = {Case{"am_roundtrip", 8, Unit::ns, Role::together, "", one_operation, round_trips,
                                    nullptr, 2, 1, register_handlers}};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, 4096); }
