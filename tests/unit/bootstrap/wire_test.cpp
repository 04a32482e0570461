#include "bootstrap/wire.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>

BOOST_AUTO_TEST_SUITE(bootstrap_wire)

namespace {

using namespace shmemx;
using namespace shmemx::bootstrap;

constexpr std::uint32_t kPes = 5;
constexpr std::uint64_t kJob = 0x1234'5678'9abc'def0;

bool is_refused(int fd, std::uint32_t n_pes, std::uint64_t job_id) {
  const auto header = map_job_header(fd, n_pes, job_id);
  return !header && header.error().code == Errc::protocol && !header.error().text.empty();
}

static_assert(offsetof(JobHeader, arrived) % kCacheLine == 0 && offsetof(JobHeader, end_word) % kCacheLine == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace

BOOST_AUTO_TEST_CASE(records_do_not_overlap_and_fill_whole_pages) {
  for (std::size_t n_places = 1; n_places <= kMaxNodePes; ++n_places) {
    const std::size_t n_pes = n_places * 3;
    const JobLayout at(n_pes, n_places);
    BOOST_REQUIRE_EQUAL(at.bytes() % kPageBytes, 0U);
    BOOST_REQUIRE_EQUAL(at.foreign_records(), at.records() + n_places * sizeof(PeRecord));
    BOOST_REQUIRE_EQUAL(at.collective_waits(), at.foreign_records() + kForeignRecords * sizeof(PeRecord));
    BOOST_REQUIRE_GE(at.addresses(), at.collective_waits() + n_places * sizeof(CollectiveWait));
    BOOST_REQUIRE_LT(at.addresses(), at.collective_waits() + n_places * sizeof(CollectiveWait) + kPageBytes);
    BOOST_REQUIRE_GE(at.locations(), at.addresses() + n_places * sizeof(PeAddresses));
    BOOST_REQUIRE_EQUAL(at.locations() % alignof(PeLocation), 0U);
    BOOST_REQUIRE_GE(at.foreign_phases(), at.locations() + n_pes * sizeof(PeLocation));
    BOOST_REQUIRE_GE(at.foreign_addresses(), at.foreign_phases() + n_pes * sizeof(std::uint32_t));
    BOOST_REQUIRE_GE(at.published(), at.foreign_addresses() + n_pes * sizeof(ForeignAddresses));
    BOOST_REQUIRE_GE(at.bytes(), at.published() + n_pes * kPublishedBytes);
  }
  BOOST_CHECK_GE(JobLayout::records(), sizeof(JobHeader));
}

BOOST_AUTO_TEST_CASE(the_end_of_a_job_names_any_pe) {
  for (const JobState state : {JobState::global_exit, JobState::aborted}) {
    for (const int status : {0, 1, 255}) {
      for (const int pe : {0, 65535, 65536, (1 << 20) + 7, kMaxPes - 1}) {
        const JobEnd end = JobEnd::of(JobEnd{state, status, pe}.word());
        BOOST_CHECK(end.state == state && end.status == status && end.pe == pe);
      }
    }
  }
  BOOST_CHECK(JobEnd::of(0).state == JobState::running);
}

BOOST_AUTO_TEST_CASE(of_departed_pes_the_one_with_the_fewest_collectives_comes_first) {
  for (const int pe : {0, 65536, kMaxPes - 1}) {
    for (const std::uint64_t collectives : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 38}) {
      const std::uint64_t word = FirstDeparted::word(pe, collectives);
      BOOST_CHECK_NE(word, 0U);
      BOOST_CHECK_EQUAL(FirstDeparted::pe(word), pe);
      BOOST_CHECK_EQUAL(FirstDeparted::collectives(word), collectives);
    }
  }
  BOOST_CHECK_LT(FirstDeparted::word(kMaxPes - 1, 4), FirstDeparted::word(0, 5));
}

BOOST_AUTO_TEST_CASE(ids_are_not_zero_and_differ) {
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(random_id());
  BOOST_CHECK_EQUAL(ids.size(), 1000U);
  BOOST_CHECK_EQUAL(ids.count(0), 0U);
}

BOOST_AUTO_TEST_CASE(a_new_file_is_anonymous_private_and_as_long_as_its_header) {
  auto file = create_job_file(kPes, kJob);
  BOOST_REQUIRE(file);
  struct stat about {};
  BOOST_REQUIRE_EQUAL(::fstat(file->get(), &about), 0);
  BOOST_CHECK_EQUAL(static_cast<std::size_t>(about.st_size), header_bytes(kPes, kPes));
  BOOST_CHECK_EQUAL(about.st_nlink, 0U);
  BOOST_CHECK((::fcntl(file->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_CASE(the_header_is_shared_by_all_who_map_it) {
  auto file = create_job_file(kPes, kJob);
  auto first = map_job_header(file->get(), kPes, kJob);
  auto second = map_job_header(file->get(), kPes, kJob);
  BOOST_REQUIRE(first && second);
  JobHeader* const header = *first;
  BOOST_CHECK_EQUAL(header->job_id, kJob);
  BOOST_CHECK_EQUAL(header->n_pes, kPes);
  BOOST_CHECK_EQUAL(header->version, kWireVersion);
  BOOST_CHECK_EQUAL(header->arrived.load(), 0U);
  BOOST_CHECK_EQUAL(header->end_word.load(), static_cast<std::uint32_t>(JobState::running));
  for (std::uint32_t pe = 0; pe < kPes; ++pe) record_of(header, pe)->pid = static_cast<std::int32_t>(100 + pe);
  for (std::uint32_t pe = 0; pe < kPes; ++pe) {
    PeRecord* const record = record_of(*second, pe);
    BOOST_CHECK_EQUAL(record->pid, static_cast<std::int32_t>(100 + pe));
    BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(record) % kCacheLine, 0U);
    BOOST_CHECK_EQUAL(record->phase.load(), static_cast<std::uint32_t>(PePhase::none));
  }
  unmap_job_header(header);
  unmap_job_header(*second);
}

BOOST_AUTO_TEST_CASE(the_arena_of_another_job_is_refused) {
  auto file = create_job_file(kPes, kJob);
  BOOST_CHECK(is_refused(file->get(), kPes, kJob + 1));
  BOOST_CHECK(is_refused(file->get(), kPes - 1, kJob));
  BOOST_CHECK(is_refused(file->get(), kMaxNodePes, kJob));
}

BOOST_AUTO_TEST_CASE(another_file_is_refused) {
  BOOST_CHECK(!map_job_header(-1, kPes, kJob));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  BOOST_CHECK(is_refused(null.get(), kPes, kJob));
  auto file = create_job_file(kPes, kJob);
  JobHeader* const header = map_job_header(file->get(), kPes, kJob).value();
  header->version = kWireVersion + 1;
  BOOST_CHECK(is_refused(file->get(), kPes, kJob));
  header->version = kWireVersion;
  header->magic = 0;
  BOOST_CHECK(is_refused(file->get(), kPes, kJob));
  unmap_job_header(header);
}

BOOST_AUTO_TEST_SUITE_END()
