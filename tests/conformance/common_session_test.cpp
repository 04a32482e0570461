#include "transport/common/session.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(common_session)

using namespace shmemx::transport;

namespace {

Setup setup(int me, std::uint64_t secret = 42) { return {.me = me, .n_pes = 4, .secret = {secret, 7}}; }

// A direction from PE 0 to PE 2.
struct Direction {
  OutgoingSession out;
  IncomingSession in;
  Hello hello = out.hello(setup(0), Network::ucx, 2);
  Challenge challenge{};
  bool is_answered = in.answer(setup(2), Network::ucx, hello, challenge);
};

constexpr MessageName kMessage{1, 5, 100};

}  // namespace

BOOST_AUTO_TEST_CASE(messages_prove_their_source_after_the_handshake) {
  Direction direction;
  BOOST_CHECK(direction.is_answered && !direction.out.is_open());
  BOOST_CHECK(direction.out.accept(setup(0), direction.challenge));
  const std::uint64_t proof = direction.out.proof_of(kMessage);
  BOOST_CHECK(direction.in.is_genuine(kMessage, proof));
  BOOST_CHECK(!IncomingSession().is_genuine(kMessage, proof));
  BOOST_CHECK(!IncomingSession().is_genuine(kMessage, 0));
}

BOOST_AUTO_TEST_CASE(a_proof_is_worth_nothing_for_another_message) {
  Direction direction;
  BOOST_REQUIRE(direction.out.accept(setup(0), direction.challenge));
  const std::uint64_t proof = direction.out.proof_of(kMessage);
  for (const MessageName& other : {MessageName{2, 5, 100}, MessageName{1, 6, 100}, MessageName{1, 5, 101}})
    BOOST_CHECK(!direction.in.is_genuine(other, proof));
}

// Of which only the lower half travels.
BOOST_AUTO_TEST_CASE(a_proof_is_worth_nothing_for_a_number_with_the_same_lower_half) {
  constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
  Direction direction;
  BOOST_REQUIRE(direction.out.accept(setup(0), direction.challenge));
  const std::uint64_t proof = direction.out.proof_of(kMessage);
  for (const std::uint64_t rounds : {1, 2, 1000})
    BOOST_CHECK(!direction.in.is_genuine({1, kMessage.number + rounds * kRound, 100}, proof));
}

BOOST_AUTO_TEST_CASE(a_number_is_known_by_its_lower_half) {
  constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
  for (const std::uint64_t expected : {std::uint64_t{0}, std::uint64_t{5}, kRound - 1, kRound, 7 * kRound + 3}) {
    for (const std::uint64_t ahead : {0U, 1U, 4096U, 1U << 20})
      BOOST_CHECK_EQUAL(whole_number(static_cast<std::uint32_t>(expected + ahead), expected), expected + ahead);
    for (const std::uint64_t behind : {1U, 4096U}) {
      if (behind <= expected)
        BOOST_CHECK_EQUAL(whole_number(static_cast<std::uint32_t>(expected - behind), expected), expected - behind);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_recorded_hello_is_refused) {
  Direction direction;
  BOOST_REQUIRE(direction.out.accept(setup(0), direction.challenge));
  const std::uint64_t proof = direction.out.proof_of(kMessage);
  Challenge again{};
  BOOST_CHECK(!direction.in.answer(setup(2), Network::ucx, direction.hello, again));
  BOOST_CHECK(direction.in.is_genuine(kMessage, proof));  // the session has not changed
  BOOST_CHECK(!direction.in.answer(setup(2), Network::ucx, OutgoingSession().hello(setup(0), Network::ucx, 2), again));
}

// Of a PE that has started again with the same secret: what was recorded before says nothing.
BOOST_AUTO_TEST_CASE(recorded_messages_and_challenges_are_refused_in_another_session) {
  Direction first;
  BOOST_REQUIRE(first.out.accept(setup(0), first.challenge));
  const std::uint64_t proof = first.out.proof_of(kMessage);
  IncomingSession restarted;
  Challenge challenge{};
  BOOST_CHECK(restarted.answer(setup(2), Network::ucx, first.hello, challenge));
  BOOST_CHECK(!restarted.is_genuine(kMessage, proof));
  Direction second;
  BOOST_CHECK(!second.out.accept(setup(0), first.challenge));
  BOOST_CHECK(!second.out.is_open());
  BOOST_CHECK(second.out.accept(setup(0), second.challenge));
  BOOST_CHECK(!second.out.accept(setup(0), second.challenge));  // once
}

BOOST_AUTO_TEST_CASE(a_hello_is_for_one_network_pe_and_job) {
  Challenge challenge{};
  const auto is_answered = [&](const Hello& hello, int me, std::uint64_t secret = 42) {
    return IncomingSession().answer(setup(me, secret), Network::ucx, hello, challenge);
  };
  const Hello good = OutgoingSession().hello(setup(0), Network::ucx, 2);
  BOOST_CHECK(is_answered(good, 2));
  BOOST_CHECK(!is_answered(good, 3));
  BOOST_CHECK(!is_answered(good, 2, 43));
  BOOST_CHECK(!is_answered(OutgoingSession().hello(setup(0), Network::ofi, 2), 2));
  BOOST_CHECK(!is_answered(make_hello(setup(0), 2, 0), 2));  // of a connection of tcp
}

BOOST_AUTO_TEST_SUITE_END()
