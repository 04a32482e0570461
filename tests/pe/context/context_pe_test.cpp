// Contexts (section 9.5): options, teams, team-relative PE numbers in every family, life time; sessions (9.9).
#include <pshmem.h>

#include <climits>
#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr long kAllOptions[] = {0,
                                SHMEM_CTX_SERIALIZED,
                                SHMEM_CTX_PRIVATE,
                                SHMEM_CTX_NOSTORE,
                                SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE,
                                SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
                                SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE};

// A team of all PEs in reverse order, so that team numbers and world numbers differ, and a context on it.
struct Reversed {
  Reversed() {
    shmem_team_config_t config = {4};
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), &config, SHMEM_TEAM_NUM_CONTEXTS, &team);
    status = shmem_team_create_ctx(team, 0, &ctx);
  }
  ~Reversed() {
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
  }
  // Translates world numbers to team numbers and vice versa: the map is its own inverse.
  int of(int pe) const { return pes() - 1 - pe; }
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  int status;
};

}  // namespace

PE_TEST(contexts_of_all_options_work) {
  Symmetric<long> word;
  for (const long options : kAllOptions) {
    const Note note("options " + std::to_string(options));
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK_EQUAL(shmem_ctx_create(options, &ctx), 0);
    if (!CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT)) ctx = SHMEM_CTX_DEFAULT;
    shmem_ctx_long_p(ctx, word.get(), 10 + options + me(), right());
    shmem_ctx_fence(ctx);
    shmem_ctx_long_atomic_add(ctx, word.get(), 1000, right());
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_ctx_long_g(ctx, word.get(), right()), 1010 + options + me());
    shmem_sync_all();
    CHECK_EQUAL(*word, 1010 + options + left());
    shmem_sync_all();
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    CHECK_EQUAL(shmem_team_n_pes(team), pes());
    CHECK_EQUAL(shmem_team_translate_pe(team, me(), SHMEM_TEAM_WORLD), me());
    if (ctx != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(ctx);
  }
}

// Section 9.5.3: destroying a context quiets it.
PE_TEST(destroying_a_context_completes_its_puts) {
  Symmetric<int> data(5000);
  std::vector<int> source(5000, 3 + me());
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK_EQUAL(pshmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  shmem_ctx_int_put_nbi(ctx, data.get(), source.data(), source.size(), right());
  pshmem_ctx_destroy(ctx);
  std::memset(source.data(), 0, source.size() * sizeof(int));
  shmem_sync_all();
  int bad = 0;
  for (std::size_t i = 0; i < 5000; ++i) bad += data[i] != 3 + left();
  CHECK_EQUAL(bad, 0);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  pshmem_ctx_destroy(SHMEM_CTX_INVALID);
}

PE_TEST(the_team_of_a_context_can_be_queried) {
  const Reversed reversed;
  CHECK_EQUAL(reversed.status, 0);
  shmem_team_t team = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_ctx_get_team(reversed.ctx, &team), 0);
  CHECK(team == reversed.team);
  CHECK_EQUAL(pshmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
  CHECK(team == SHMEM_TEAM_WORLD);
  CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
  CHECK(team == SHMEM_TEAM_INVALID);
}

// Section 9.5.2.
PE_TEST(no_context_on_an_invalid_team) {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
  CHECK(ctx == SHMEM_CTX_INVALID);
}

// Sections 9.5 and 9.6: PE numbers are relative to the team of the context, in every family.
PE_TEST(put_numbers_are_relative_to_the_team) {
  const Reversed r;
  Symmetric<long> data(64);
  long source[64];
  const int there = r.of(right());
  const auto expect = [&](long base, std::size_t count, std::size_t step) {
    shmem_ctx_quiet(r.ctx);
    shmem_sync_all();
    for (std::size_t i = 0; i < count; ++i) CHECK_EQUAL(data[i * step], base + 100 * left() + static_cast<long>(i));
    shmem_sync_all();
  };
  const auto load = [&](long base) {
    for (int i = 0; i < 64; ++i) source[i] = base + 100 * me() + i;
  };
  load(1);
  shmem_ctx_long_put(r.ctx, data.get(), source, 64, there);
  expect(1, 64, 1);
  load(2);
  shmem_ctx_long_put_nbi(r.ctx, data.get(), source, 64, there);
  expect(2, 64, 1);
  load(3);
  shmem_ctx_long_iput(r.ctx, data.get(), source, 2, 1, 20, there);
  expect(3, 20, 2);
  load(4);
  shmem_ctx_long_ibput(r.ctx, data.get(), source, 1, 1, 1, 20, there);
  expect(4, 20, 1);
  load(5);
  shmem_ctx_putmem(r.ctx, data.get(), source, sizeof source, there);
  expect(5, 64, 1);
  load(6);
  shmem_ctx_put64(r.ctx, data.get(), source, 64, there);
  expect(6, 64, 1);
  for (std::size_t i = 0; i < 8; ++i) shmem_ctx_long_p(r.ctx, &data[i], 7 + 100 * me() + static_cast<long>(i), there);
  expect(7, 8, 1);
}

PE_TEST(get_numbers_are_relative_to_the_team) {
  const Reversed r;
  Symmetric<long> data(64);
  long got[64];
  const int there = r.of(right());
  for (int i = 0; i < 64; ++i) data[static_cast<std::size_t>(i)] = 9 + 100 * me() + i;
  shmem_sync_all();
  const auto check_got = [&](int count) {
    shmem_ctx_quiet(r.ctx);
    for (int i = 0; i < count; ++i) CHECK_EQUAL(got[i], 9 + 100 * right() + i);
    std::memset(got, 0, sizeof got);
  };
  shmem_ctx_long_get(r.ctx, got, data.get(), 64, there);
  check_got(64);
  shmem_ctx_long_get_nbi(r.ctx, got, data.get(), 64, there);
  check_got(64);
  shmem_ctx_long_iget(r.ctx, got, data.get(), 1, 1, 30, there);
  check_got(30);
  shmem_ctx_long_ibget(r.ctx, got, data.get(), 2, 2, 2, 15, there);
  check_got(30);
  shmem_ctx_getmem(r.ctx, got, data.get(), sizeof got, there);
  check_got(64);
  CHECK_EQUAL(shmem_ctx_long_g(r.ctx, &data[5], there), 14 + 100 * right());
}

PE_TEST(atomic_numbers_are_relative_to_the_team) {
  const Reversed r;
  Symmetric<uint64_t> word;
  const int there = r.of(right());
  uint64_t old = 0;
  const auto base = static_cast<uint64_t>(1000 * me());
  shmem_ctx_uint64_atomic_set(r.ctx, word.get(), base, there);
  CHECK_EQUAL(shmem_uint64_atomic_fetch(word.get(), right()), base);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch(r.ctx, word.get(), there), base);
  shmem_ctx_uint64_atomic_inc(r.ctx, word.get(), there);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch_inc(r.ctx, word.get(), there), base + 1);
  shmem_ctx_uint64_atomic_add(r.ctx, word.get(), 4, there);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch_add(r.ctx, word.get(), 4, there), base + 6);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_compare_swap(r.ctx, word.get(), base + 10, 0xf0, there), base + 10);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_swap(r.ctx, word.get(), 0xf1, there), 0xf0u);
  shmem_ctx_uint64_atomic_and(r.ctx, word.get(), 0xf0, there);
  shmem_ctx_uint64_atomic_or(r.ctx, word.get(), 0x0e, there);
  shmem_ctx_uint64_atomic_xor(r.ctx, word.get(), 0xff, there);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch_or(r.ctx, word.get(), 2, there), 1u);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch_and(r.ctx, word.get(), 2, there), 3u);
  CHECK_EQUAL(shmem_ctx_uint64_atomic_fetch_xor(r.ctx, word.get(), 7, there), 2u);
  shmem_ctx_uint64_atomic_fetch_nbi(r.ctx, &old, word.get(), there);
  shmem_ctx_quiet(r.ctx);
  CHECK_EQUAL(old, 5u);
  shmem_ctx_uint64_atomic_fetch_add_nbi(r.ctx, &old, word.get(), static_cast<uint64_t>(me()), there);
  shmem_ctx_uint64_atomic_swap_nbi(r.ctx, &old, word.get(), 70u + static_cast<uint64_t>(me()), there);
  shmem_ctx_quiet(r.ctx);
  shmem_sync_all();
  CHECK_EQUAL(*word, 70u + static_cast<uint64_t>(left()));
}

PE_TEST(signal_and_quiet_numbers_are_relative_to_the_team) {
  const Reversed r;
  Symmetric<uint64_t> signal;
  Symmetric<int> data(10);
  int source[10];
  for (int i = 0; i < 10; ++i) source[i] = i + me();
  const int there = r.of(right());
  shmem_ctx_signal_set(r.ctx, signal.get(), 5, there);
  shmem_ctx_signal_add(r.ctx, signal.get(), 2, there);
  shmem_ctx_pe_quiet(r.ctx, &there, 1);
  CHECK_EQUAL(shmem_uint64_g(signal.get(), right()), 7u);
  shmem_sync_all();
  shmem_ctx_int_put_signal(r.ctx, data.get(), source, 10, signal.get(), 1, SHMEM_SIGNAL_ADD, there);
  shmem_signal_wait_until(signal.get(), SHMEM_CMP_EQ, 8);
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(data[static_cast<std::size_t>(i)], i + left());
  shmem_sync_all();
  shmem_ctx_putmem_signal_nbi(r.ctx, data.get(), source, 4, signal.get(), 100, SHMEM_SIGNAL_SET, there);
  shmem_ctx_quiet(r.ctx);
  shmem_signal_wait_until(signal.get(), SHMEM_CMP_EQ, 100);
  CHECK_EQUAL(data[0], left());
}

// A team of some PEs: numbers run from 0 to its size only.
PE_TEST_MIN(contexts_on_a_partial_team_address_its_members, 3) {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, pes() - 1, nullptr, 0, &team);
  Symmetric<int> word;
  if (team != SHMEM_TEAM_INVALID) {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK_EQUAL(pshmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx), 0);
    const int n = shmem_team_n_pes(team), i = shmem_team_my_pe(team);
    shmem_ctx_int_atomic_add(ctx, word.get(), 40 + i, (i + 1) % n);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK_EQUAL(*word, 40 + (i + n - 1) % n);
    shmem_ctx_destroy(ctx);
  }
  shmem_barrier_all();
  if (me() == 0) CHECK_EQUAL(*word, 0);
  shmem_team_destroy(team);
}

// Section 9.4.8: destroying a team ends the shareable contexts that were left on it.
PE_TEST(destroying_a_team_destroys_its_contexts) {
  for (int i = 0; i < 100; ++i) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_config_t config = {2};
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), &config, SHMEM_TEAM_NUM_CONTEXTS, &team);
    shmem_ctx_t first = SHMEM_CTX_INVALID, second = SHMEM_CTX_INVALID;
    CHECK_EQUAL(shmem_team_create_ctx(team, 0, &first), 0);
    CHECK_EQUAL(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &second), 0);
    shmem_team_destroy(team);
  }
}

PE_TEST(many_contexts_live_at_once) {
  Symmetric<long> word;
  std::vector<shmem_ctx_t> contexts(64, SHMEM_CTX_INVALID);
  for (shmem_ctx_t& ctx : contexts) CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
  for (shmem_ctx_t ctx : contexts)
    if (ctx != SHMEM_CTX_INVALID) shmem_ctx_long_atomic_inc(ctx, word.get(), right());
  for (shmem_ctx_t ctx : contexts) shmem_ctx_destroy(ctx);
  shmem_sync_all();
  CHECK_EQUAL(*word, 64);
  for (int i = 0; i < 2000; ++i) {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    if (shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx) != 0) CHECK_EQUAL(i, -1);
    shmem_ctx_destroy(ctx);
  }
}

// Section 9.9: hints without effect on order or completion; start on a started session and repeated stops are legal.
PE_TEST(sessions_have_no_visible_effect) {
  Symmetric<long> words(100);
  shmem_ctx_session_config_t config = {SIZE_MAX};
  shmem_ctx_t own = SHMEM_CTX_INVALID;
  CHECK_EQUAL(shmem_ctx_create(0, &own), 0);
  for (shmem_ctx_t ctx : {SHMEM_CTX_DEFAULT, own}) {
    shmem_ctx_session_start(ctx, 0, nullptr, 0);
    config.total_ops = 100;
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    pshmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, 0);
    for (std::size_t i = 0; i < 100; ++i) shmem_ctx_long_p(ctx, &words[i], static_cast<long>(i) + me(), right());
    shmem_ctx_quiet(ctx);
    for (std::size_t i = 0; i < 100; ++i)
      CHECK_EQUAL(shmem_ctx_long_g(ctx, &words[i], right()), static_cast<long>(i) + me());
    shmem_ctx_session_stop(ctx);
    pshmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_sync_all();
  }
  shmem_ctx_destroy(own);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
  for (std::size_t i = 0; i < 100; ++i) CHECK_EQUAL(words[i], static_cast<long>(i) + left());
}
