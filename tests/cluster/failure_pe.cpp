// failure_pe PHASE FAULT: PEs that are in the middle of PHASE when the last one fails.
//   FAULT   kill: the last PE is killed; fork: it forks a child, which lives on, and is killed; exit: it exits with
//           status 3; none: the test itself causes the fault; anything else is a request to vhosts: "cut h1"
// The last PE does not take part in the phase, so the others are in it when the fault happens.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "request_fault.hpp"

namespace {

constexpr std::size_t kLongBytes = 64 << 10;

long word;
long lock_word;
unsigned char area[kLongBytes];
long reduced[2];
long victims_process;
shmem_ctx_t own_context = SHMEM_CTX_INVALID;

int victim() { return shmem_n_pes() - 1; }

// Gives the others time to enter the phase; the result does not depend on it.
[[noreturn]] void fall(const std::string& fault) {
  ::usleep(150'000);
  if (fault == "fork" && ::fork() == 0) {
    for (;;) ::pause();  // until vhosts ends
  }
  if (fault == "kill" || fault == "fork") ::kill(::getpid(), SIGKILL);
  if (fault == "exit") _exit(3);
  while (fault == "none") ::pause();  // until the fault that the test causes
  std::printf("the fault comes\n");
  std::fflush(stdout);
  request_fault(fault);
  for (;;) ::pause();
}

std::vector<unsigned char>& source() {
  static std::vector<unsigned char> bytes(kLongBytes, 7);
  return bytes;
}

void nothing() {}

void put_for_ever() {
  for (;;) shmem_putmem(area, source().data(), kLongBytes, victim());
}
void put_nbi_for_ever() {
  for (;;) shmem_long_put_nbi(&word, &reduced[0], 1, victim());
}
void get_for_ever() {
  for (;;) shmem_getmem(source().data(), area, kLongBytes, victim());
}
void quiet_for_ever() {
  for (;;) {
    shmem_long_p(&word, 1, victim());
    shmem_quiet();
  }
}
// The network is not looked at before the PE has ended. Only on one host.
void quiet_after_end() {
  while (::kill(static_cast<pid_t>(victims_process), 0) == 0) ::usleep(1000);
  quiet_for_ever();
}
void quiet_private_for_ever() {
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &own_context) != 0) std::abort();
  for (;;) {
    shmem_ctx_long_p(own_context, &word, 1, victim());
    shmem_ctx_quiet(own_context);
  }
}
void atomics_for_ever() {
  for (;;) shmem_long_atomic_fetch_add(&word, 1, victim());
}
void wait_until() { shmem_long_wait_until(&lock_word, SHMEM_CMP_EQ, -1); }
void barrier() { shmem_barrier_all(); }
void collective() { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &reduced[1], &reduced[0], 1); }
void take_lock() { shmem_set_lock(&lock_word); }
void hold_lock() { shmem_set_lock(&lock_word); }
void name_process() {
  for (int pe = 0; pe < victim(); ++pe) shmem_long_p(&victims_process, ::getpid(), pe);
}
void allocate() { (void)shmem_malloc(100); }
void finalize() { shmem_finalize(); }

struct Phase {
  const char* name;
  bool is_connected;  // the PEs have sent something to the last one before
  void (*prepare_victim)();
  void (*others)();
};
const Phase kPhases[] = {
    {"connect", false, nothing, quiet_for_ever},
    {"put", true, nothing, put_for_ever},
    {"put_nbi", true, nothing, put_nbi_for_ever},
    {"get", true, nothing, get_for_ever},
    {"quiet", true, nothing, quiet_for_ever},
    {"atomic", true, nothing, atomics_for_ever},
    {"wait_until", true, nothing, wait_until},
    {"barrier", true, nothing, barrier},
    {"collective", true, nothing, collective},
    {"lock", true, hold_lock, take_lock},
    {"private", true, nothing, quiet_private_for_ever},
    {"ended", true, name_process, quiet_after_end},
    {"malloc", true, nothing, allocate},
    {"finalize", true, nothing, finalize},
};

int run(const Phase& phase, const std::string& fault) {
  shmem_init();
  if (phase.is_connected) {
    shmem_long_p(&word, 1, victim());
    shmem_quiet();
  }
  const bool falls = shmem_my_pe() == victim();
  if (falls) phase.prepare_victim();
  shmem_barrier_all();
  if (falls) fall(fault);
  phase.others();
  for (;;) ::pause();  // finalize returns on this PE, but the job has lost another one
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::strcmp(argv[1], "init") == 0) {
    const char* const pe = std::getenv("PMI_RANK");
    const char* const size = std::getenv("PMI_SIZE");
    if (pe != nullptr && size != nullptr && std::atoi(pe) + 1 == std::atoi(size)) fall(argv[2]);
    shmem_init();
    return 0;
  }
  for (const Phase& phase : kPhases) {
    if (std::strcmp(argv[1], phase.name) == 0) return run(phase, argv[2]);
  }
  std::fprintf(stderr, "failure_pe: no phase '%s'\n", argv[1]);
  return 2;
}
