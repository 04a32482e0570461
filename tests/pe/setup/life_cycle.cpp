// Start and end of the library (section 9.1, 9.2): a program with a scenario as its argument. Exit status 0 is success.
#include <dirent.h>
#include <fcntl.h>
#include <pshmem.h>
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../../support/expect.hpp"

namespace {

using test_support::failures;

long global_word = 3;

bool initialised() {
  int flag = -1;
  shmem_query_initialized(&flag);
  return flag != 0;
}

// Open descriptors and what each refers to.
std::map<int, std::string> descriptors() {
  std::map<int, std::string> all;
  DIR* const dir = opendir("/proc/self/fd");
  if (dir == nullptr) return all;
  while (const dirent* const entry = readdir(dir)) {
    char target[256] = "";
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(dir)) continue;
    if (readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) > 0) all[fd] = target;
  }
  closedir(dir);
  return all;
}

int open_descriptors() { return static_cast<int>(descriptors().size()); }

int mappings() {
  int lines = 0;
  FILE* const maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return -1;
  for (int c; (c = std::fgetc(maps)) != EOF;) lines += c == '\n';
  std::fclose(maps);
  return lines;
}

std::vector<std::string> dispositions() {
  std::vector<std::string> all;
  for (int number = 1; number < 65; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    all.push_back(std::to_string(number) + ":" + std::to_string(reinterpret_cast<unsigned long>(action.sa_handler)) +
                  ":" + std::to_string(action.sa_flags));
  }
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number < 65; ++number) all.push_back(sigismember(&blocked, number) == 1 ? "blocked" : "open");
  return all;
}

// Uses every kind of operation once, as a check after each shmem_init.
void use_library(long round) {
  const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
  auto* const word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  EXPECT(word != nullptr);
  shmem_long_p(word, round + me, right);
  shmem_barrier_all();
  EXPECT(*word == round + left);
  shmem_long_p(&global_word, round * 2 + me, right);
  shmem_barrier_all();
  EXPECT(global_word == round * 2 + left);
  shmem_team_t team = SHMEM_TEAM_INVALID;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, nullptr, 0, &team) == 0);
  EXPECT(shmem_team_sync(team) == 0);
  shmem_team_destroy(team);
  static long sync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], in, sum;  // SHMEM_SYNC_VALUE is 0
  in = me + round;
  shmem_long_sum_to_all(&sum, &in, 1, 0, 0, n, work, sync);
  EXPECT(sum == n * (n - 1) / 2 + n * round);
  static long lock;
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  shmem_free(word);
}

// Sections 9.1.1 and 9.1.4: shmem_init after shmem_finalize is legal; no resource may accumulate.
void repeated() {
  int descriptors = 0, maps = 0, passing = 0;
  for (int round = 0; round < 100; ++round) {
    EXPECT(!initialised());
    if (round % 2 == 0)
      shmem_init();
    else
      pshmem_init();
    EXPECT(initialised());
    use_library(round);
    // The number of connections may vary while some are being set up or closed.
    passing = shmem_team_n_pes(SHMEM_TEAM_SHARED) != shmem_n_pes() ? shmem_n_pes() : 0;
    if (round % 2 == 0)
      shmem_finalize();
    else
      pshmem_finalize();
    EXPECT(!initialised());
    if (round == 5) {
      descriptors = open_descriptors();
      maps = mappings();
    }
  }
  EXPECT(std::abs(open_descriptors() - descriptors) <= passing);
  EXPECT(mappings() <= maps + 2);
}

// Only the last finalize ends the library; the others act as barrier_all.
void nested() {
  for (int depth = 0; depth < 100; ++depth) {
    shmem_init();
    EXPECT(initialised());
  }
  use_library(1);
  static long arrived;
  for (int depth = 0; depth < 99; ++depth) {
    shmem_long_atomic_inc(&arrived, 0);
    shmem_finalize();
    EXPECT(initialised());
    EXPECT(shmem_long_atomic_fetch(&arrived, 0) >= static_cast<long>(depth + 1) * shmem_n_pes());
  }
  use_library(2);
  shmem_finalize();
  EXPECT(!initialised());
}

// Section 9.1.4: the last finalize completes all operations; memory that the program has not freed is no error.
void leaky() {
  shmem_init();
  const int n = shmem_n_pes();
  auto* const block = static_cast<int*>(shmem_malloc(4096));
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, nullptr, 0, &team);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  shmem_ctx_create(0, &ctx);
  static int source[1024];
  static int dest[1024];
  for (int i = 0; i < 1024; ++i) source[i] = shmem_my_pe() + i;
  shmem_int_put_nbi(block, source, 1024, (shmem_my_pe() + 1) % n);
  shmem_int_put_nbi(dest, source, 1024, (shmem_my_pe() + 1) % n);
  const int left = (shmem_my_pe() + n - 1) % n;
  shmem_finalize();
  for (int i = 0; i < 1024; ++i) EXPECT(dest[i] == left + i);
}

void thread_levels() {
  for (const int requested :
       {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE}) {
    int provided = -1, level = -1;
    EXPECT((requested % 2 == 0 ? shmem_init_thread : pshmem_init_thread)(requested, &provided) == 0);
    EXPECT(provided >= requested && provided <= SHMEM_THREAD_MULTIPLE);
    shmem_query_thread(&level);
    EXPECT(level == provided);
    // Callable from any thread at any level, section 9.2.2.
    pthread_t thread;
    level = -1;
    pthread_create(
        &thread, nullptr,
        [](void* out) -> void* {
          if (initialised()) shmem_query_thread(static_cast<int*>(out));
          return nullptr;
        },
        &level);
    pthread_join(thread, nullptr);
    EXPECT(level == provided);
    use_library(requested);
    shmem_finalize();
  }
}

// Section 9.1.13: any number of calls, no finalize needed, the end is collective.
void old_start() {
  start_pes(0);
  start_pes(17);
  EXPECT(initialised());
  use_library(4);
  // PE 0 exits last; the others wait for it inside exit, since finalize is collective.
  if (shmem_my_pe() == 0) usleep(200000);
}

void old_start_at_exit() {
  start_pes(0);
  std::atexit([] { global_word = 99; });
  use_library(5);
  std::exit(failures == 0 ? 0 : 1);
}

// Return from main, or exit from a handler, without finalize.
void no_finalize() {
  shmem_init();
  use_library(6);
}

// PE 0 sleeps between the library's exit handler, which runs first, and this one. The others wait in shmem_finalize
// meanwhile and must not report it as lost.
void finalize_in_exit_handler() {
  std::atexit([] {
    if (shmem_my_pe() == 0) usleep(30'000);
    shmem_finalize();
    if (initialised()) _exit(77);
  });
  shmem_init();
  use_library(7);
  std::exit(failures == 0 ? 0 : 1);
}

// The main thread ends first, and another one continues and returns: then the process ends, although threads of the
// library may still run.
void end_main_thread(void* (*rest)(void*)) {
  int provided = -1;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  EXPECT(pthread_create(&thread, nullptr, rest, nullptr) == 0);
  pthread_exit(nullptr);
}

void main_thread_ends() {
  end_main_thread([](void*) -> void* {
    use_library(11);
    shmem_finalize();
    if (failures != 0) _exit(1);
    return nullptr;
  });
}

void main_thread_ends_no_finalize() {
  end_main_thread([](void*) -> void* {
    use_library(12);
    if (failures != 0) _exit(1);
    return nullptr;
  });
}

// The library installs no signal handler and blocks no signal.
void signals_untouched() {
  const auto before = dispositions();
  shmem_init();
  EXPECT(dispositions() == before);
  use_library(8);
  EXPECT(dispositions() == before);
  shmem_finalize();
  EXPECT(dispositions() == before);
}

bool is_handed_on(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

// The library holds few descriptors, sets close-on-exec on all of them, and a second shmem_init adds none.
// Descriptors that the program had open before are left unchanged.
// Between nodes a network holds some, and one for each connected PE; they stay open for the next shmem_init.
void descriptors_returned() {
  const int own = memfd_create("a folder of shmemx", 0);
  const auto inherited = descriptors();
  const int before = open_descriptors();
  shmem_init();
  const int during = open_descriptors();
  const bool has_network = shmem_team_n_pes(SHMEM_TEAM_SHARED) != shmem_n_pes();
  const int of_network = has_network ? 6 + shmem_n_pes() : 0;
  EXPECT(during <= before + 4 + of_network);
  for (const auto& [fd, target] : descriptors()) {
    const auto old = inherited.find(fd);
    const bool is_new = old == inherited.end() || old->second != target;
    if (is_new || target.rfind("/memfd:shmemx", 0) == 0) EXPECT(!is_handed_on(fd));
  }
  EXPECT(is_handed_on(own));
  use_library(9);
  shmem_finalize();
  const int after = open_descriptors();
  EXPECT(after <= during + of_network);
  shmem_init();
  use_library(10);
  shmem_finalize();
  EXPECT(has_network ? open_descriptors() <= before + 4 + of_network : open_descriptors() == after);
}

// A program that closes all descriptors, as daemons do, and opens files of its own under these numbers: nothing is
// written to them, and children still get their copy of the static data. On one node, where nothing needs a descriptor.
void descriptors_closed() {
  shmem_init();
  if (shmem_team_n_pes(SHMEM_TEAM_SHARED) != shmem_n_pes()) return shmem_finalize();
  for (int fd = 3; fd < 256; ++fd) close(fd);
  constexpr std::size_t kBytes = std::size_t{64} << 20;  // where the arena has its heaps, too
  constexpr char kText[] = "of the program";
  int own[8];
  for (int& fd : own) {
    fd = memfd_create("own", 0);
    EXPECT(ftruncate(fd, kBytes) == 0);
    for (std::size_t at = 0; at < kBytes; at += kBytes / 64)
      EXPECT(pwrite(fd, kText, sizeof kText, static_cast<off_t>(at)) == sizeof kText);
  }
  use_library(11);
  global_word = 77;
  const pid_t child = fork();
  if (child == 0) {
    const bool is_copy = global_word == 77;
    global_word = 78;
    _exit(is_copy ? 0 : 1);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(global_word == 77);
  shmem_finalize();
  for (const int fd : own) {
    for (std::size_t at = 0; at < kBytes; at += kBytes / 64) {
      char text[sizeof kText] = "";
      EXPECT(pread(fd, text, sizeof text, static_cast<off_t>(at)) == sizeof text && std::strcmp(text, kText) == 0);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } scenarios[] = {{"repeated", repeated},
                   {"nested", nested},
                   {"leaky", leaky},
                   {"thread_levels", thread_levels},
                   {"old_start", old_start},
                   {"old_start_at_exit", old_start_at_exit},
                   {"no_finalize", no_finalize},
                   {"finalize_in_exit_handler", finalize_in_exit_handler},
                   {"main_thread_ends", main_thread_ends},
                   {"main_thread_ends_no_finalize", main_thread_ends_no_finalize},
                   {"signals_untouched", signals_untouched},
                   {"descriptors_returned", descriptors_returned},
                   {"descriptors_closed", descriptors_closed}};
  for (const auto& scenario : scenarios) {
    if (argc > 1 && std::strcmp(argv[1], scenario.name) == 0) {
      EXPECT(!initialised());
      scenario.run();
      return failures == 0 ? 0 : 1;
    }
  }
  std::fprintf(stderr, "life_cycle: unknown scenario\n");
  return 2;
}
