// Handlers of fork that the program has registered before shmem_init see their own process's globals, whoever registers
// them: a lock taken before the fork is released once in each process, and what a child's handler writes is the
// child's.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

// What one set of handlers has done in this process.
struct Handlers {
  pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  volatile long prepared = 0;
  volatile long in_parent = 0;
  volatile long in_child = 0;
  volatile int failed = 0;

  void prepare() {
    failed = failed | pthread_mutex_lock(&mutex);
    prepared = prepared + 1;
  }
  void parent() {
    in_parent = in_parent + 1;
    failed = failed | pthread_mutex_unlock(&mutex);
  }
  void child() {
    in_child = in_child + 1;
    mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;  // which knows its owner as a thread of the parent
  }
};
// Registered in .preinit_array, in a constructor, and after shmem_init.
Handlers handlers[3];

template <int I>
void add_handlers() {
  pthread_atfork([] { handlers[I].prepare(); }, [] { handlers[I].parent(); }, [] { handlers[I].child(); });
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)() = add_handlers<0>;
[[gnu::constructor]] void in_constructor() { add_handlers<1>(); }

// Returns the status of a child of fork that runs `run`, or 1000 + signal.
template <class Run>
int in_child(const Run& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

constexpr std::size_t kPage = std::size_t{64} << 10;  // a multiple of every page size
alignas(kPage) char pages[6 * kPage];

}  // namespace

PE_TEST(handlers_write_the_globals_of_their_process) {
  add_handlers<2>();
  constexpr long kForks = 10;
  for (long i = 1; i <= kForks; ++i) {
    const int status = in_child([i] {
      for (const Handlers& these : handlers)
        if (these.prepared != i || these.in_parent != i - 1 || these.in_child != 1 || these.failed != 0) return 9;
      return 0;
    });
    if (!CHECK_EQUAL(status, 0)) break;
  }
  for (const Handlers& these : handlers) {
    CHECK_EQUAL(long{these.prepared}, kForks);
    CHECK_EQUAL(long{these.in_parent}, kForks);
    CHECK_EQUAL(long{these.in_child}, 0L);
    CHECK_EQUAL(int{these.failed}, 0);
  }
}

// The lock is taken in a handler, so a child never sees it taken by another thread, and the parent loses no addition.
PE_TEST(a_lock_taken_in_a_handler_stays_exclusive) {
  static volatile long sum;
  static std::atomic<bool> stop;
  std::array<long, 2> own{};
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&own, i] {
      for (; !stop; ++own[i]) {
        pthread_mutex_lock(&handlers[0].mutex);
        sum = sum + 1;
        pthread_mutex_unlock(&handlers[0].mutex);
      }
    });
  }
  for (int i = 0; i < 15; ++i) CHECK_EQUAL(in_child([] { return pthread_mutex_trylock(&handlers[0].mutex); }), 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(long{sum}, own[0] + own[1]);
}

// A child gets its parent's pages as they are at the fork, also those that the program has protected or replaced.
PE_TEST(a_child_has_the_protections_and_mappings_of_its_parent) {
  char* const guard = pages + kPage;
  char* const constant = pages + 3 * kPage;
  char* const both = pages + 5 * kPage;
  constant[7] = 'c';
  CHECK_EQUAL(mprotect(guard, kPage, PROT_NONE), 0);
  CHECK_EQUAL(mprotect(constant, kPage, PROT_READ), 0);
  CHECK(mmap(both, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == both);
  const auto store = [](volatile char* page) {
    return in_child([page] {
      signal(SIGSEGV, SIG_DFL);
      page[7] = 'x';
      return 0;
    });
  };
  CHECK_EQUAL(store(guard), 1000 + SIGSEGV);
  CHECK_EQUAL(store(constant), 1000 + SIGSEGV);
  CHECK_EQUAL(in_child([constant] { return constant[7] == 'c' ? 0 : 1; }), 0);
  CHECK_EQUAL(store(both), 0);
  CHECK_EQUAL(int{both[7]}, int{'x'});
  CHECK_EQUAL(store(pages + 2 * kPage), 0);
  CHECK_EQUAL(int{pages[2 * kPage + 7]}, 0);
  mprotect(guard, 3 * kPage, PROT_READ | PROT_WRITE);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The limit leaves no room for the copy.
PE_TEST(a_child_without_a_copy_ends_with_a_line) {
  int text[2];
  long page_count = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (!CHECK(file != nullptr && std::fscanf(file, "%ld", &page_count) == 1 && pipe(text) == 0)) return;
  std::fclose(file);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit tight{static_cast<rlim_t>(page_count) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)), before.rlim_max};
  const int own_errors = dup(STDERR_FILENO);
  dup2(text[1], STDERR_FILENO);
  setrlimit(RLIMIT_AS, &tight);
  const int status = in_child([] { return 0; });
  setrlimit(RLIMIT_AS, &before);
  dup2(own_errors, STDERR_FILENO);
  close(own_errors);
  close(text[1]);
  char line[400] = "";
  CHECK(read(text[0], line, sizeof line - 1) > 0);
  close(text[0]);
  CHECK_EQUAL(status, 1);
  CHECK(std::strstr(line, "needs a private copy of its parent's static data") != nullptr);
  CHECK_EQUAL(in_child([] { return 0; }), 0);
}
#endif
