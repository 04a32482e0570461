// Measures long messages that are copied once, through mapped memory or by process_vm_readv, or twice, through a shared
// buffer or the cells of the queue. The raw programs do one copy in the receiver after a flag. SHMEMX_LMT selects the LMT of ours: a job measures one.
#include <sys/uio.h>

#include <array>

#include "../support/program.hpp"
#include "messages.hpp"
#if defined(BENCH_RAW)
#include <sys/prctl.h>

#include "../support/raw_copy.hpp"
#include "../support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBufferBytes = 16 * kMiB;

double two_operations(const Work&) { return 2; }

#if defined(BENCH_RAW)

void tell(Work& work) {
  work.peer_shared->mailbox[0].sequence.store(++work.sequence, std::memory_order_release);  // edge `gate`
}
void await(Work& work) { raw_await(work, work.shared->mailbox[0].sequence, ++work.sequence); }

void copy_mapped(Work& work) { raw_copy(work.method, work.dest, work.peer_source, work.bytes); }

// Symmetric memory of plain processes has one address in all: they are forked after it is mapped.
void copy_through_kernel(Work& work) {
  const iovec here{work.dest, work.bytes};
  const iovec there{work.peer_source, work.bytes};
  const auto process = static_cast<pid_t>(work.peer_shared->value.value);
  if (process_vm_readv(process, &here, 1, &there, 1, 0) != static_cast<ssize_t>(work.bytes)) die("process_vm_readv");
}

template <void (*copy)(Work&)>
void exchange(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) tell(work);
    await(work);
    copy(work);
    if (work.pe != 0) tell(work);
  }
}

// Sends this process's number to the peer, and permits it to read from this process if the system requires that.
void introduce(Work& work) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  work.shared->value.value = getpid();
  raw_meet(work);
}

constexpr auto exchange_mapped = exchange<copy_mapped>;
constexpr auto exchange_cma = exchange<copy_through_kernel>;

#else

constexpr int kTag = 7;
constexpr void (*introduce)(Work&) = nullptr;

void exchange_mapped(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) send(work.source, work.bytes, work.peer, kTag);
    receive(work.dest, work.bytes, work.peer, kTag);
    if (work.pe != 0) send(work.source, work.bytes, work.peer, kTag);
  }
}
constexpr auto exchange_cma = exchange_mapped;

#endif

constexpr Case row(const char* name, void (*kernel)(Work&, long), std::size_t bytes, int raw_methods) {
  return {name, bytes, Unit::gb_per_s, Role::together, "", two_operations, kernel, nullptr, raw_methods, 1, introduce};
}

constexpr std::array kCases = {
    row("lmt_mapped", exchange_mapped, kMiB, 3),      row("lmt_mapped", exchange_mapped, 4 * kMiB, 3),
    row("lmt_mapped", exchange_mapped, 16 * kMiB, 3), row("lmt_cma", exchange_cma, kMiB, 1),
    row("lmt_cma", exchange_cma, 4 * kMiB, 1),        row("lmt_cma", exchange_cma, 16 * kMiB, 1),
    row("lmt_copy", exchange_mapped, kMiB, 3),        row("lmt_copy", exchange_mapped, 4 * kMiB, 3),
    row("lmt_queue", exchange_mapped, kMiB, 3),       row("lmt_queue", exchange_mapped, 4 * kMiB, 3),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kBufferBytes); }
