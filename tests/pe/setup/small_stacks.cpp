// Start, all kinds of routines and end on stacks of 16 KiB: of threads, and of a fiber that goes on in another thread
// at each turn. Below each stack there is no memory. Exit status 0 is success.
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>

#include "../../support/expect.hpp"

namespace {

using test_support::failures;

constexpr std::size_t kStackBytes = 16384;  // the least that POSIX threads may have
constexpr std::size_t kMany = 20000;
constexpr std::size_t kFew = 300;

long counter;
long lock_word;
std::uint64_t arrived;
long from[kMany];
long to[kMany];
float floats_from[kMany];
float floats_to[kMany];

char* make_stack() {
  constexpr std::size_t kGuardBytes = std::size_t{128} << 10;
  auto* const memory =
      static_cast<char*>(mmap(nullptr, kGuardBytes + kStackBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + kGuardBytes, kStackBytes, PROT_READ | PROT_WRITE);
  return memory + kGuardBytes;
}

void use_collectives() {
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, kMany);
  shmem_float_prod_reduce(SHMEM_TEAM_WORLD, floats_to, floats_from, kMany);
  shmem_long_sum_inscan(SHMEM_TEAM_WORLD, to, from, kMany);
  shmem_float_sum_exscan(SHMEM_TEAM_WORLD, floats_to, floats_from, kMany);
  shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, kMany, 0);
  const auto each = static_cast<std::size_t>(kFew / shmem_n_pes());
  shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, each);
  shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, each);
  shmem_team_t team = SHMEM_TEAM_INVALID;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team) == 0);
  shmem_team_sync(team);
  shmem_team_destroy(team);
}

void use_messages(int right, int left) {
  shmemx_status_t status{};
  EXPECT(shmemx_sendrecv(from, sizeof from, right, 5, to, sizeof to, left, 5, &status) == 0);
}

void use_library() {
  const int n_pes = shmem_n_pes();
  const int right = (shmem_my_pe() + 1) % n_pes;
  const int left = (shmem_my_pe() + n_pes - 1) % n_pes;
  auto* const heap = static_cast<char*>(shmem_malloc(1 << 20));
  shmem_long_atomic_inc(&counter, right);
  shmem_putmem(heap, heap + (1 << 19), 1 << 19, right);
  shmem_putmem_signal(heap, heap + (1 << 19), 70000, &arrived, 1, SHMEM_SIGNAL_ADD, right);
  shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, 1);
  shmem_long_iput(to, from, 3, 2, 1000, right);
  shmem_long_iget(to, from, 2, 3, 1000, right);
  shmem_set_lock(&lock_word);
  shmem_clear_lock(&lock_word);
  use_messages(right, left);
  use_collectives();
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(0, &context) == 0) {
    shmem_ctx_long_p(context, &to[0], 1, right);
    shmem_ctx_quiet(context);
    shmem_ctx_destroy(context);
  }
  shmem_free(heap);
  arrived = 0;
  shmem_barrier_all();
}

void* start(void*) {
  int provided = -1;
  EXPECT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
  use_library();
  return nullptr;
}
void* go_on(void*) {
  use_library();
  return nullptr;
}
void* end(void*) {
  use_library();
  shmem_finalize();
  return nullptr;
}

void run(void* (*call)(void*)) {
  static char* const stack = make_stack();
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  EXPECT(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0);
  EXPECT(pthread_create(&thread, &attributes, call, nullptr) == 0);
  pthread_join(thread, nullptr);
}

constexpr int kTurns = 4;
ucontext_t fiber;
ucontext_t* resumer = nullptr;

void run_fiber() {
  for (int turn = 0; turn < kTurns; ++turn) {
    use_library();
    swapcontext(&fiber, resumer);
  }
}

void* resume(void*) {
  ucontext_t own;
  resumer = &own;
  swapcontext(&own, &fiber);
  return nullptr;
}

}  // namespace

int main() {
  run(start);
  run(go_on);
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = make_stack();
  fiber.uc_stack.ss_size = kStackBytes;
  makecontext(&fiber, run_fiber, 0);
  for (int turn = 0; turn < kTurns; ++turn) {
    pthread_t thread;
    pthread_create(&thread, nullptr, resume, nullptr);
    pthread_join(thread, nullptr);
  }
  shmem_barrier_all();
  EXPECT(counter == 2 + kTurns);
  run(end);
  return failures == 0 ? 0 : 1;
}
