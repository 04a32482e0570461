#include <sys/mman.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "bootstrap/handover.hpp"
#include "bootstrap/wire.hpp"

BOOST_AUTO_TEST_SUITE(handover)

namespace boot = shmemx::bootstrap;

namespace {

struct Given {
  explicit Given(std::uint32_t n_pes) {
    offer = {boot::random_id(),
             boot::random_id(),
             boot::random_id(),
             ::geteuid(),
             static_cast<std::uint64_t>(::getpid()),
             0};
    auto file = boot::create_job_file(n_pes, offer.job_id);
    BOOST_REQUIRE(file.has_value());
    arena = std::move(*file);
    offer.fd = static_cast<std::uint64_t>(arena.get());
  }
  boot::Offer offer;
  shmemx::UniqueFd arena;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_offer_can_be_converted_to_text_and_back) {
  const boot::Offer offer{1, ~0ULL, 0x123456789abcdefULL, 1000, 42, 7};
  auto read = boot::decode_offer(boot::encode(offer));
  BOOST_REQUIRE(read.has_value());
  BOOST_CHECK_EQUAL(read->nonce, offer.nonce);
  BOOST_CHECK_EQUAL(read->socket_id, offer.socket_id);
  BOOST_CHECK_EQUAL(read->fd, 7U);
  for (const char* bad : {"", "1:2:3", "1:2:3:4:5:6:7", "1:2:3:4:5:6x", "zzz"})
    BOOST_CHECK(!boot::decode_offer(bad).has_value());
}

BOOST_AUTO_TEST_CASE(both_mechanisms_hand_over_the_same_file) {
  Given given(3);
  auto server = boot::ArenaServer::start(given.arena.get(), given.offer);
  BOOST_REQUIRE(server.has_value());
  std::vector<shmemx::UniqueFd> taken;
  for (int i = 0; i < 20; ++i) {
    auto fd = boot::take_over_socket(given.offer);
    BOOST_REQUIRE(fd.has_value());
    taken.push_back(std::move(*fd));
  }
  auto through_proc = boot::take_through_proc(given.offer);
  BOOST_REQUIRE(through_proc.has_value());
  auto first = boot::map_job_header(taken.back().get(), 3, given.offer.job_id);
  auto second = boot::map_job_header(through_proc->get(), 3, given.offer.job_id);
  BOOST_REQUIRE(first.has_value() && second.has_value());
  (*first)->arrived.store(5);
  BOOST_CHECK_EQUAL((*second)->arrived.load(), 5U);
  boot::unmap_job_header(*first);
  boot::unmap_job_header(*second);
}

BOOST_AUTO_TEST_CASE(without_the_nonce_nothing_is_handed_over) {
  Given given(2);
  auto server = boot::ArenaServer::start(given.arena.get(), given.offer);
  BOOST_REQUIRE(server.has_value());
  boot::Offer guess = given.offer;
  guess.nonce ^= 1;
  BOOST_CHECK(!boot::take_over_socket(guess).has_value());
  BOOST_CHECK(boot::take_over_socket(given.offer).has_value());
}

BOOST_AUTO_TEST_CASE(a_server_of_another_user_is_refused) {
  Given given(2);
  auto server = boot::ArenaServer::start(given.arena.get(), given.offer);
  BOOST_REQUIRE(server.has_value());
  boot::Offer other = given.offer;
  other.uid += 1;
  BOOST_CHECK(!boot::take_over_socket(other).has_value());
}

BOOST_AUTO_TEST_CASE(an_inaccessible_arena_is_one_error) {
  Given given(2);
  boot::Offer gone = given.offer;
  gone.fd = 9999;
  auto fd = boot::take_arena(gone, 2, 50);
  BOOST_REQUIRE(!fd.has_value());
  BOOST_CHECK(fd.error().text.find("cannot be reached") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(headers_of_other_jobs_are_refused) {
  Given given(2);
  BOOST_CHECK(!boot::map_job_header(given.arena.get(), 2, given.offer.job_id + 1).has_value());
  BOOST_CHECK(!boot::map_job_header(given.arena.get(), 1, given.offer.job_id).has_value());
  BOOST_CHECK(!boot::map_job_header(given.arena.get(), 4000, given.offer.job_id).has_value());
  const shmemx::UniqueFd empty(::memfd_create("empty", MFD_CLOEXEC));
  BOOST_CHECK(!boot::map_job_header(empty.get(), 2, given.offer.job_id).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
