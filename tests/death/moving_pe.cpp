// Jobs in which one PE has left while the others go on for a while: they move, though each of them waits most of the
// time. And jobs in which the others wait in vain. Run by moving_test: moving_pe WHAT SECONDS.
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

double seconds = 1;
long flag;
long lock;
uint64_t signal_word;
long counter;

int movers() { return shmem_n_pes() - 1; }  // the last PE leaves

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A token goes round. pass(value, to) passes it, await(last) waits for one that differs from the last and returns it.
// The first PE sends a negative one at the end.
template <class Pass, class Await>
void pass_token(Pass pass, Await await) {
  const int me = shmem_my_pe(), next = (me + 1) % movers();
  const double end = now() + seconds;
  long last = 0;
  for (long round = 1;; ++round) {
    if (me == 0) {
      const long value = now() < end ? round : -round;
      pass(value, next);
      if (value < 0) break;
      last = await(last);
    } else {
      last = await(last);
      pass(last, next);
      if (last < 0) break;
    }
  }
}

void token_by_atomic() {
  pass_token([](long value, int to) { shmem_long_atomic_set(&flag, value, to); },
             [](long last) {
               shmem_long_wait_until(&flag, SHMEM_CMP_NE, last);
               return flag;
             });
}

void token_by_put() {
  pass_token([](long value, int to) { shmem_long_p(&flag, value, to); },
             [](long last) {
               shmem_long_wait_until(&flag, SHMEM_CMP_NE, last);
               return flag;
             });
}

void token_by_signal() {
  static long payload[100];
  pass_token(
      [](long value, int to) {
        shmem_long_put_signal(payload, payload, 100, &signal_word, static_cast<uint64_t>(value), SHMEM_SIGNAL_SET, to);
      },
      [](long last) {
        return static_cast<long>(shmem_signal_wait_until(&signal_word, SHMEM_CMP_NE, static_cast<uint64_t>(last)));
      });
}

void token_by_message() {
  pass_token([](long value, int to) { shmemx_send(&value, sizeof value, to, 3); },
             [](long) {
               long value = 0;
               shmemx_recv(&value, sizeof value, SHMEMX_ANY_SOURCE, 3, nullptr);
               return value;
             });
}

// Each waits for the lock most of the time.
void lock_in_turn() {
  const double end = now() + seconds;
  while (now() < end) {
    shmem_set_lock(&lock);
    shmem_long_atomic_inc(&counter, 0);
    shmem_clear_lock(&lock);
  }
}

// The team was made by all.
shmem_team_t team = SHMEM_TEAM_INVALID;
void collectives_of_a_team() {
  static long in = 1, out;
  const double end = now() + seconds;
  do {
    in = now() < end ? 1 : 0;
    shmem_long_min_reduce(team, &out, &in, 1);
    shmem_team_sync(team);
  } while (out != 0);
}

// The main thread waits for what another one does later.
void* set_later(void*) {
  timespec pause = {static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  nanosleep(&pause, nullptr);
  shmem_long_atomic_set(&flag, 1, shmem_my_pe());
  return nullptr;
}
void one_thread_waits_for_another() {
  pthread_t thread;
  pthread_create(&thread, nullptr, set_later, nullptr);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  pthread_join(thread, nullptr);
}

// Threads of all PEs pass tokens; the main thread joins.
void* token_thread(void*) {
  token_by_atomic();
  return nullptr;
}
void a_thread_passes_the_token() {
  pthread_t thread;
  pthread_create(&thread, nullptr, token_thread, nullptr);
  pthread_join(thread, nullptr);
}

// Its own signal handler ends the wait.
void a_timer_ends_the_wait() {
  signal(SIGALRM, [](int) { __atomic_store_n(&flag, 1, __ATOMIC_RELEASE); });
  alarm(static_cast<unsigned>(seconds + 0.5));
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

// The PE that leaves does so while another thread of it still acts.
void* act_after_main(void*) {
  const double end = now() + seconds;
  while (now() < end) usleep(1000);
  for (int pe = 0; pe <= movers(); ++pe) shmem_long_atomic_set(&flag, 1, pe);
  shmem_quiet();
  return nullptr;
}
void a_thread_of_the_pe_that_leaves_acts() { shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); }

// The last PE does not leave: it computes. Its process number means nothing to the others, or another process.
void the_last_pe_computes() {
  if (shmem_my_pe() == movers()) act_after_main(nullptr);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

// ---- In vain ----

void wait_in_vain() { shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); }
void signal_in_vain() { shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1); }
void lock_in_vain() { shmem_set_lock(&lock); }
void message_in_vain() {
  long value;
  shmemx_recv(&value, sizeof value, shmem_n_pes() - 1, 3, nullptr);
}
void* wait_thread(void*) {
  wait_in_vain();
  return nullptr;
}
void all_threads_in_vain() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, wait_thread, nullptr);
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
}
// As the idle threads of an OpenMP team.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
void* idle_thread(void*) {
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&never, &mutex);
}
void beside_an_idle_thread_in_vain() {
  pthread_t thread;
  pthread_create(&thread, nullptr, idle_thread, nullptr);
  wait_in_vain();
}

const struct {
  const char* name;
  void (*run)();
} kKinds[] = {{"atomic", token_by_atomic},
              {"put", token_by_put},
              {"signal", token_by_signal},
              {"message", token_by_message},
              {"lock", lock_in_turn},
              {"team", collectives_of_a_team},
              {"thread", one_thread_waits_for_another},
              {"token_thread", a_thread_passes_the_token},
              {"timer", a_timer_ends_the_wait},
              {"left_thread", a_thread_of_the_pe_that_leaves_acts},
              {"namespaces", the_last_pe_computes},
              {"wait_in_vain", wait_in_vain},
              {"signal_in_vain", signal_in_vain},
              {"lock_in_vain", lock_in_vain},
              {"message_in_vain", message_in_vain},
              {"threads_in_vain", all_threads_in_vain},
              {"beside_idle_in_vain", beside_an_idle_thread_in_vain}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const what = argv[1];
  seconds = std::atof(argv[2]);
  const bool threads = std::strstr(what, "thread") != nullptr || std::strstr(what, "idle") != nullptr;
  int provided;
  if (!threads)
    start_pes(0);
  else if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0)
    return 3;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, movers(), nullptr, 0, &team);
  const bool leaves = shmem_my_pe() == movers();
  if (leaves && std::strcmp(what, "lock_in_vain") == 0) shmem_set_lock(&lock);
  shmem_barrier_all();
  if (leaves && std::strcmp(what, "namespaces") != 0) {
    pthread_t thread;
    if (std::strcmp(what, "left_thread") == 0) pthread_create(&thread, nullptr, act_after_main, nullptr);
    return 0;
  }
  for (const auto& kind : kKinds) {
    if (std::strcmp(kind.name, what) != 0) continue;
    kind.run();
    std::printf("done %d\n", shmem_my_pe());
    return 0;
  }
  return 2;
}
