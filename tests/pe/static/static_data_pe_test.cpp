// Globals and statics of the executable are symmetric (section 3), however it is linked; children of fork are private.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kBigWords = (64u << 20) / sizeof(long);

long big_zeroed[kBigWords];                  // .bss
int initialised[1000] = {1, 2, 3, 4};        // .data
const int constant_table[64] = {9, 8, 7};    // .rodata
const char* const relocated[] = {"a", "b"};  // .data.rel.ro in PIE
long global_word = 41;
thread_local long per_thread = 5;

long* function_static() {
  static long counter = 7;
  return &counter;
}

struct Object {
  Object() : value(1234) {}
  long value;
} constructed;  // initialised before main, hence before the library

// Runs `child` in a forked process and returns its exit status, or 1000 + signal.
template <class F>
int in_child(const F& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

PE_TEST(values_from_before_init_are_kept) {
  CHECK_EQUAL(initialised[0], 1);
  CHECK_EQUAL(initialised[3], 4);
  CHECK_EQUAL(initialised[999], 0);
  CHECK_EQUAL(global_word, 41);
  CHECK_EQUAL(constructed.value, 1234);
  CHECK_EQUAL(*function_static(), 7);
  CHECK_EQUAL(per_thread, 5);
  CHECK_EQUAL(big_zeroed[kBigWords - 1], 0);
  CHECK_EQUAL(constant_table[2], 7);
  CHECK_EQUAL(std::string(relocated[1]), "b");
}

PE_TEST(all_kinds_of_static_data_are_targets) {
  for (long* word : {&big_zeroed[0], &big_zeroed[kBigWords / 2], &big_zeroed[kBigWords - 1], &global_word,
                     function_static(), &constructed.value}) {
    shmem_barrier_all();
    shmem_long_p(word, 100 + me(), right());
    shmem_barrier_all();
    CHECK_EQUAL(*word, 100 + left());
    CHECK_EQUAL(shmem_long_g(word, right()), 100 + me());
    shmem_barrier_all();
    shmem_long_atomic_add(word, 7, right());
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_atomic_fetch(word, me()), 107 + left());
    shmem_barrier_all();
  }
  shmem_int_put(initialised + 10, constant_table, 3, right());  // read-only data as source
  shmem_barrier_all();
  CHECK_EQUAL(initialised[10], 9);
  CHECK_EQUAL(initialised[12], 7);
}

// Globals are mapped like the heap, so shmem_ptr (section 9.1.9) returns pointers to them where it does for the heap.
PE_TEST(static_data_can_be_loaded_and_stored) {
  CHECK_EQUAL(shmem_addr_accessible(&global_word, right()), 1);
  Symmetric<long> word;
  auto* const there = static_cast<volatile long*>(shmem_ptr(&global_word, right()));
  CHECK_EQUAL(there != nullptr, shmem_ptr(word.get(), right()) != nullptr);
  if (there != nullptr)
    *there = 900 + me();
  else
    shmem_long_p(&global_word, 900 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(global_word, 900 + left());
  shmem_barrier_all();
  auto* const here = static_cast<volatile long*>(shmem_ptr(&global_word, me()));
  if (CHECK(here != nullptr)) *here = 77;
  CHECK_EQUAL(*const_cast<volatile long*>(&global_word), 77);
}

PE_TEST(addresses_that_are_not_symmetric_are_recognised) {
  long on_stack = 0;
  CHECK_EQUAL(shmem_addr_accessible(&on_stack, right()), 0);
  CHECK(shmem_ptr(&on_stack, right()) == nullptr);
  void* const private_heap = std::malloc(100);
  CHECK_EQUAL(shmem_addr_accessible(private_heap, me()), 0);
  std::free(private_heap);
  CHECK_EQUAL(shmem_addr_accessible(&per_thread, right()), 0);
  CHECK_EQUAL(shmem_addr_accessible(constant_table, right()), 0);
  CHECK_EQUAL(shmem_addr_accessible(nullptr, right()), 0);
  // Section 3.1: a pointer from shmem_ptr is not a symmetric address.
  Symmetric<long> word;
  if (pes() > 1) {
    void* const there = shmem_ptr(word.get(), right());
    if (there != nullptr) CHECK_EQUAL(shmem_addr_accessible(there, me()), 0);
  }
}

PE_TEST(a_large_static_array_is_transferred_completely) {
  constexpr std::size_t kWords = 1 << 18;
  long* const from = big_zeroed + 3;
  long* const to = big_zeroed + kBigWords - kWords - 5;
  for (std::size_t i = 0; i < kWords; ++i) from[i] = static_cast<long>(i) + me();
  shmem_long_put(to, from, kWords, right());
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < kWords; ++i) bad += to[i] != static_cast<long>(i) + left();
  CHECK_EQUAL(bad, 0u);
}

// A child of fork has a private copy: neither process sees the other's writes, and the job continues.
PE_TEST(a_forked_child_has_private_globals) {
  global_word = 10 + me();
  big_zeroed[77] = 20 + me();
  shmem_barrier_all();
  const int status = in_child([pe = me()] {
    if (global_word != 10 + pe || big_zeroed[77] != 20 + pe) return 1;
    global_word = -1;
    big_zeroed[77] = -1;
    initialised[5] = -1;
    std::memset(big_zeroed + 1000, 0x55, 1 << 20);
    return global_word == -1 ? 0 : 2;
  });
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(global_word, 10 + me());
  CHECK_EQUAL(big_zeroed[77], 20 + me());
  CHECK_EQUAL(initialised[5], 0);
  shmem_barrier_all();
  shmem_long_p(&global_word, 30 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(global_word, 30 + left());
}

// A child is not a PE: a call of the library prints a diagnostic and ends the child only.
PE_TEST(a_child_that_calls_the_library_ends_alone) {
  int text[2];
  if (!CHECK(pipe(text) == 0)) return;
  const int status = in_child([&text] {
    dup2(text[1], 2);
    shmem_long_p(&global_word, 1, 0);
    return 0;
  });
  CHECK(status > 0 && status < 128);
  close(text[1]);
  char line[400] = {};
  CHECK(read(text[0], line, sizeof line - 1) > 0);
  CHECK(std::strstr(line, "shmem_long_p") != nullptr && std::strstr(line, "child") != nullptr);
  close(text[0]);
  shmem_long_p(&global_word, 60 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(global_word, 60 + left());
}

PE_TEST(fork_and_exec_do_not_disturb_the_job) {
  CHECK_EQUAL(in_child([] {
                execl("/bin/true", "true", static_cast<char*>(nullptr));
                return 9;
              }),
              0);
  CHECK_EQUAL(std::system("exit 3") >> 8, 3);
  FILE* const pipe = popen("echo through a pipe", "r");
  char line[64] = {};
  if (CHECK(pipe != nullptr)) {
    CHECK(std::fgets(line, sizeof line, pipe) != nullptr);
    CHECK_EQUAL(std::string(line), "through a pipe\n");
    CHECK_EQUAL(pclose(pipe), 0);
  }
  shmem_long_p(&global_word, 50 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(global_word, 50 + left());
}

// The parent writes while its children run: the children keep the values of the time of the fork.
PE_TEST(a_child_keeps_its_snapshot) {
  int to_child[2];
  if (!CHECK(pipe(to_child) == 0)) return;
  global_word = 1;
  shmem_barrier_all();
  const pid_t pid = fork();
  if (pid == 0) {
    char go = 0;
    if (read(to_child[0], &go, 1) != 1) _exit(3);
    _exit(global_word == 1 ? 0 : 4);
  }
  shmem_barrier_all();
  shmem_long_p(&global_word, 2, right());
  shmem_barrier_all();
  CHECK(write(to_child[1], "x", 1) == 1);
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(global_word, 2);
  close(to_child[0]);
  close(to_child[1]);
}
