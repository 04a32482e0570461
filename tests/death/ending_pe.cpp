// Programs that end, or wait until they are killed, in a given way; run by ending_test and kill_test.
// ending_pe WHAT [STATUS]. Each PE prints "ready <pe> <pid>" when it has reached the state that its name says.
#include <pshmem.h>
#include <pthread.h>
#include <shmemx.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

long global_lock;
long global_flag;
int argument = 0;

bool first() { return shmem_my_pe() == 0; }
bool last() { return shmem_my_pe() == shmem_n_pes() - 1; }

void ready() {
  std::printf("ready %d %d\n", shmem_my_pe(), static_cast<int>(getpid()));
  std::fflush(stdout);
}

[[noreturn]] void compute_for_ever() {
  for (volatile long sink = 0;;) sink = sink + 1;
}

// Without a newline or a flush: the text must appear although another PE ends the job.
void leave_unflushed_text() { std::printf("text of pe %d", shmem_my_pe()); }

// PE n-1 ends the job while the others execute something else.
void end_others(void (*wait)()) {
  if (last()) {
    usleep(100000);
    leave_unflushed_text();
    if (argument % 2 == 0)
      shmem_global_exit(argument);
    else
      pshmem_global_exit(argument);
  }
  wait();
}

void in_barrier() {
  if (!first() || shmem_n_pes() == 1) {
    ready();
    shmem_barrier_all();
  }
  if (first()) {
    ready();
    compute_for_ever();
  }
}

void in_wait() {
  ready();
  shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
}

void in_lock() {
  if (first()) shmem_set_lock(&global_lock);
  shmem_barrier_all();
  ready();
  if (first()) compute_for_ever();
  shmem_set_lock(&global_lock);
}

// The last PE holds the lock of PE 0's window.
void in_window_lock() {
  static shmemx_window_description_t own, of_first;
  shmemx_window_t window = SHMEMX_WINDOW_INVALID;
  shmemx_window_expose(nullptr, 0, &window);
  shmemx_window_describe(window, &own);
  shmem_barrier_all();
  shmem_getmem(&of_first, &own, sizeof own, 0);
  if (shmemx_window_attach(&of_first, &window) != 0) _exit(2);
  if (last()) shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE);
  shmem_barrier_all();
  ready();
  if (last()) compute_for_ever();
  shmemx_window_lock(window, SHMEMX_LOCK_EXCLUSIVE);
}

// Small operations gather while they stream.
void in_stream() {
  static long target[1000];
  ready();
  for (unsigned i = 0;; ++i) {
    shmem_long_p(&target[i % 1000], 1, (shmem_my_pe() + 1) % shmem_n_pes());
    if (i % 100'000 == 0) shmem_quiet();
  }
}

void in_quiet() {
  static long target[1000];
  ready();
  for (;;) {
    shmem_long_p(&target[17], 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_quiet();
  }
}

void in_reduce() {
  static long in[4], out[4];
  ready();
  for (;;) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, out, in, 4);
}

void in_get() {
  static long block[1000], here[1000];
  ready();
  for (;;) shmem_long_get(here, block, 1000, (shmem_my_pe() + 1) % shmem_n_pes());
}

void in_malloc() {
  ready();
  for (;;) shmem_free(shmem_malloc(1000));
}

void in_finalize() {
  ready();
  if (first()) compute_for_ever();
  shmem_finalize();
}

void computing() {
  ready();
  compute_for_ever();
}

// ---- The last PE ends with status 0 and without shmem_finalize; the others wait in a routine that needs it ----

void left_in_reduce() {
  static long in[4], out[4];
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, out, in, 4);
}

// The PE that ends is the only one that could have written the word.
void left_in_wait() { shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1); }

void left_in_signal_wait() {
  static uint64_t signal;
  shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
}

// It ends with the lock.
void left_in_lock() { shmem_set_lock(&global_lock); }

// Where the PEs do not share memory the shared team is this PE alone.
void left_in_team_sync() {
  const bool all = shmem_team_n_pes(SHMEM_TEAM_SHARED) == shmem_n_pes();
  shmem_team_sync(all ? SHMEM_TEAM_SHARED : SHMEM_TEAM_WORLD);
}

// A team that the PE is in, made before it ends.
shmem_team_t team_of_all() {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team);
  return team;
}

void left_in_sync_of_new_team() {
  static shmem_team_t team = SHMEM_TEAM_INVALID;
  if (team == SHMEM_TEAM_INVALID) team = team_of_all();
  if (!last()) shmem_team_sync(team);
}

void left_in_broadcast() {
  static long in, out;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, &out, &in, 1, shmem_n_pes() - 1);
}

void left_in_barrier() { shmem_barrier_all(); }
void left_in_finalize() { shmem_finalize(); }
void left_in_malloc() { shmem_malloc(100); }

const struct {
  const char* name;
  void (*run)();
  bool all;  // the last PE takes part at first
} kLeft[] = {{"reduce", left_in_reduce, false},           {"wait", left_in_wait, false},
             {"signal_wait", left_in_signal_wait, false}, {"lock", left_in_lock, false},
             {"team_sync", left_in_team_sync, false},     {"new_team_sync", left_in_sync_of_new_team, true},
             {"broadcast", left_in_broadcast, false},     {"barrier", left_in_barrier, false},
             {"finalize", left_in_finalize, false},       {"malloc", left_in_malloc, false}};

[[noreturn]] void leave_others_in(const char* name) {
  for (const auto& state : kLeft) {
    if (std::strcmp(state.name, name) != 0) continue;
    if (last()) shmem_set_lock(&global_lock);
    shmem_barrier_all();
    if (state.all || !last()) state.run();
    argument == 0 ? std::exit(0) : _exit(0);  // _exit: without the library's end
  }
  std::exit(2);
}

// ---- No PE calls shmem_finalize, which is allowed ----

void return_after_collectives() {
  static long word;
  for (long round = 0; round < 3; ++round) {
    shmem_long_p(&word, round, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
  }
}

// The others use the memory of the last PE, which has returned from main.
void use_pe_that_returns() {
  static long word = 5, block[20000], here[20000];
  if (last()) return;
  const int pe = shmem_n_pes() - 1;
  usleep(100000);
  if (shmem_long_atomic_fetch_add(&word, 1, pe) < 5) std::exit(3);
  for (long& each : here) each = 7;
  if (first()) shmem_long_put(block, here, 20000, pe);
  shmem_quiet();
  if (first() && shmem_long_g(&block[19999], pe) != 7) std::exit(4);
}

// What the last PE has started is complete before it ends.
void put_and_return() {
  static long block[20000], ones[20000];
  static uint64_t arrived;
  for (long& each : ones) each = 1;
  if (last()) {
    shmem_long_put_signal_nbi(block, ones, 20000, &arrived, 1, SHMEM_SIGNAL_SET, 0);
  } else if (first()) {
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    if (block[19999] != 1) std::exit(3);
  }
}

// An implicit finalize after explicit ones has no effect.
void finalize_on_some() {
  shmem_init();  // counted
  if (first()) return;
  shmem_finalize();
  if (!last()) shmem_finalize();
}

// ---- Another thread never releases the lock of a stream ----

FILE* held = nullptr;

void* hold_lock(void*) {
  flockfile(held);
  for (;;) pause();
}

void* read_for_ever(void*) {
  getc(held);
  return nullptr;
}

void hold(FILE* stream, void* (*holder)(void*)) {
  held = stream;
  pthread_t thread;
  pthread_create(&thread, nullptr, holder, nullptr);
  while (ftrylockfile(stream) == 0) {
    funlockfile(stream);
    usleep(1000);
  }
}

// Reads from a pipe into which nothing is written.
FILE* silent_pipe() {
  int ends[2];
  return pipe(ends) == 0 ? fdopen(ends[0], "r") : nullptr;
}

// The last PE ends the job. Text that it has written to other streams is not lost.
void end_beside_reader(void (*end)()) {
  shmem_barrier_all();
  if (last()) {
    hold(silent_pipe(), read_for_ever);
    leave_unflushed_text();
    end();
  }
  shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
}

void global_exit_beside_reader() {
  end_beside_reader([] { shmem_global_exit(argument); });
}
void exit_beside_reader() {
  end_beside_reader([] { std::exit(argument); });
}

void misuse_beside_printer() {
  shmem_barrier_all();
  if (last()) {
    hold(stdout, hold_lock);
    shmem_long_p(&global_flag, 1, shmem_n_pes());
  }
  shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
}

// The process of the PE that ends the job does not exit.
void global_exit_with_stuck_handler() {
  shmem_barrier_all();
  if (last()) {
    std::atexit([] {
      for (;;) pause();
    });
    shmem_global_exit(argument);
  }
  shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
}

// Destructors and error paths of programs call it once more than shmem_init.
void finalize_twice() {
  shmem_finalize();
  shmem_finalize();
  shmem_init();
  shmem_barrier_all();
  shmem_finalize();
  shmem_finalize();
}

// All PEs have connections to each other. The last PE ends with an error.
void exit_of_one() {
  shmem_barrier_all();
  if (last()) std::exit(argument);
  shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
}

// The line of the PE that ends the job is written late, after another PE has ended.
long line_is_due;

ssize_t write_late(void*, const char*, std::size_t bytes) {
  shmem_long_p(&line_is_due, 1, shmem_n_pes() - 1);
  usleep(300000);
  return static_cast<ssize_t>(bytes);
}

[[noreturn]] void end_while_one_writes() {
  shmem_barrier_all();
  if (first()) {
    stdout = fopencookie(nullptr, "w", {nullptr, write_late, nullptr, nullptr});
    std::printf("flushed before the line");
    static long here;
    shmem_long_p(&here, 1, shmem_n_pes());
  }
  shmem_long_wait_until(&line_is_due, SHMEM_CMP_EQ, 1);
  std::_Exit(0);
}

// The last PE ends with an error while PE 0 calls shmem_global_exit(0).
[[noreturn]] void race_of_ends() {
  shmem_barrier_all();
  if (first()) shmem_global_exit(0);
  if (last()) std::exit(argument);
  compute_for_ever();
}

const struct {
  const char* name;
  void (*run)();
} kStates[] = {{"barrier", in_barrier},
               {"wait", in_wait},
               {"lock", in_lock},
               {"window_lock", in_window_lock},
               {"quiet", in_quiet},
               {"stream", in_stream},
               {"reduce", in_reduce},
               {"get", in_get},
               {"malloc", in_malloc},
               {"finalize", in_finalize},
               {"compute", computing},
               {"return_after_collectives", return_after_collectives},
               {"use_pe_that_returns", use_pe_that_returns},
               {"put_and_return", put_and_return},
               {"finalize_on_some", finalize_on_some},
               {"finalize_twice", finalize_twice},
               {"global_exit_beside_reader", global_exit_beside_reader},
               {"exit_beside_reader", exit_beside_reader},
               {"misuse_beside_printer", misuse_beside_printer},
               {"global_exit_with_stuck_handler", global_exit_with_stuck_handler},
               {"exit_of_one", exit_of_one}};

[[noreturn]] void run_state(const char* name) {
  for (const auto& state : kStates)
    if (std::strcmp(state.name, name) == 0) {
      state.run();
      std::exit(0);
    }
  std::exit(2);
}

// Scenarios of the start. Returns false if `what` is none of them.
bool run_start(const char* what) {
  const char* const rank = std::getenv("SHMEMX_JOB_PE");  // set by oshrun
  if (std::strcmp(what, "init") == 0) {                   // PE 0 starts late: the others are inside shmem_init
    std::printf("ready %s %d\n", rank, static_cast<int>(getpid()));
    std::fflush(stdout);
    if (std::atoi(rank) == 0) sleep(20);
    shmem_init();
    return true;
  }
  if (std::strcmp(what, "start_pes_without_one") == 0) {
    if (std::atoi(rank) != 0) start_pes(0);
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argv[1];
  if (argc > 2) argument = std::atoi(argv[2]);
  if (run_start(what)) return 0;
  shmem_init();
  // Before the last PE has sent or received any message.
  if (std::strcmp(what, "leave_at_once") == 0) {
    if (!last()) shmem_barrier_all();
    return 0;
  }
  if (std::strncmp(what, "leave_in_", 9) == 0) leave_others_in(what + 9);
  if (std::strcmp(what, "race_of_ends") == 0) race_of_ends();
  if (std::strcmp(what, "end_while_one_writes") == 0) end_while_one_writes();
  if (std::strncmp(what, "global_exit_", 12) == 0) {
    for (const auto& state : kStates)
      if (std::strcmp(state.name, what + 12) == 0) end_others(state.run);
  }
  if (std::strcmp(what, "all_global_exit") == 0) shmem_global_exit(argument + shmem_my_pe());
  if (std::strcmp(what, "return") == 0) return last() ? argument : 0;
  const std::string what_last_does = what;
  if (what_last_does.ends_with("_while_others_are_in_a_barrier")) {
    if (last() && what_last_does.starts_with("exit_")) std::exit(argument);
    if (last() && what_last_does.starts_with("abort_")) std::abort();
    if (last()) compute_for_ever();
    shmem_barrier_all();
  }
  if (std::strcmp(what, "segv_while_others_wait") == 0) {
    if (last()) raise(SIGSEGV);
    shmem_long_wait_until(&global_flag, SHMEM_CMP_EQ, 1);
  }
  if (std::strcmp(what, "finalize_then_status") == 0) {
    const bool is_last = last();
    shmem_finalize();
    return is_last ? argument : 0;
  }
  run_state(what);
}
