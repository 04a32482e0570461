#include "bootstrap/status.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "base/clock.hpp"
#include "bootstrap/table_request.hpp"

BOOST_AUTO_TEST_SUITE(launcher_status)

using shmemx::bootstrap::describe;
using shmemx::bootstrap::PeActivity;

using Lines = std::vector<std::string>;

constexpr std::uint64_t kSecond = 1'000'000'000;

BOOST_AUTO_TEST_CASE(pes_that_do_the_same_share_a_line) {
  std::vector<PeActivity> all;
  for (int pe = 0; pe < 1000; ++pe)
    all.push_back({pe, 100 + pe, "shmem_barrier_all", {}, 0, (pe == 0 ? 2 : 11) * kSecond});
  all[1] = {1, 101, {}, "computing"};
  const Lines expected{"pe 0, 2..999: waiting in shmem_barrier_all for 2.0 to 11 s", "pe 1 (pid 101): computing",
                       "pe 1 is the only one that is not in shmem_barrier_all"};
  const Lines lines = describe(all);
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(two_pes_keep_nobody_waiting_alone) {
  const Lines lines = describe({{0, 10, "shmem_quiet", {}, 0, 0}, {1, 0, {}, "has not called shmem_init"}});
  const Lines expected{"pe 1: has not called shmem_init", "pe 0 (pid 10): waiting in shmem_quiet"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(lines_tell_how_much_of_the_heap_is_in_use) {
  constexpr std::uint64_t kMiB = 1 << 20;
  std::vector<PeActivity> all = {{0, 0, "shmem_quiet", {}}, {1, 0, "shmem_quiet", {}}, {2, 0, {}, "computing"}};
  for (PeActivity& one : all) one.heap_limit = 64 * kMiB;
  all[0].heap_used = 128;
  all[1].heap_used = 3 * kMiB / 2;
  const Lines lines = describe(all);
  const Lines expected{"pe 0, 1: waiting in shmem_quiet; heap in use: 128 B to 1.5 MiB of 64 MiB",
                       "pe 2: computing; heap in use: 0 B of 64 MiB",
                       "pe 2 is the only one that is not in shmem_quiet"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(pes_that_wait_in_the_same_routine_at_two_places_are_not_alone) {
  const Lines lines = describe(
      {{0, 0, "shmem_quiet", {}, 0x10, 0}, {1, 0, "shmem_quiet", {}, 0x10, 0}, {2, 0, "shmem_quiet", {}, 0x20, 0}});
  const Lines expected{"pe 0, 1: waiting in shmem_quiet", "pe 2: waiting in shmem_quiet"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(a_record_tells_what_its_pe_does) {
  using namespace shmemx::bootstrap;
  JobHeader header{};
  PeRecord record{};
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "has not called shmem_init");
  record.pid = ::getpid();
  record.phase = static_cast<std::uint32_t>(PePhase::running);
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "computing");
  set_routine(record, "shmem_quiet");
  record.waiting_since_ns = 1;
  const PeActivity waiting = activity_of(&header, record, 3);
  BOOST_CHECK_EQUAL(waiting.routine, "shmem_quiet");
  BOOST_CHECK_GT(waiting.waited_ns, 0U);
  BOOST_CHECK_EQUAL(waiting.pe, 3);
  set_routine(record, "\033[2J");  // no text
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "computing");
  record.phase = static_cast<std::uint32_t>(PePhase::finalized);
  BOOST_CHECK_EQUAL(activity_of(&header, record, 0).doing, "after shmem_finalize, computing");
}

BOOST_AUTO_TEST_CASE(a_loop_of_tests_shows_while_it_goes_on) {
  using namespace shmemx::bootstrap;
  JobHeader header{};
  PeRecord record{};
  record.pid = ::getpid();
  record.phase = static_cast<std::uint32_t>(PePhase::running);
  PollingLoop loop{};
  BOOST_CHECK_EQUAL(activity_of(&header, record, 1, &loop).doing, "computing");
  const std::uint64_t now = shmemx::now_ns();
  set_words(loop.routine, "shmem_long_test");
  store(awaited_word<long>(nullptr, 1, 5, 4), loop.awaited);
  loop.since_ns = now - 30 * kSecond;
  loop.last_ns = now;
  const Lines lines = describe({activity_of(&header, record, 1, &loop)});
  BOOST_REQUIRE_EQUAL(lines.size(), 1U);
  BOOST_TEST(lines[0].find("): polling in shmem_long_test(0x0, SHMEM_CMP_EQ, 5), now 4 for 30") != std::string::npos,
             lines[0]);
  loop.last_ns = now - 20 * kSecond;
  BOOST_CHECK_EQUAL(activity_of(&header, record, 1, &loop).doing, "computing");
  loop.last_ns = now;
  set_routine(record, "shmem_quiet");
  record.waiting_since_ns = now - kSecond;
  BOOST_CHECK_EQUAL(activity_of(&header, record, 1, &loop).routine, "shmem_quiet");
}

BOOST_AUTO_TEST_CASE(a_pe_answers_a_request_for_the_table_once) {
  using namespace shmemx::bootstrap;
  auto file = create_job_file(4, 7);
  BOOST_REQUIRE(file);
  auto mapped = map_job_header(file->get(), 4, 7);
  BOOST_REQUIRE(mapped);
  JobHeader& header = **mapped;
  BOOST_CHECK_EQUAL(take_table_request(header), 0U);
  std::optional<Lines> lines;
  std::thread other([&] { lines = request_table(&header); });
  while (!is_table_requested(header)) std::this_thread::yield();
  const std::uint32_t request = take_table_request(header);
  BOOST_CHECK_NE(request, 0U);
  BOOST_CHECK_EQUAL(take_table_request(header), 0U);
  give_table(header, request, {"pe 0: computing", std::string(kTableBytes, 'x'), "pe 1: \033[2J"});
  other.join();
  const Lines expected{"pe 0: computing"};
  BOOST_REQUIRE(lines);
  BOOST_CHECK_EQUAL_COLLECTIONS(lines->begin(), lines->end(), expected.begin(), expected.end());
  unmap_job_header(&header);
}

BOOST_AUTO_TEST_CASE(a_request_that_no_pe_takes_ends_without_lines) {
  using namespace shmemx::bootstrap;
  auto file = create_job_file(4, 7);
  BOOST_REQUIRE(file);
  auto mapped = map_job_header(file->get(), 4, 7);
  BOOST_REQUIRE(mapped);
  BOOST_CHECK(!request_table(*mapped));
  unmap_job_header(*mapped);
}

using shmemx::bootstrap::Awaited;

PeActivity waiting(int pe, const char* routine, const Awaited& awaited) { return {pe, 0, routine, {}, 0, 0, awaited}; }

Awaited word_of_heap(std::uint64_t offset, int value, int now) {
  Awaited awaited = shmemx::bootstrap::awaited_word<int>(nullptr, 1, value, now);
  awaited.space = Awaited::Space::heap;
  awaited.at = offset;
  return awaited;
}

BOOST_AUTO_TEST_CASE(arguments_that_differ_little_have_lines_of_their_own) {
  const Lines lines = describe({waiting(0, "shmem_int_wait_until", word_of_heap(64, 5, 4)),
                                waiting(1, "shmem_int_wait_until", word_of_heap(64, 5, -4)),
                                waiting(2, "shmem_int_wait_until", word_of_heap(128, -1, 0))});
  const Lines expected{"pe 0, 1: waiting in shmem_int_wait_until(heap+0x40, SHMEM_CMP_EQ, 5), now -4..4",
                       "pe 2: waiting in shmem_int_wait_until(heap+0x80, SHMEM_CMP_EQ, -1), now 0"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(many_pes_with_other_arguments_share_a_line) {
  std::vector<PeActivity> all;
  for (int pe = 0; pe < 1000; ++pe)
    all.push_back(waiting(pe, "shmem_int_wait_until", word_of_heap(64 + pe % 2 * 64, pe, 0)));
  const Lines lines = describe(all);
  const Lines expected{"pe 0..999: waiting in shmem_int_wait_until(..., SHMEM_CMP_EQ, 0..999), now 0"};
  BOOST_CHECK_EQUAL_COLLECTIONS(lines.begin(), lines.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(a_record_keeps_arguments) {
  namespace bootstrap = shmemx::bootstrap;
  Awaited team;
  team.kind = Awaited::Kind::team;
  team.at = 5 | std::uint64_t{4} << 32;
  team.value = 1 | std::uint64_t{2} << 32;
  team.pe = 3;
  team.count = 1;
  bootstrap::AwaitedWords words{};
  bootstrap::store(team, words);
  BOOST_CHECK(bootstrap::load(words).is_like(team));
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {team}), "(team of PEs 1, 3..7, root 3, 1 element)");
  team.value = std::uint64_t{1} << 32;
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {team}), "(team of PEs 0..3, root 3, 1 element)");
  team.at = 1 | std::uint64_t{4} << 32;
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {team}), "(team WORLD, root 3, 1 element)");
  Awaited message;
  message.kind = Awaited::Kind::message;
  message.tag = 7;
  bootstrap::store(message, words);
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {bootstrap::load(words)}), "(any pe, tag 7)");
  words.form = ~std::uint64_t{0};  // no kind
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {bootstrap::load(words)}), "");
  BOOST_CHECK_EQUAL(bootstrap::awaited_text("", {team, message}), "");
}

BOOST_AUTO_TEST_SUITE_END()
