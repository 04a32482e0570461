// Teams: splits, numbering, configuration, life time (section 9.4).
#include <pshmem.h>
#include <unistd.h>

#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

// Every member gets the world numbers of all others by a collective on the team and compares them.
void check_members(shmem_team_t team, const std::vector<int>& expected) {
  const int size = static_cast<int>(expected.size());
  int my_index = -1;
  for (int i = 0; i < size; ++i)
    if (expected[static_cast<std::size_t>(i)] == me()) my_index = i;
  if (my_index < 0) {
    CHECK(team == SHMEM_TEAM_INVALID);
    return;
  }
  if (!CHECK(team != SHMEM_TEAM_INVALID)) return;
  CHECK_EQUAL(shmem_team_n_pes(team), size);
  CHECK_EQUAL(shmem_team_my_pe(team), my_index);
  for (int i = 0; i < size; ++i) {
    CHECK_EQUAL(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), expected[static_cast<std::size_t>(i)]);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, expected[static_cast<std::size_t>(i)], team), i);
  }
  static int source[1], dest[1024];
  source[0] = me();
  shmem_team_sync(team);  // dest is free on all members
  CHECK_EQUAL(shmem_int_fcollect(team, dest, source, 1), 0);
  for (int i = 0; i < size; ++i) CHECK_EQUAL(dest[i], expected[static_cast<std::size_t>(i)]);
}

std::vector<int> strided(int start, int stride, int size) {
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * stride);
  return members;
}

void split_and_check(int start, int stride, int size) {
  const Note note("start " + std::to_string(start) + " stride " + std::to_string(stride) + " size " +
                  std::to_string(size));
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team), 0);
  check_members(team, strided(start, stride, size));
  shmem_team_destroy(team);  // a no-op for those that are not members
}

void invalid_triplet(int start, int stride, int size) {
  const Note note("start " + std::to_string(start) + " stride " + std::to_string(stride) + " size " +
                  std::to_string(size));
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team) != 0);
  CHECK(team == SHMEM_TEAM_INVALID);
}

}  // namespace

PE_TEST(predefined_teams_number_all_pes) {
  CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_WORLD), pes());
  CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_WORLD), me());
  CHECK_EQUAL(pshmem_team_n_pes(SHMEM_TEAM_WORLD), pes());
  CHECK_EQUAL(pshmem_team_my_pe(SHMEM_TEAM_WORLD), me());
  const int in_shared = shmem_team_my_pe(SHMEM_TEAM_SHARED);
  CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, in_shared, SHMEM_TEAM_WORLD), me());
}

// Section 7: the shared team consists of the PEs that can load and store in each other's memory.
PE_TEST(the_shared_team_holds_the_pes_with_pointers) {
  static long global;
  Symmetric<long> word;
  int reached = 0;
  for (int pe = 0; pe < pes(); ++pe) {
    const bool shared = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
    CHECK_EQUAL(shmem_ptr(word.get(), pe) != nullptr, shared);
    CHECK_EQUAL(shmem_ptr(&global, pe) != nullptr, shared);
    reached += shared;
  }
  CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_SHARED), reached);
  CHECK(shmem_ptr(word.get(), me()) != nullptr);
}

// Section 7: handles work in static initialisers.
static shmem_team_t team_in_initialiser = SHMEM_TEAM_SHARED;
static shmem_ctx_t ctx_in_initialiser = SHMEM_CTX_DEFAULT;
PE_TEST(handles_can_be_used_in_initialisers) {
  CHECK_EQUAL(shmem_team_n_pes(team_in_initialiser), shmem_team_n_pes(SHMEM_TEAM_SHARED));
  shmem_ctx_quiet(ctx_in_initialiser);
  CHECK(ctx_in_initialiser == SHMEM_CTX_DEFAULT);
}

PE_TEST(strided_splits_number_members_by_position) {
  const int n = pes();
  split_and_check(0, 1, n);
  split_and_check(0, 1, 1);
  split_and_check(n - 1, 1, 1);
  split_and_check(n / 2, 0, 1);   // stride 0 goes with size 1 only
  split_and_check(n - 1, -1, n);  // section 9.4.6: reverses the order
  split_and_check(0, 2, (n + 1) / 2);
  if (n > 1) split_and_check(1, 2, n / 2);
  if (n > 2) split_and_check(1, 1, n - 1);
  if (n > 3) split_and_check(n - 1, -3, (n - 1) / 3 + 1);
  if (n > 3) split_and_check(1, 3, (n - 2) / 3 + 1);
}

// Section 9.4.6: nonzero and the invalid handle on all PEs of the parent.
PE_TEST(invalid_triplets_are_refused_everywhere) {
  const int n = pes();
  invalid_triplet(0, 1, n + 1);
  invalid_triplet(n, 1, 1);
  invalid_triplet(-1, 1, 1);
  invalid_triplet(0, 1, 0);
  invalid_triplet(0, 1, -2);
  invalid_triplet(0, -1, 2);
  if (n > 1) invalid_triplet(0, 0, 2);
  if (n > 2) invalid_triplet(1, 2, n);
  invalid_triplet(0, 0x7fffffff, 3);  // overflows an int
  shmem_team_t team = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &team) != 0);
  CHECK(team == SHMEM_TEAM_INVALID);
}

PE_TEST(queries_of_the_invalid_team_return_errors) {
  CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
  CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
  CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
  CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
  CHECK_EQUAL(pshmem_team_translate_pe(SHMEM_TEAM_WORLD, me(), SHMEM_TEAM_WORLD), me());
  shmem_team_config_t config = {77};
  CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
  CHECK_EQUAL(config.num_contexts, 77);
  shmem_team_destroy(SHMEM_TEAM_INVALID);
  pshmem_team_destroy(SHMEM_TEAM_INVALID);
}

PE_TEST(the_configuration_can_be_read_back) {
  shmem_team_config_t wanted = {3};
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), &wanted, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
  shmem_team_config_t got = {-5};
  CHECK_EQUAL(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
  CHECK_EQUAL(got.num_contexts, 3);
  got.num_contexts = -5;
  CHECK_EQUAL(shmem_team_get_config(team, 0, &got), 0);  // nothing selected, nothing written
  CHECK_EQUAL(got.num_contexts, -5);
  got.num_contexts = -5;
  CHECK_EQUAL(pshmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
  CHECK_EQUAL(got.num_contexts, 3);
  shmem_team_destroy(team);
  // Without the mask bit the member does not count, and the default is 0.
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), &wanted, 0, &team), 0);
  CHECK_EQUAL(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
  CHECK_EQUAL(got.num_contexts, 0);
  shmem_team_destroy(team);
}

PE_TEST(two_dimensional_splits_allow_an_incomplete_last_row) {
  const int n = pes();
  for (const int xrange : {1, 2, 3, 5, n, n + 3}) {
    const Note note("xrange " + std::to_string(xrange));
    const int width = xrange < n ? xrange : n;  // larger ones are clamped, section 9.4.7
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    auto* const split = xrange % 2 == 0 ? shmem_team_split_2d : pshmem_team_split_2d;
    CHECK_EQUAL(split(SHMEM_TEAM_WORLD, xrange, nullptr, 0, &row, nullptr, 0, &column), 0);
    const int x = me() % width, y = me() / width;
    std::vector<int> row_members, column_members;
    for (int pe = 0; pe < n; ++pe) {
      if (pe / width == y) row_members.push_back(pe);
      if (pe % width == x) column_members.push_back(pe);
    }
    check_members(row, row_members);
    check_members(column, column_members);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
  }
  for (const int xrange : {0, -1}) {
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, nullptr, 0, &row, nullptr, 0, &column) != 0);
    CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
  }
  shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, nullptr, 0, &row, nullptr, 0, &column) != 0);
  CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
}

PE_TEST(splits_nest) {
  // Halve from the front until one PE is left; on each level reverse the order.
  shmem_team_t parent = SHMEM_TEAM_WORLD;
  std::vector<int> members = strided(0, 1, pes());
  std::vector<shmem_team_t> made;
  while (members.size() > 1) {
    const int half = static_cast<int>(members.size() + 1) / 2;
    shmem_team_t child = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(parent, half - 1, -1, half, nullptr, 0, &child), 0);
    std::vector<int> next;
    for (int i = half - 1; i >= 0; --i) next.push_back(members[static_cast<std::size_t>(i)]);
    check_members(child, next);
    if (child == SHMEM_TEAM_INVALID) break;
    if (parent != SHMEM_TEAM_WORLD)
      for (std::size_t i = 0; i < next.size(); ++i)
        CHECK_EQUAL(shmem_team_translate_pe(child, static_cast<int>(i), parent), half - 1 - static_cast<int>(i));
    made.push_back(child);
    parent = child;
    members = next;
  }
  // A PE outside a team has no number in it.
  if (!made.empty() && members.size() == 1 && pes() > 1) {
    const int outside = members[0] == 0 ? pes() - 1 : 0;
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, outside, made.back()), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes(), SHMEM_TEAM_WORLD), -1);
  }
  while (!made.empty()) {
    shmem_team_destroy(made.back());
    made.pop_back();
  }
  CHECK(parent != SHMEM_TEAM_INVALID);
}

// Section 7: the shared team is a valid parent.
PE_TEST(the_shared_team_can_be_split) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  const int n = shmem_team_n_pes(SHMEM_TEAM_SHARED);
  CHECK_EQUAL(pshmem_team_split_strided(SHMEM_TEAM_SHARED, n - 1, -1, n, nullptr, 0, &team), 0);
  CHECK_EQUAL(shmem_team_my_pe(team), n - 1 - shmem_team_my_pe(SHMEM_TEAM_SHARED));
  CHECK_EQUAL(shmem_team_sync(team), 0);
  shmem_team_destroy(team);
}

PE_TEST(a_thousand_teams_are_created_and_destroyed) {
  static long one[1], sum[1];
  one[0] = 1;
  const int rounds = pes() > 8 ? 50 : 1000;
  int bad = 0;
  for (int i = 0; i < rounds; ++i) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    bad += shmem_team_split_strided(SHMEM_TEAM_WORLD, i % pes(), -1, i % pes() + 1, nullptr, 0, &team) != 0;
    if (i % 10 == 0 && team != SHMEM_TEAM_INVALID) {
      bad += shmem_long_sum_reduce(team, sum, one, 1) != 0;
      bad += sum[0] != i % pes() + 1;
    }
    bad += (team == SHMEM_TEAM_INVALID) != (me() > i % pes());
    shmem_team_destroy(team);
  }
  CHECK_EQUAL(bad, 0);
}

PE_TEST(many_teams_exist_at_once) {
  constexpr int kTeams = 24;
  static long source[1], dest[1];
  std::vector<shmem_team_t> teams(kTeams, SHMEM_TEAM_INVALID);
  for (shmem_team_t& team : teams)
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team), 0);
  for (int i = 0; i < kTeams; ++i) {
    for (int j = 0; j < i; ++j) CHECK(teams[static_cast<std::size_t>(i)] != teams[static_cast<std::size_t>(j)]);
    source[0] = me() + i;
    CHECK_EQUAL(shmem_long_sum_reduce(teams[static_cast<std::size_t>(i)], dest, source, 1), 0);
    CHECK_EQUAL(dest[0], pes() * (pes() - 1) / 2 + static_cast<long>(i) * pes());
    shmem_team_sync(teams[static_cast<std::size_t>(i)]);
  }
  for (int i = kTeams - 1; i >= 0; i -= 2) shmem_team_destroy(teams[static_cast<std::size_t>(i)]);
  for (int i = kTeams - 2; i >= 0; i -= 2) {
    CHECK_EQUAL(pshmem_team_sync(teams[static_cast<std::size_t>(i)]), 0);
    shmem_team_destroy(teams[static_cast<std::size_t>(i)]);
  }
}

// Section 9.4: parent and child are usable at once after the split, without a barrier.
PE_TEST(a_child_is_usable_at_once) {
  static int source[1], dest[2048];
  source[0] = me();
  int bad = 0;
  for (int i = 0; i < 60; ++i) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    if (me() == i % pes()) usleep(50);  // one PE comes late
    bad += shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team) != 0;
    bad += shmem_int_fcollect(team, dest, source, 1) != 0;
    for (int pe = 0; pe < pes(); ++pe) bad += dest[pe] != pe;
    bad += shmem_team_sync(SHMEM_TEAM_WORLD) != 0;
    shmem_team_destroy(team);
  }
  CHECK_EQUAL(bad, 0);
}

// Section 9.1.10.
PE_TEST(team_ptr_takes_team_numbers) {
  Symmetric<long> word;
  *word = 500 + me();
  shmem_barrier_all();
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), nullptr, 0, &team);
  for (int pe = 0; pe < pes(); ++pe) {
    const auto* const there = static_cast<const long*>(shmem_team_ptr(team, word.get(), pe));
    CHECK(there != nullptr || pes() - 1 - pe != me());
    if (there != nullptr) CHECK_EQUAL(*there, 500 + pes() - 1 - pe);
    CHECK(pshmem_team_ptr(team, word.get(), pe) == there);
    CHECK(shmem_ptr(word.get(), pes() - 1 - pe) == there);
  }
  CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, word.get(), 0) == nullptr);
  shmem_team_destroy(team);
}
