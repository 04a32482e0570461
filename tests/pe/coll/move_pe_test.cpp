// Broadcast, collect, fcollect, alltoall, alltoalls: every type, several teams, roots, lengths.
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"
#include "team_coll_rows.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kMaxBlock = 40;

// The teams on which every type is tested: the world, the world reversed, the odd or even PEs.
class Teams {
 public:
  Teams() {
    teams_.push_back(SHMEM_TEAM_WORLD);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), nullptr, 0, &team);
    teams_.push_back(team);
    shmem_team_t unused = SHMEM_TEAM_INVALID;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, nullptr, 0, &unused, nullptr, 0, &team);
    shmem_team_destroy(unused);
    teams_.push_back(team);
  }
  ~Teams() {
    for (std::size_t i = 1; i < teams_.size(); ++i) shmem_team_destroy(teams_[i]);
  }
  const std::vector<shmem_team_t>& all() const { return teams_; }

 private:
  std::vector<shmem_team_t> teams_;
};

// Returns what PE `from` contributes at position i. `call` makes the values of different calls differ.
template <class T>
T contribution(int from, std::size_t i, std::size_t call) {
  return value<T>(static_cast<std::size_t>(from) * 1009 + i * 3 + call);
}

template <class T>
struct Buffers {
  T* dest;
  T* source;
  std::size_t count;
};

template <class T>
void load(const Buffers<T>& b, int index, std::size_t call) {
  for (std::size_t i = 0; i < b.count; ++i) {
    b.source[i] = contribution<T>(index, i, call);
    b.dest[i] = value<T>(777);
  }
}

template <class T, class A>
void broadcasts(const MoveRow<T, A>& row, shmem_team_t team, const Buffers<T>& b) {
  const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
  for (const std::size_t nelems : {std::size_t{1}, std::size_t{3}, kMaxBlock}) {
    for (int root = 0; root<n; root += n> 8 ? 7 : 1) {
      load(b, index, nelems + static_cast<std::size_t>(root));
      shmem_team_sync(team);  // dest must be ready on all members on entry
      CHECK_EQUAL(row.broadcast(team, b.dest, b.source, nelems, root), 0);
      std::size_t bad = 0;
      for (std::size_t i = 0; i < nelems; ++i)
        bad += !(b.dest[i] == contribution<T>(root, i, nelems + static_cast<std::size_t>(root)));
      CHECK_EQUAL(bad, 0u);  // on the root as well, section 9.10.7
      CHECK(b.dest[nelems] == value<T>(777));
    }
  }
}

template <class T, class A>
void collects(const MoveRow<T, A>& row, shmem_team_t team, const Buffers<T>& b) {
  const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
  for (const std::size_t nelems : {std::size_t{1}, std::size_t{7}, kMaxBlock}) {
    load(b, index, nelems);
    shmem_team_sync(team);
    CHECK_EQUAL(row.fcollect(team, b.dest, b.source, nelems), 0);
    std::size_t bad = 0;
    for (int pe = 0; pe < n; ++pe)
      for (std::size_t i = 0; i < nelems; ++i)
        bad += !(b.dest[static_cast<std::size_t>(pe) * nelems + i] == contribution<T>(pe, i, nelems));
    CHECK_EQUAL(bad, 0u);
    CHECK(b.dest[static_cast<std::size_t>(n) * nelems] == value<T>(777));
  }
  for (std::size_t form = 0; form < 3; ++form) {  // different lengths, some of them zero
    const auto length = [form, n](int pe) {
      return form == 0     ? static_cast<std::size_t>(pe % 5)
             : form == 1   ? static_cast<std::size_t>((n - pe) % 3)
             : pe == n / 2 ? 4u
                           : 0u;
    };
    load(b, index, form);
    shmem_team_sync(team);
    const std::size_t nelems = length(index);
    CHECK_EQUAL(row.collect(team, b.dest, nelems == 0 ? nullptr : b.source, nelems), 0);
    std::size_t at = 0, bad = 0;
    for (int pe = 0; pe < n; ++pe)
      for (std::size_t i = 0; i < length(pe); ++i) bad += !(b.dest[at++] == contribution<T>(pe, i, form));
    CHECK_EQUAL(bad, 0u);
    CHECK(b.dest[at] == value<T>(777));
  }
}

template <class T, class A>
void exchanges(const MoveRow<T, A>& row, shmem_team_t team, const Buffers<T>& b) {
  const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
  const auto size = static_cast<std::size_t>(n);
  for (const std::size_t nelems : {std::size_t{1}, std::size_t{4}, std::size_t{13}}) {
    load(b, index, nelems);
    shmem_team_sync(team);
    CHECK_EQUAL(row.alltoall(team, b.dest, b.source, nelems), 0);
    std::size_t bad = 0;
    for (int pe = 0; pe < n; ++pe)
      for (std::size_t i = 0; i < nelems; ++i)
        bad += !(b.dest[static_cast<std::size_t>(pe) * nelems + i] ==
                 contribution<T>(pe, static_cast<std::size_t>(index) * nelems + i, nelems));
    CHECK_EQUAL(bad, 0u);
    CHECK(b.dest[size * nelems] == value<T>(777));
  }
  // Section 9.10.6: element i of block l sits at (l * nelems + i) * stride.
  for (const std::size_t dst : {1u, 2u}) {
    for (const std::size_t sst : {1u, 3u}) {
      constexpr std::size_t nelems = 3;
      load(b, index, dst + sst);
      shmem_team_sync(team);
      CHECK_EQUAL(
          row.alltoalls(team, b.dest, b.source, static_cast<ptrdiff_t>(dst), static_cast<ptrdiff_t>(sst), nelems), 0);
      std::size_t bad = 0;
      for (std::size_t at = 0; at < size * nelems * dst; ++at) {
        const std::size_t element = at / dst, pe = element / nelems, i = element % nelems;
        const T expected = at % dst != 0
                               ? value<T>(777)
                               : contribution<T>(static_cast<int>(pe),
                                                 (static_cast<std::size_t>(index) * nelems + i) * sst, dst + sst);
        bad += !(b.dest[at] == expected);
      }
      CHECK_EQUAL(bad, 0u);
    }
  }
}

// Annex C: zero lengths are legal everywhere, with null pointers, and still match the call.
template <class T, class A>
void zero_lengths(const MoveRow<T, A>& row, shmem_team_t team) {
  CHECK_EQUAL(row.broadcast(team, nullptr, nullptr, 0, 0), 0);
  CHECK_EQUAL(row.collect(team, nullptr, nullptr, 0), 0);
  CHECK_EQUAL(row.fcollect(team, nullptr, nullptr, 0), 0);
  CHECK_EQUAL(row.alltoall(team, nullptr, nullptr, 0), 0);
  CHECK_EQUAL(row.alltoalls(team, nullptr, nullptr, 1, 1, 0), 0);
}

template <class T, class A>
void exercise(const MoveRow<T, A>& row, const Teams& teams) {
  const Note note(row.name);
  const std::size_t count = static_cast<std::size_t>(pes()) * (kMaxBlock + 1) + kMaxBlock * 2;
  Symmetric<T> dest(count), source(count);
  const Buffers<T> buffers{dest.get(), source.get(), count};
  for (shmem_team_t team : teams.all()) {
    if (team == SHMEM_TEAM_INVALID) continue;
    broadcasts(row, team, buffers);
    collects(row, team, buffers);
    exchanges(row, team, buffers);
    zero_lengths(row, team);
  }
}

}  // namespace

#define MOVE(P, N, T) exercise(MOVE_ROW(P, N, T), teams);

PE_TEST(data_moving_collectives_of_every_type) {
  const Teams teams;
  TEST_RMA_TYPES(MOVE, shmem)
  exercise(MOVE_MEM_ROW(shmem), teams);
}

PE_TEST(profiling_names_of_data_moving_collectives_do_the_same) {
  const Teams teams;
  TEST_RMA_TYPES(MOVE, pshmem)
  exercise(MOVE_MEM_ROW(pshmem), teams);
}

// Section 9.10: on return only this PE's part is complete, and the next call may follow at once.
PE_TEST(different_collectives_follow_each_other_without_synchronisation) {
  const auto n = static_cast<std::size_t>(pes());
  constexpr int kRounds = 200;
  // One dest for each kind and parity, since a peer can be at most one call ahead.
  Symmetric<int> broad(2 * 8), gathered(2 * 8 * n), swapped(2 * 4 * n), source(2 * 8 * n);
  Symmetric<long> sums(2 * 8), terms(2 * 8);
  std::size_t bad = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t half = static_cast<std::size_t>(round & 1);
    int* const from = source.get() + half * 8 * n;
    for (std::size_t i = 0; i < 8 * n; ++i) from[i] = round * 1000 + me() * 10 + static_cast<int>(i);
    const int root = round % pes();
    bad += shmem_int_broadcast(SHMEM_TEAM_WORLD, broad.get() + half * 8, from, 8, root) != 0;
    bad += broad[half * 8 + 7] != round * 1000 + root * 10 + 7;
    bad += shmem_int_fcollect(SHMEM_TEAM_WORLD, gathered.get() + half * 8 * n, from, 8) != 0;
    for (int pe = 0; pe < pes(); ++pe)
      bad += gathered[half * 8 * n + static_cast<std::size_t>(pe) * 8 + 3] != round * 1000 + pe * 10 + 3;
    bad += shmem_int_alltoall(SHMEM_TEAM_WORLD, swapped.get() + half * 4 * n, from, 4) != 0;
    for (int pe = 0; pe < pes(); ++pe)
      bad += swapped[half * 4 * n + static_cast<std::size_t>(pe) * 4 + 1] != round * 1000 + pe * 10 + me() * 4 + 1;
    terms[half * 8] = round + me();
    bad += shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums.get() + half * 8, terms.get() + half * 8, 1) != 0;
    bad += sums[half * 8] != static_cast<long>(round) * pes() + pes() * (pes() - 1) / 2;
    if (round % 7 == 0) shmem_team_sync(SHMEM_TEAM_WORLD);
  }
  CHECK_EQUAL(bad, 0u);
}

PE_TEST(large_blocks_are_transferred_completely) {
  const std::size_t bytes = pes() > 8 ? 1 << 14 : (3 << 20) + 5;
  const auto n = static_cast<std::size_t>(pes());
  Symmetric<unsigned char> source(bytes), dest(bytes * n);
  const auto seed_of = [](int pe) { return static_cast<std::size_t>(pe); };
  const auto has_bytes_of = [&](int pe, std::size_t at, std::size_t count, std::size_t first) {
    return test_support::has_pattern(dest.get() + at, count, seed_of(pe), first);
  };
  test_support::fill_pattern(source.get(), bytes, seed_of(me()));
  const int root = pes() - 1;
  CHECK_EQUAL(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest.get(), source.get(), bytes, root), 0);
  CHECK(has_bytes_of(root, 0, bytes, 0));
  shmem_sync_all();
  CHECK_EQUAL(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest.get(), source.get(), bytes), 0);
  for (int pe = 0; pe < pes(); ++pe) CHECK(has_bytes_of(pe, static_cast<std::size_t>(pe) * bytes, bytes, 0));
  shmem_sync_all();
  const std::size_t block = bytes / n;
  CHECK_EQUAL(shmem_alltoallmem(SHMEM_TEAM_WORLD, dest.get(), source.get(), block), 0);
  for (int pe = 0; pe < pes(); ++pe)
    CHECK(has_bytes_of(pe, static_cast<std::size_t>(pe) * block, block, static_cast<std::size_t>(me()) * block));
}

// Section 9.10.7: for broadcast dest and source may be the same object on the root.
PE_TEST(broadcast_in_place_keeps_the_roots_data) {
  Symmetric<long> data(100);
  for (int root = 0; root < pes() && root < 8; ++root) {
    for (std::size_t i = 0; i < 100; ++i) data[i] = static_cast<long>(i) + 1000 * me() + root;
    shmem_sync_all();
    CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, data.get(), data.get(), 100, root), 0);
    std::size_t bad = 0;
    for (std::size_t i = 0; i < 100; ++i) bad += data[i] != static_cast<long>(i) + 1000 * root + root;
    CHECK_EQUAL(bad, 0u);
    shmem_sync_all();
  }
}

PE_TEST(synchronisation_routines_return_only_when_all_have_arrived) {
  Symmetric<int> arrived;
  void (*const whole[])() = {shmem_barrier_all, pshmem_barrier_all, shmem_sync_all, pshmem_sync_all};
  int expected = 0;
  for (int round = 0; round < 100; ++round) {
    for (const auto& synchronise : whole) {
      shmem_int_atomic_inc(arrived.get(), 0);
      shmem_quiet();
      synchronise();
      expected += pes();
      CHECK(shmem_int_atomic_fetch(arrived.get(), 0) >= expected);
    }
    shmem_int_atomic_inc(arrived.get(), 0);
    shmem_quiet();
    CHECK_EQUAL(round % 2 ? shmem_team_sync(SHMEM_TEAM_WORLD) : pshmem_team_sync(SHMEM_TEAM_WORLD), 0);
    expected += pes();
    CHECK(shmem_int_atomic_fetch(arrived.get(), 0) >= expected);
  }
}
