// synthetic SCENARIO: a few real PEs in a world of very many that do not exist (SHMEMX_SYNTHETIC_WORLD). The real ones
// are on two nodes of equal size, which begin with PE 0 and with a given one. Exit status 0 is success.
#include <shmem.h>
#include <shmemx/windows.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/expect.hpp"

namespace {

int second = 0;  // first PE of the second node
int each = 0;    // PEs on a node

std::vector<int> real_pes() {
  std::vector<int> pes;
  for (int i = 0; i < each; ++i) pes.push_back(i);
  for (int i = 0; i < each; ++i) pes.push_back(second + i);
  return pes;
}

// This PE's number among the real ones.
int own_number() { return shmem_my_pe() < second ? shmem_my_pe() : each + shmem_my_pe() - second; }

// Is the memory of node peers mapped?
bool is_direct() {
  const char* const path = std::getenv("SHMEMX_NODE_PATH");
  return path == nullptr || std::strcmp(path, "queue") != 0;
}
bool is_mapped(int pe) { return pe == shmem_my_pe() || (is_direct() && (pe < second) == (shmem_my_pe() < second)); }

long words[64];
long counter;
long lock_word;
long guarded;
std::uint64_t signal_word;

void put_and_get(long* block, std::size_t nelems) {
  const int me = own_number();
  for (const int pe : real_pes()) {
    shmem_long_p(&words[me], 1000 + me, pe);
    std::vector<long> mine(nelems, 7 + me);
    shmem_long_put(block + static_cast<std::size_t>(me) * nelems, mine.data(), nelems, pe);
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < real_pes().size(); ++i) {
    const int pe = real_pes()[i];
    EXPECT(words[i] == 1000 + static_cast<long>(i));
    EXPECT(shmem_long_g(&words[me], pe) == 1000 + me);
    std::vector<long> theirs(nelems, 0);
    shmem_long_get(theirs.data(), block + i * nelems, nelems, pe);
    EXPECT(theirs.front() == 7 + static_cast<long>(i) && theirs.back() == theirs.front());
    EXPECT((shmem_ptr(&words[0], pe) != nullptr) == is_mapped(pe));
  }
  shmem_barrier_all();
}

void count_atomically() {
  const auto n = static_cast<long>(real_pes().size());
  constexpr int kTurns = 50;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (const int pe : real_pes()) {
      shmem_long_atomic_inc(&counter, pe);
      EXPECT(shmem_long_atomic_fetch_add(&counter, 2, pe) >= 0);
    }
  }
  for (const int pe : real_pes())
    shmem_long_put_signal(&words[40 + own_number()], &words[own_number()], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
  EXPECT(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, static_cast<std::uint64_t>(n)) ==
         static_cast<std::uint64_t>(n));
  for (long i = 0; i < n; ++i) EXPECT(words[40 + i] == 1000 + i);
  shmem_barrier_all();
  EXPECT(counter == n * kTurns * 3);
  EXPECT(shmem_long_atomic_compare_swap(&counter, counter, -1 - own_number(), shmem_my_pe()) == n * kTurns * 3);
  shmem_barrier_all();
  for (std::size_t i = 0; i < real_pes().size(); ++i)
    EXPECT(shmem_long_atomic_fetch(&counter, real_pes()[i]) == -1 - static_cast<long>(i));
}

void lock_and_add() {
  constexpr int kTurns = 20;
  for (int turn = 0; turn < kTurns; ++turn) {
    shmem_set_lock(&lock_word);
    for (const int pe : {0, second}) shmem_long_p(&guarded, shmem_long_g(&guarded, pe) + 1, pe);
    shmem_clear_lock(&lock_word);
  }
  shmem_barrier_all();
  for (const int pe : {0, second}) EXPECT(shmem_long_g(&guarded, pe) == kTurns * static_cast<long>(real_pes().size()));
}

// Collectives of a team whose members all exist.
void use_team(shmem_team_t team) {
  if (team == SHMEM_TEAM_INVALID) return;
  static long source[4], dest[64];
  const int n = shmem_team_n_pes(team);
  const int me = shmem_team_my_pe(team);
  for (int i = 0; i < 4; ++i) source[i] = 10 * me + i;
  shmem_team_sync(team);
  EXPECT(shmem_long_sum_reduce(team, dest, source, 4) == 0);
  for (int i = 0; i < 4; ++i) EXPECT(dest[i] == n * i + 10L * n * (n - 1) / 2);
  shmem_team_sync(team);
  EXPECT(shmem_long_fcollect(team, dest, source, 4) == 0);
  for (int pe = 0; pe < n; ++pe) EXPECT(dest[4 * pe + 3] == 10 * pe + 3);
  shmem_team_sync(team);
  EXPECT(shmem_long_broadcast(team, dest, source, 4, n - 1) == 0);
  EXPECT(dest[1] == 10 * (n - 1) + 1);
  shmem_team_sync(team);
  EXPECT(shmem_long_alltoall(team, dest, source, 1) == 0);
  for (int pe = 0; pe < n; ++pe) EXPECT(dest[pe] == 10 * pe + me);
  shmem_team_sync(team);
  const int other = shmem_team_translate_pe(team, (me + 1) % n, SHMEM_TEAM_WORLD);
  EXPECT(other >= 0 && (other < each || (other >= second && other < second + each)));
}

shmem_team_t split(int start, int stride, int size) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team) == 0);
  return team;
}

void use_teams() {
  EXPECT(shmem_team_n_pes(SHMEM_TEAM_SHARED) == (is_direct() ? each : 1));
  use_team(SHMEM_TEAM_SHARED);
  std::vector<shmem_team_t> teams;
  for (int i = 0; i < each; ++i) teams.push_back(split(i, second, 2));
  for (const int first : {second, 0}) teams.push_back(split(first + each - 1, -1, each));
  for (const shmem_team_t team : teams) use_team(team);
  // One that has members which do not exist: it counts them, and synchronises the others.
  const shmem_team_t all = split(0, 1, shmem_n_pes());
  EXPECT(shmem_team_n_pes(all) == shmem_n_pes() && shmem_team_my_pe(all) == shmem_my_pe());
  shmem_team_sync(all);
  teams.push_back(all);
  for (const shmem_team_t team : teams) shmem_team_destroy(team);
}

// Each PE writes into the window of the next one on its node, which lies in the node's file.
void use_windows() {
  static shmemx_window_description_t descriptions[64];
  const int me = shmem_team_my_pe(SHMEM_TEAM_SHARED);
  const int n = shmem_team_n_pes(SHMEM_TEAM_SHARED);
  void* memory = nullptr;
  shmemx_window_t own = SHMEMX_WINDOW_INVALID;
  EXPECT(shmemx_window_allocate(sizeof(long), &memory, &own) == 0);
  shmemx_window_description_t mine;
  EXPECT(shmemx_window_describe(own, &mine) == 0);
  for (int pe = 0; pe < n; ++pe)
    shmem_putmem(&descriptions[me], &mine, sizeof mine,
                 shmem_team_translate_pe(SHMEM_TEAM_SHARED, pe, SHMEM_TEAM_WORLD));
  shmem_barrier_all();
  shmemx_window_t next = SHMEMX_WINDOW_INVALID;
  EXPECT(shmemx_window_attach(&descriptions[(me + 1) % n], &next) == 0);
  const long value = shmem_my_pe() + 1;
  EXPECT(shmemx_window_put(next, shmemx_window_base(next), &value, sizeof value) == 0);
  shmem_barrier_all();
  EXPECT(*static_cast<long*>(memory) == shmem_my_pe() - me + (me + n - 1) % n + 1);
  EXPECT(shmemx_window_detach(next) == 0);
  shmem_barrier_all();
  EXPECT(shmemx_window_free(own) == 0);
}

void work() {
  constexpr std::size_t kMany = 20'000;
  for (const std::size_t nelems : {std::size_t{1}, std::size_t{512}, kMany}) {
    long* const block = static_cast<long*>(shmem_malloc(nelems * sizeof(long) * real_pes().size()));
    EXPECT(block != nullptr);
    put_and_get(block, nelems);
    shmem_free(block);
  }
  count_atomically();
  lock_and_add();
  use_teams();
  EXPECT(shmem_malloc(std::size_t{1} << 44) == nullptr);  // refused on all PEs alike
  shmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  second = std::atoi(argv[2]);
  each = std::atoi(argv[3]);
  shmem_init();
  EXPECT(shmem_my_pe() == real_pes()[static_cast<std::size_t>(own_number())]);
  const std::string scenario = argv[1];
  if (scenario == "work") {
    work();
  } else if (scenario == "again") {  // a second life of the library
    shmem_finalize();
    shmem_init();
    work();
  } else if (scenario == "windows") {
    use_windows();
  } else if (scenario == "waiting" && shmem_my_pe() < second) {
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);  // which nobody sends
  } else if (scenario == "contact" && shmem_my_pe() == second) {
    shmem_long_p(&words[0], 1, second - 1);
    shmem_quiet();
    EXPECT(false);
  }
  shmem_finalize();
  return test_support::failures == 0 ? 0 : 1;
}
