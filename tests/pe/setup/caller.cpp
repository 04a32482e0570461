// caller SCENARIO N: starts N processes without a launcher, which start the library by shmemx_init_attr: allgather and
// barrier use memory that the processes share. Prints "ok" and returns 0 if all have passed.
#include <shmemx.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kMostPes = 64;
constexpr std::size_t kMostBytes = 65536;

// What the processes share: anonymous memory that is mapped before they are forked.
struct Shared {
  std::atomic<int> arrived{0};
  std::atomic<int> turn{0};
  std::atomic<int> abort_calls{0};
  std::atomic<int> abort_status{-1};
  std::atomic<pid_t> pids[kMostPes]{};
  char data[kMostPes][kMostBytes];
};

Shared* shared = nullptr;
int n_pes = 0;
int me = -1;
bool may_be_called = false;
long static_word = 0;  // symmetric

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "process %d: FAILED: %s\n", me, what);
  ::_exit(3);
}

int meet(void* user) {
  check(may_be_called, "a function of the caller is called after the start");
  check(user == shared, "the functions get their pointer");
  const int turn = shared->turn.load();
  if (shared->arrived.fetch_add(1) + 1 == n_pes) {
    shared->arrived.store(0);
    shared->turn.fetch_add(1);
  }
  while (shared->turn.load() == turn) ::usleep(100);
  return 0;
}

int gather(const void* mine, void* all, std::size_t bytes, void* user) {
  check(bytes >= 1 && bytes <= kMostBytes, "allgather of 1 to 65536 bytes");
  std::memcpy(shared->data[me], mine, bytes);
  meet(user);
  for (int pe = 0; pe < n_pes; ++pe) std::memcpy(static_cast<char*>(all) + pe * bytes, shared->data[pe], bytes);
  return meet(user);
}

void end_all(int status, void* user) {
  check(user == shared, "abort gets its pointer");
  shared->abort_calls.fetch_add(1);
  shared->abort_status.store(status);
  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe != me) ::kill(shared->pids[pe].load(), SIGKILL);
  }
}

void start(void (*abort)(int, void*)) {
  shmemx_init_attr_t attributes{};
  attributes.bytes = sizeof attributes;
  attributes.my_pe = me;
  attributes.n_pes = n_pes;
  attributes.thread_level = SHMEM_THREAD_MULTIPLE;
  attributes.allgather = gather;
  attributes.barrier = meet;
  attributes.abort = abort;
  attributes.user = shared;
  int provided = -1;
  may_be_called = true;
  const int result = shmemx_init_attr(&attributes, &provided);
  may_be_called = false;
  check(result == SHMEMX_SUCCESS, shmemx_error_text(result));
  check(provided == SHMEM_THREAD_MULTIPLE && shmem_my_pe() == me && shmem_n_pes() == n_pes, "level and numbers");
}

void work() {
  auto* const words = static_cast<long*>(shmem_calloc(static_cast<std::size_t>(n_pes), sizeof(long)));
  for (int pe = 0; pe < n_pes; ++pe) {
    shmem_long_p(&words[me], me + 100, pe);
    shmem_long_atomic_add(&static_word, me + 1, pe);
  }
  shmem_barrier_all();
  for (int pe = 0; pe < n_pes; ++pe) check(words[pe] == pe + 100, "puts into the heap");
  check(static_word == n_pes * (n_pes + 1L) / 2, "additions in static data");
  shmem_barrier_all();
  static_word = 0;
  shmem_free(words);
}

int be_a_pe(const std::string& scenario) {
  shared->pids[me].store(::getpid());
  if (scenario == "work") {
    for (int life = 0; life < 2 * n_pes; ++life) {
      if (life % n_pes == me) ::usleep(2000);  // the others' messages arrive while this PE starts once more
      start(end_all);
      work();
      shmem_finalize();
    }
  } else if (scenario == "leave") {
    start(end_all);
    work();  // and exits without shmem_finalize
  } else if (scenario == "diagnostic" || scenario == "diagnostic_without_abort") {
    start(scenario == "diagnostic" ? end_all : nullptr);
    work();
    if (me == 0) shmem_long_p(&static_word, 1, n_pes);  // not a PE
    shmem_barrier_all();
  } else {
    check(false, "no such scenario");
  }
  return 0;
}

// Returns the exit status of a process, 100 and the signal if it died of one.
int status_of(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return 200;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int judge(const std::string& scenario, const std::vector<pid_t>& pids) {
  bool passed = true;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const int status = status_of(pids[i]);
    const int others = scenario == "diagnostic" ? 100 + SIGKILL : scenario == "work" || scenario == "leave" ? 0 : 1;
    const bool expected = status == others || (i == 0 && others != 0 && status == 1);
    if (!expected) std::fprintf(stderr, "FAILED: process %zu ended with %d\n", i, status);
    passed = passed && expected;
  }
  const int calls = shared->abort_calls.load();
  const int expected_calls = scenario == "diagnostic" ? 1 : 0;
  if (calls != expected_calls || (calls != 0 && shared->abort_status.load() != 1)) {
    std::fprintf(stderr, "FAILED: abort was called %d times, at last with %d\n", calls, shared->abort_status.load());
    passed = false;
  }
  if (passed) std::puts("ok");
  return passed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  n_pes = argc == 3 ? std::atoi(argv[2]) : 0;
  if (n_pes < 1 || n_pes > kMostPes) return 2;
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  shared = new (memory) Shared;
  std::vector<pid_t> pids;
  for (int pe = 0; pe < n_pes; ++pe) {
    const pid_t pid = ::fork();
    if (pid < 0) return 2;
    if (pid == 0) {
      me = pe;
      std::exit(be_a_pe(argv[1]));
    }
    pids.push_back(pid);
  }
  return judge(argv[1], pids);
}
