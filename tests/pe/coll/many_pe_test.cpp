// Collectives of more PEs than cores, which combine in trees: teams of several shapes, whose sizes are no powers, short
// and long data, memory routines and short-lived teams.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

shmem_team_t strided(int start, int stride, int size) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team), 0);
  return team;
}

// Calls test(team) on the members of several teams, one after the other.
template <class Test>
void on_teams(const Test& test) {
  test(SHMEM_TEAM_WORLD);
  const int n = pes();
  struct Triplet {
    int start, stride, size;
  };
  const std::vector<Triplet> triplets = {
      {n - 1, -1, n}, {0, 2, (n + 1) / 2}, {1, 3, (n + 1) / 3}, {n - 1, -1, n - 1}, {0, 1, std::min(n, n / 2 + 3)}};
  for (const auto& [start, stride, size] : triplets) {
    const Note note("start " + std::to_string(start) + " stride " + std::to_string(stride));
    const shmem_team_t team = strided(start, stride, size);
    if (team != SHMEM_TEAM_INVALID) test(team);
    shmem_team_destroy(team);
  }
}

constexpr std::size_t kLongest = 9000;  // in bytes more than goes through the tree of a smaller team
constexpr std::size_t kLengths[] = {1, 0, 30, kLongest};

long term(int pe, std::size_t i) { return (pe + 1) * 100L + static_cast<long>(i % 1000); }
// Returns the sum of the terms of the first `count` members.
long sum_of(int count, std::size_t i) { return 50L * count * (count + 1) + count * static_cast<long>(i % 1000); }

void load(const Symmetric<long>& source, int index, std::size_t nelems) {
  for (std::size_t i = 0; i < nelems; ++i) source[i] = term(index, i);
}

std::size_t count_wrong_sums(const Symmetric<long>& dest, int count, std::size_t nelems) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < nelems; ++i) wrong += dest[i] != sum_of(count, i);
  return wrong;
}

}  // namespace

PE_TEST(reductions_and_scans_of_many_pes) {
  const Symmetric<long> source(kLongest), dest(kLongest);
  on_teams([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t nelems : kLengths) {
      load(source, index, nelems);
      CHECK_EQUAL(shmem_long_sum_reduce(team, dest.get(), source.get(), nelems), 0);
      CHECK_EQUAL(count_wrong_sums(dest, n, nelems), 0u);
      shmem_team_sync(team);
      CHECK_EQUAL(shmem_long_sum_inscan(team, dest.get(), source.get(), nelems), 0);
      CHECK_EQUAL(count_wrong_sums(dest, index + 1, nelems), 0u);
      shmem_team_sync(team);
      CHECK_EQUAL(shmem_long_sum_exscan(team, source.get(), source.get(), nelems), 0);  // in place
      CHECK_EQUAL(count_wrong_sums(source, index, nelems), 0u);
      shmem_team_sync(team);
      load(source, index, nelems);
      CHECK_EQUAL(shmem_long_sum_reduce(team, source.get(), source.get(), nelems), 0);  // in place
      CHECK_EQUAL(count_wrong_sums(source, n, nelems), 0u);
      shmem_team_sync(team);
    }
  });
}

PE_TEST(sums_of_fractions_of_many_pes_are_the_same_bits_everywhere) {
  const Symmetric<double> source(1), dest(1), all(static_cast<std::size_t>(pes()));
  on_teams([&](shmem_team_t team) {
    source[0] = std::exp(shmem_team_my_pe(team) % 40 - 20.0) / 3;
    double first = 0;
    for (int round = 0; round < 5; ++round) {
      CHECK_EQUAL(shmem_double_sum_reduce(team, dest.get(), source.get(), 1), 0);
      if (round == 0) first = dest[0];
      CHECK(dest[0] == first);
      CHECK_EQUAL(shmem_double_fcollect(team, all.get(), dest.get(), 1), 0);
      for (int pe = 0; pe < shmem_team_n_pes(team); ++pe) CHECK(all[static_cast<std::size_t>(pe)] == first);
      shmem_team_sync(team);
    }
  });
}

PE_TEST(data_of_many_pes_are_moved) {
  const auto most = static_cast<std::size_t>(pes());
  const Symmetric<long> source(kLongest), dest(most * 400 + kLongest);
  on_teams([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t nelems : kLengths) {
      const int root = static_cast<int>(nelems) % n;
      load(source, index, nelems);
      CHECK_EQUAL(shmem_long_broadcast(team, dest.get(), source.get(), nelems, root), 0);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < nelems; ++i) wrong += dest[i] != term(root, i);
      CHECK_EQUAL(wrong, 0u);
      shmem_team_sync(team);
    }
    for (const std::size_t nelems : {std::size_t{1}, std::size_t{400}}) {
      load(source, index, nelems);
      CHECK_EQUAL(shmem_long_fcollect(team, dest.get(), source.get(), nelems), 0);
      std::size_t wrong = 0;
      for (std::size_t at = 0; at < nelems * static_cast<std::size_t>(n); ++at)
        wrong += dest[at] != term(static_cast<int>(at / nelems), at % nelems);
      CHECK_EQUAL(wrong, 0u);
      shmem_team_sync(team);
      const auto length = [&](int pe) { return static_cast<std::size_t>(pe) * 5 % 7 * nelems / 7; };
      CHECK_EQUAL(shmem_long_collect(team, dest.get(), source.get(), length(index)), 0);
      std::size_t at = 0;
      for (int pe = 0; pe < n; ++pe)
        for (std::size_t i = 0; i < length(pe); ++i) wrong += dest[at++] != term(pe, i);
      CHECK_EQUAL(wrong, 0u);
      shmem_team_sync(team);
    }
  });
}

PE_TEST(memory_routines_of_many_pes_agree) {
  auto* block = static_cast<long*>(shmem_malloc(1000));
  for (int round = 1; round <= 5; ++round) {
    auto* const other = static_cast<long*>(shmem_calloc(static_cast<std::size_t>(round), 100));
    block = static_cast<long*>(shmem_realloc(block, static_cast<std::size_t>(round) * 1500));
    if (!CHECK(block != nullptr && other != nullptr)) break;
    shmem_long_p(block, me() * 10 + round, right());
    shmem_barrier_all();
    CHECK_EQUAL(*block, left() * 10 + round);
    CHECK_EQUAL(*other, 0);
    shmem_free(other);
  }
  CHECK(shmem_malloc(std::size_t{1} << 60) == nullptr);  // on all PEs
  shmem_free(block);
}

// Slots of teams that have ended are used again at once, by teams of other members.
PE_TEST(short_lived_teams_do_not_disturb_each_other) {
  const Symmetric<long> source(1), dest(1);
  for (int round = 0; round < 12; ++round) {
    const int width = 9 + round % 5;
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, width, nullptr, 0, &row, nullptr, 0, &column);
    for (const shmem_team_t team : {row, column}) {
      source[0] = shmem_team_my_pe(team) + round;
      CHECK_EQUAL(shmem_long_sum_reduce(team, dest.get(), source.get(), 1), 0);
      const long n = shmem_team_n_pes(team);
      CHECK_EQUAL(dest[0], n * (n - 1) / 2 + n * round);
      shmem_team_destroy(team);
    }
  }
}
