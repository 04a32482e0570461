// What runs and what the program has done before shmem_init, while its static data move into shared memory: no store is
// lost, and pages stay as the program has set them. A scenario as argument; exit status 0 is success.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <shmem.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../support/expect.hpp"

namespace {

using test_support::failures;

constexpr std::size_t kPage = std::size_t{64} << 10;  // a multiple of every page size

alignas(kPage) char pages[16 * kPage];
alignas(kPage) char filled[4 * kPage] = {1};
char much[64 << 20];  // makes the move take a while

int right() { return (shmem_my_pe() + 1) % shmem_n_pes(); }
int left() { return (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes(); }

bool is_symmetric(const volatile void* object) {
  return shmem_addr_accessible(const_cast<const void*>(object), right()) != 0;
}

// A put to a global arrives where the globals are symmetric, and one to the heap in any case.
void use_library(bool has_globals) {
  static long global;
  auto* const heap = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  EXPECT(is_symmetric(&global) == has_globals);
  for (long* const word : {heap, &global}) {
    if (word == &global && !has_globals) continue;
    shmem_long_p(word, 50 + shmem_my_pe(), right());
    shmem_barrier_all();
    EXPECT(*word == 50 + left());
  }
  shmem_free(heap);
}

std::vector<std::string> dispositions() {
  std::vector<std::string> all;
  for (int number = 1; number < 65; ++number) {
    struct sigaction action {};
    const bool is_known = sigaction(number, nullptr, &action) == 0;
    all.push_back(is_known ? std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)) + " " +
                                 std::to_string(action.sa_flags)
                           : "");
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  all.emplace_back(reinterpret_cast<const char*>(&mask), 8);
  return all;
}

// ---- Threads ----

constexpr std::size_t kThreads = 3;
std::array<volatile long, kThreads> counts{1, 1, 1};
std::array<volatile long, kThreads> zero_counts;
std::atomic<bool> stop{false};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
bool is_ready = false;
sem_t semaphore;

void join(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
}

// Threads that write globals and wait on objects in globals, and threads that begin and end.
void busy_threads() {
  std::array<long*, kThreads> own;  // memory that stays where it is
  std::vector<std::thread> threads;
  sem_init(&semaphore, 0, 0);
  for (std::size_t i = 0; i < kThreads; ++i) {
    own[i] = new long(0);
    threads.emplace_back([i, count = own[i]] {
      for (; !stop.load(std::memory_order_relaxed); ++*count) {
        counts[i] = counts[i] + 1;
        zero_counts[i] = zero_counts[i] + 1;
      }
    });
  }
  threads.emplace_back([] {
    while (sem_wait(&semaphore) != 0) {
    }
  });
  threads.emplace_back([] {
    pthread_mutex_lock(&mutex);
    while (!is_ready) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
  });
  threads.emplace_back([] {
    while (!stop.load()) std::thread([] { usleep(100); }).join();
  });
  std::memset(much, 1, sizeof much);
  usleep(10'000);
  const auto before = dispositions();
  shmem_init();
  EXPECT(dispositions() == before);
  use_library(true);
  stop = true;
  sem_post(&semaphore);
  pthread_mutex_lock(&mutex);
  is_ready = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  join(threads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    EXPECT(counts[i] == *own[i] + 1);
    EXPECT(zero_counts[i] == *own[i]);
    delete own[i];
  }
}

// One PE has a thread that cannot be stopped, and that waits for signals which it blocks: the static data of all PEs
// stay private, and the thread gets no other signal than the program's.
void blocking_thread() {
  const char* const number = std::getenv("SHMEMX_JOB_PE");
  const char* const size = std::getenv("SHMEMX_JOB_SIZE");
  const bool is_last = number != nullptr && size != nullptr && std::atoi(number) + 1 == std::atoi(size);
  int got = 0;
  std::atomic<bool> blocks{false};
  sigset_t all;
  sigfillset(&all);
  std::vector<std::thread> threads;
  if (is_last)
    threads.emplace_back([&all, &got, &blocks] {
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      blocks = true;
      sigwait(&all, &got);
    });
  while (is_last && !blocks) usleep(100);
  const auto before = dispositions();
  shmem_init();
  EXPECT(dispositions() == before);
  use_library(false);
  if (is_last) {
    pthread_kill(threads[0].native_handle(), SIGUSR1);
    join(threads);
    EXPECT(got == SIGUSR1);
  }
}

// ---- Handlers of signals ----

volatile long in_data = 1;
volatile long in_zeros;
volatile long* in_private;

void handled_signals() {
  in_private = static_cast<long*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(much, 1, sizeof much);
  struct sigaction action {};
  action.sa_handler = [](int) {
    in_data = in_data + 1;
    in_zeros = in_zeros + 1;
    *in_private = *in_private + 1;
  };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 500}, {0, 500}};
  const itimerval never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  shmem_init();
  use_library(true);
  if (fork() == 0) _exit(0);
  while (wait(nullptr) < 0 && errno == EINTR) {
  }
  use_library(true);
  setitimer(ITIMER_REAL, &never, nullptr);
  EXPECT(in_data == *in_private + 1);
  EXPECT(in_zeros == *in_private);
}

// ---- Pages that the program has changed ----

sigjmp_buf after_fault;
bool faults(volatile char* page) {
  if (sigsetjmp(after_fault, 1) != 0) return true;
  page[0] = 5;
  return false;
}

void protected_pages() {
  struct Page {
    char* begin;
    int protection;
  };
  const Page all[] = {{pages + kPage, PROT_NONE},
                      {pages + 3 * kPage, PROT_READ},
                      {filled + kPage, PROT_NONE},
                      {filled + 2 * kPage, PROT_READ | PROT_EXEC}};
  for (const Page& page : all) {
    if (page.begin > filled && page.begin < filled + sizeof filled) page.begin[9] = 'f';
    EXPECT(mprotect(page.begin, kPage, page.protection) == 0);
  }
#if defined(__x86_64__)
  constexpr unsigned char kReturn42[] = {0xb8, 42, 0, 0, 0, 0xc3};
  EXPECT(mprotect(filled + 2 * kPage, kPage, PROT_READ | PROT_WRITE) == 0);
  std::memcpy(filled + 2 * kPage, kReturn42, sizeof kReturn42);
  EXPECT(mprotect(filled + 2 * kPage, kPage, PROT_READ | PROT_EXEC) == 0);
#endif
  shmem_init();
  struct sigaction action {};
  action.sa_handler = [](int number) { siglongjmp(after_fault, number); };
  sigaction(SIGSEGV, &action, nullptr);
  for (const Page& page : all) EXPECT(faults(page.begin));
#if defined(__x86_64__)
  EXPECT(reinterpret_cast<int (*)()>(filled + 2 * kPage)() == 42);
#endif
  EXPECT(!faults(pages + 2 * kPage));
  EXPECT(mprotect(filled + kPage, kPage, PROT_READ) == 0);
  EXPECT(filled[kPage + 9] == 'f');
  use_library(true);
}

// Pages over which the program has mapped something else stay what they are, and are not symmetric; neither is what it
// has unmapped.
void replaced_pages() {
  char* const own = pages + 2 * kPage;
  const int file = memfd_create("of the program", 0);
  EXPECT(ftruncate(file, kPage) == 0);
  auto* const other = static_cast<volatile char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  EXPECT(mmap(own, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == own);
  EXPECT(munmap(pages + 5 * kPage, 2 * kPage) == 0);
  own[3] = 'a';
  shmem_init();
  other[4] = 'b';
  EXPECT(static_cast<volatile char*>(own)[3] == 'a' && static_cast<volatile char*>(own)[4] == 'b');
  for (const std::size_t page : {2U, 5U, 6U}) {
    EXPECT(!is_symmetric(pages + page * kPage));
    EXPECT(shmem_ptr(pages + page * kPage + 1, right()) == nullptr);
  }
  for (char* const object : {pages + kPage, pages + 3 * kPage, pages + 8 * kPage, pages}) {
    EXPECT(is_symmetric(object));
    shmem_char_p(object, static_cast<char>(shmem_my_pe() + 1), right());
    shmem_barrier_all();
    EXPECT(*object == left() + 1);
  }
  use_library(true);
}

// ---- Stacks in static data ----

alignas(64) char stack[256 << 10];
alignas(64) char signal_stack[64 << 10];
ucontext_t main_context;
ucontext_t fiber;

// The program starts the library in a fiber whose stack is a static array, among signals that are handled on another
// one, while a thread runs on a third.
void stacks_in_static_data() {
  static char thread_stack[256 << 10];
  const stack_t alternate{signal_stack, 0, sizeof signal_stack};
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { in_data = in_data + 1; };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 500}, {0, 500}};
  const itimerval never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, thread_stack, sizeof thread_stack);
  const auto work = [](void* result) -> void* {
    long sum = 0;
    for (long i = 0; !stop.load(); ++i) sum += i - sum;
    *static_cast<long*>(result) = sum;
    return result;
  };
  long result = 0;
  EXPECT(pthread_create(&thread, &attributes, work, &result) == 0);
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = sizeof stack;
  fiber.uc_link = &main_context;
  makecontext(
      &fiber, [] { shmem_init(); }, 0);
  swapcontext(&main_context, &fiber);
  use_library(true);
  stop = true;
  void* returned = nullptr;
  EXPECT(pthread_join(thread, &returned) == 0 && returned == &result);
  setitimer(ITIMER_REAL, &never, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } scenarios[] = {{"busy_threads", busy_threads},       {"blocking_thread", blocking_thread},
                   {"handled_signals", handled_signals}, {"protected_pages", protected_pages},
                   {"replaced_pages", replaced_pages},   {"stacks_in_static_data", stacks_in_static_data}};
  for (const auto& scenario : scenarios) {
    if (argc < 2 || std::strcmp(argv[1], scenario.name) != 0) continue;
    scenario.run();
    shmem_finalize();
    return failures == 0 ? 0 : 1;
  }
  std::fprintf(stderr, "start: unknown scenario\n");
  return 2;
}
