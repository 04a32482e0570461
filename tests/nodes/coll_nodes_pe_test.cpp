// Collectives where the PEs of a team stand on several nodes: teams that cross nodes in every order, lengths around the
// limits of the algorithms, and data that must be visible after a barrier.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxLongs = kMaxBytes / sizeof(long);

// Whole nodes, parts of nodes, every second or third PE, backwards.
class Teams {
 public:
  Teams() {
    all_.push_back(SHMEM_TEAM_WORLD);
    add(pes() - 1, -1, pes());
    add(0, 2, (pes() + 1) / 2);
    add(pes() > 1 ? 1 : 0, 2, pes() > 1 ? pes() / 2 : 1);
    add(0, 3, (pes() + 2) / 3);
    add(0, 1, (pes() + 1) / 2);
    add(pes() / 2, 1, pes() - pes() / 2);
    if (pes() > 3) add(1, 1, pes() - 2);
  }
  ~Teams() {
    for (std::size_t i = 1; i < all_.size(); ++i) shmem_team_destroy(all_[i]);
  }
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  // The teams of which this PE is a member.
  template <class Test>
  void each(const Test& test) const {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i] == SHMEM_TEAM_INVALID) continue;
      const Note note(" team " + std::to_string(i));
      test(all_[i]);
    }
  }

 private:
  void add(int start, int stride, int size) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team);
    all_.push_back(team);
  }

  std::vector<shmem_team_t> all_;
};

long word(int from, int to, std::size_t i, std::size_t call) {
  return static_cast<long>((static_cast<std::size_t>(from) * 131 + static_cast<std::size_t>(to) * 17 + call) * 65599 +
                           i);
}

struct Arrays {
  Symmetric<long> dest{kMaxLongs + 1};
  Symmetric<long> source{kMaxLongs};
};

constexpr std::size_t kCounts[] = {0, 1, 2, 31, 512, 1024, 1025, 2048, 2049, 8192, 8193, 20001, kMaxLongs};

}  // namespace

PE_TEST(broadcasts_of_every_length_from_every_root) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t count : kCounts) {
      for (int root = 0; root<n; root += count> 10000 ? 3 : 1) {
        for (std::size_t i = 0; i < count; ++i) a.source[i] = word(index, 0, i, count);
        std::memset(a.dest.get(), 1, (count + 1) * sizeof(long));
        const long guard = a.dest[count];
        shmem_team_sync(team);
        CHECK_EQUAL(shmem_long_broadcast(team, a.dest.get(), a.source.get(), count, root), 0);
        std::size_t bad = 0;
        for (std::size_t i = 0; i < count; ++i) bad += a.dest[i] != word(root, 0, i, count);
        CHECK_EQUAL(bad, 0u);
        CHECK_EQUAL(a.dest[count], guard);
      }
    }
  });
}

// More than what goes whole to another node, and enough for a chain of nodes. The second one follows at once.
PE_TEST(very_long_broadcasts_are_passed_on_in_segments) {
  const std::size_t count = (std::size_t{9} << 20) / sizeof(long) + 5;
  const int roots[] = {pes() - 1, pes() / 2};
  Symmetric<long> dest(2 * (count + 1)), source(count);
  long* const dests[] = {dest.get(), dest.get() + count + 1};
  for (std::size_t i = 0; i < count; ++i) source[i] = word(me(), 5, i, count);
  dests[0][count] = dests[1][count] = 77;
  shmem_barrier_all();
  for (std::size_t turn = 0; turn < 2; ++turn)
    CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, dests[turn], source.get(), count, roots[turn]), 0);
  for (std::size_t turn = 0; turn < 2; ++turn) {
    std::size_t bad = 0;
    for (std::size_t i = 0; i < count; ++i) bad += dests[turn][i] != word(roots[turn], 5, i, count);
    CHECK_EQUAL(bad, 0u);
    CHECK_EQUAL(dests[turn][count], 77);
  }
}

// Without barriers between the calls, so that PEs run ahead of each other as far as the routines allow.
PE_TEST(collectives_without_a_barrier_between_them) {
  const Teams teams;
  constexpr int kTurns = 40;
  constexpr std::size_t kMost = 3000;
  Symmetric<long> dest(kTurns * kMost), source(kTurns * kMost), sums(kTurns);
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < kMost; ++i)
        source[static_cast<std::size_t>(turn) * kMost + i] = word(index, turn, i, 3);
    }
    shmem_team_sync(team);
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto at = static_cast<std::size_t>(turn) * kMost;
      const std::size_t count = turn % 3 == 0 ? kMost : 5;
      shmem_long_broadcast(team, &dest[at], &source[at], count, turn % n);
      shmem_long_sum_reduce(team, &sums[static_cast<std::size_t>(turn)], &source[at], 1);
    }
    std::size_t bad = 0;
    for (int turn = 0; turn < kTurns; ++turn) {
      const auto at = static_cast<std::size_t>(turn) * kMost;
      const std::size_t count = turn % 3 == 0 ? kMost : 5;
      for (std::size_t i = 0; i < count; ++i) bad += dest[at + i] != word(turn % n, turn, i, 3);
      long sum = 0;
      for (int pe = 0; pe < n; ++pe) sum += word(pe, turn, 0, 3);
      bad += sums[static_cast<std::size_t>(turn)] != sum;
    }
    CHECK_EQUAL(bad, 0u);
    shmem_team_sync(team);
  });
}

PE_TEST(contributions_of_every_length_are_collected) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t all : kCounts) {
      const std::size_t count = all / static_cast<std::size_t>(n);
      for (std::size_t i = 0; i < count; ++i) a.source[i] = word(index, 1, i, count);
      std::memset(a.dest.get(), 1, (all + 1) * sizeof(long));
      shmem_team_sync(team);
      CHECK_EQUAL(shmem_long_fcollect(team, a.dest.get(), a.source.get(), count), 0);
      std::size_t bad = 0;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < count; ++i)
          bad += a.dest[static_cast<std::size_t>(pe) * count + i] != word(pe, 1, i, count);
      }
      CHECK_EQUAL(bad, 0u);
    }
  });
}

// Some PEs contribute no element, and may pass a null pointer.
PE_TEST(contributions_of_different_lengths_are_collected) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t most : {1, 7, 900, 6000}) {
      const std::size_t unit = std::min(most, kMaxLongs / static_cast<std::size_t>(4 * n));
      const auto count_of = [&](int pe) { return pe % 3 == 1 ? 0 : unit * static_cast<std::size_t>(1 + pe % 4); };
      for (std::size_t i = 0; i < count_of(index); ++i) a.source[i] = word(index, 2, i, unit);
      shmem_team_sync(team);
      const long* const source = count_of(index) == 0 ? nullptr : a.source.get();
      CHECK_EQUAL(shmem_long_collect(team, a.dest.get(), source, count_of(index)), 0);
      std::size_t bad = 0, at = 0;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < count_of(pe); ++i) bad += a.dest[at++] != word(pe, 2, i, unit);
      }
      CHECK_EQUAL(bad, 0u);
    }
  });
}

PE_TEST(blocks_of_every_length_are_exchanged) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t block : {1, 3, 63, 64, 65, 700, 5000}) {
      if (block * static_cast<std::size_t>(n) > kMaxLongs) continue;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < block; ++i)
          a.source[static_cast<std::size_t>(pe) * block + i] = word(index, pe, i, block);
      }
      shmem_team_sync(team);
      CHECK_EQUAL(shmem_long_alltoall(team, a.dest.get(), a.source.get(), block), 0);
      std::size_t bad = 0;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < block; ++i)
          bad += a.dest[static_cast<std::size_t>(pe) * block + i] != word(pe, index, i, block);
      }
      CHECK_EQUAL(bad, 0u);
    }
  });
}

PE_TEST(strided_blocks_are_exchanged) {
  const Teams teams;
  const Arrays a;
  constexpr std::size_t kDst = 3, kSst = 2;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t block : {1, 5, 64, 300}) {
      for (std::size_t i = 0; i < kMaxLongs; ++i) a.dest[i] = -1;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < block; ++i)
          a.source[(static_cast<std::size_t>(pe) * block + i) * kSst] = word(index, pe, i, block);
      }
      shmem_team_sync(team);
      CHECK_EQUAL(shmem_long_alltoalls(team, a.dest.get(), a.source.get(), kDst, kSst, block), 0);
      std::size_t bad = 0;
      for (int pe = 0; pe < n; ++pe) {
        for (std::size_t i = 0; i < block; ++i) {
          const std::size_t at = (static_cast<std::size_t>(pe) * block + i) * kDst;
          bad += a.dest[at] != word(pe, index, i, block);
          bad += a.dest[at + 1] != -1;
        }
      }
      CHECK_EQUAL(bad, 0u);
    }
  });
}

PE_TEST(reductions_of_every_length) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
    for (const std::size_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        for (std::size_t i = 0; i < count; ++i) a.source[i] = word(index, 3, i, count);
        long* const dest = in_place ? a.source.get() : a.dest.get();
        shmem_team_sync(team);
        CHECK_EQUAL(shmem_long_sum_reduce(team, dest, a.source.get(), count), 0);
        std::size_t bad = 0;
        for (std::size_t i = 0; i < count; ++i) {
          long sum = 0;
          for (int pe = 0; pe < n; ++pe) sum += word(pe, 3, i, count);
          bad += dest[i] != sum;
        }
        CHECK_EQUAL(bad, 0u);
        shmem_team_sync(team);
      }
    }
  });
}

PE_TEST(scans_of_every_length) {
  const Teams teams;
  const Arrays a;
  teams.each([&](shmem_team_t team) {
    const int index = shmem_team_my_pe(team);
    for (const std::size_t count : kCounts) {
      for (const bool exclusive : {false, true}) {
        for (std::size_t i = 0; i < count; ++i) a.source[i] = word(index, 4, i, count);
        long* const dest = count % 2 == 0 ? a.source.get() : a.dest.get();
        shmem_team_sync(team);
        CHECK_EQUAL(exclusive ? shmem_long_sum_exscan(team, dest, a.source.get(), count)
                              : shmem_long_sum_inscan(team, dest, a.source.get(), count),
                    0);
        std::size_t bad = 0;
        for (std::size_t i = 0; i < count; ++i) {
          long sum = 0;
          for (int pe = 0; pe < index + (exclusive ? 0 : 1); ++pe) sum += word(pe, 4, i, count);
          bad += dest[i] != sum;
        }
        CHECK_EQUAL(bad, 0u);
        shmem_team_sync(team);
      }
    }
  });
}

// A floating-point reduction may use any order, but always the same one: all PEs get the same bits, every time.
PE_TEST(floating_results_have_the_same_bits_everywhere_and_always) {
  const Teams teams;
  constexpr std::size_t kMost = 30000;
  Symmetric<double> source(kMost), dest(kMost), again(kMost), of_first(kMost);
  for (std::size_t i = 0; i < kMost; ++i)
    source[i] =
        (me() + static_cast<int>(i)) % 2 == 0 ? 1e12 / (static_cast<double>(i) + 1.1 * (me() + 1)) : 1e-9 * me();
  teams.each([&](shmem_team_t team) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{1500}, kMost}) {
      shmem_team_sync(team);
      shmem_double_sum_reduce(team, dest.get(), source.get(), count);
      shmem_double_sum_reduce(team, again.get(), source.get(), count);
      CHECK(std::memcmp(dest.get(), again.get(), count * sizeof(double)) == 0);
      shmem_double_broadcast(team, of_first.get(), dest.get(), count, 0);
      CHECK(std::memcmp(dest.get(), of_first.get(), count * sizeof(double)) == 0);
      shmem_team_sync(team);
    }
  });
}

// Data that were put before a barrier are visible after it, on every node.
PE_TEST(puts_before_a_barrier_are_visible_after_it) {
  constexpr int kRounds = 400;
  Symmetric<long> slots(static_cast<std::size_t>(2 * pes()));
  std::size_t bad = 0;
  for (int round = 1; round <= kRounds; ++round) {
    const auto half = static_cast<std::size_t>((round & 1) * pes());
    for (int pe = 0; pe < pes(); ++pe)
      shmem_long_p(&slots[half + static_cast<std::size_t>(me())], round * 1000 + me(), pe);
    shmem_barrier_all();
    for (int pe = 0; pe < pes(); ++pe) bad += slots[half + static_cast<std::size_t>(pe)] != round * 1000 + pe;
  }
  CHECK_EQUAL(bad, 0u);
}

PE_TEST(barriers_of_many_teams_follow_each_other) {
  const Teams teams;
  Symmetric<long> count(1);
  for (int round = 1; round <= 50; ++round) {
    teams.each([&](shmem_team_t team) {
      const int n = shmem_team_n_pes(team), index = shmem_team_my_pe(team);
      const int next = shmem_team_translate_pe(team, (index + 1) % n, SHMEM_TEAM_WORLD);
      shmem_long_atomic_inc(count.get(), next);
      shmem_quiet();
      shmem_team_sync(team);
    });
  }
  shmem_barrier_all();
  int memberships = 0;
  teams.each([&](shmem_team_t) { ++memberships; });
  CHECK_EQUAL(*count, 50L * memberships);
}

// The root reuses its source for every call: a broadcast may not return before the source has been read.
PE_TEST(sources_may_be_written_after_the_call) {
  const Arrays a;
  std::size_t bad = 0;
  for (const std::size_t count : {std::size_t{4}, std::size_t{3000}, std::size_t{40000}}) {
    for (int turn = 0; turn < 12; ++turn) {
      const int root = turn % pes();
      if (me() == root) {
        for (std::size_t i = 0; i < count; ++i) a.source[i] = word(root, turn, i, count);
      }
      shmem_long_broadcast(SHMEM_TEAM_WORLD, a.dest.get(), a.source.get(), count, root);
      if (me() == root) std::memset(a.source.get(), 0xff, count * sizeof(long));
      for (std::size_t i = 0; i < count; ++i) bad += a.dest[i] != word(root, turn, i, count);
      shmem_sync_all();  // the next call writes dest
    }
  }
  CHECK_EQUAL(bad, 0u);
}

// Each PE in turn enters when all others are about to wait in the collective: on small nodes the last member to arrive
// takes the data of its node from memory that the others may write as soon as they return.
PE_TEST(whoever_arrives_last_finds_the_data_of_its_node) {
  const auto n = static_cast<std::size_t>(pes());
  Symmetric<long> arrived(1), sum(600), dest(n * n), block(n), blocks(n);
  std::size_t bad = 0;
  const auto arrive_after_others = [&](int late) {
    shmem_barrier_all();
    *arrived = 0;
    shmem_barrier_all();
    if (me() == late) {
      shmem_long_wait_until(arrived.get(), SHMEM_CMP_EQ, pes() - 1);
    } else {
      shmem_long_atomic_inc(arrived.get(), late);
      shmem_quiet();
    }
  };
  for (int late = 0; late < pes(); ++late) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{600}}) {
      for (std::size_t i = 0; i < count; ++i) sum[i] = word(me(), late, i, count);
      arrive_after_others(late);
      shmem_long_max_reduce(SHMEM_TEAM_WORLD, sum.get(), sum.get(), count);
      for (std::size_t i = 0; i < count; ++i) bad += sum[i] != word(pes() - 1, late, i, count);
      std::fill_n(sum.get(), count, -1);
    }
    for (int pe = 0; pe < pes(); ++pe) blocks[static_cast<std::size_t>(pe)] = word(me(), pe, 1, 6);
    arrive_after_others(late);
    shmem_long_alltoall(SHMEM_TEAM_WORLD, block.get(), blocks.get(), 1);
    std::fill_n(blocks.get(), n, -1);
    for (int pe = 0; pe < pes(); ++pe) bad += block[static_cast<std::size_t>(pe)] != word(pe, me(), 1, 6);
    for (int pe = 0; pe < pes(); ++pe) blocks[static_cast<std::size_t>(pe)] = word(me(), pe, 2, 7);
    arrive_after_others(late);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest.get(), blocks.get(), n);
    std::fill_n(blocks.get(), n, -1);
    for (int pe = 0; pe < pes(); ++pe) {
      for (int to = 0; to < pes(); ++to)
        bad += dest[static_cast<std::size_t>(pe) * n + static_cast<std::size_t>(to)] != word(pe, to, 2, 7);
    }
  }
  CHECK_EQUAL(bad, 0u);
}

// The members of a node that send for it have connections of their own, on which messages may overtake each other. None
// is still under way when its team has ended: the next team has its slot.
PE_TEST(teams_end_when_all_messages_of_their_nodes_have_come) {
  int failed = 0;
  for (int round = 0; round < 300; ++round) {
    const bool is_reversed = round % 2 == 1;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    failed |= shmem_team_split_strided(SHMEM_TEAM_WORLD, is_reversed ? pes() - 1 : 0, is_reversed ? -1 : 1, pes(),
                                       nullptr, 0, &team);
    for (int i = 0; i <= round % 3; ++i) shmem_team_sync(team);
    shmem_team_destroy(team);
  }
  CHECK_EQUAL(failed, 0);
}
