#include "transport/common/handshake.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(common_handshake)

using namespace shmemx::transport;
using shmemx::transport::Setup;

namespace {

Setup setup(int me, std::uint64_t secret = 42) { return {.me = me, .n_pes = 4, .secret = {secret, 7}}; }

}  // namespace

BOOST_AUTO_TEST_CASE(both_sides_prove_themselves) {
  const Hello hello = make_hello(setup(0), 2, 0);
  BOOST_CHECK(is_genuine(setup(2), hello));
  const Challenge challenge = make_challenge(setup(2), hello, 0);
  BOOST_CHECK(is_genuine(setup(0), hello, challenge));
  const Response response = make_response(setup(0), hello, challenge);
  BOOST_CHECK(is_genuine(setup(2), hello, challenge, response));
}

BOOST_AUTO_TEST_CASE(another_secret_proves_nothing) {
  const Hello hello = make_hello(setup(0, 43), 2, 0);
  BOOST_CHECK(!is_genuine(setup(2), hello));
  const Hello good = make_hello(setup(0), 2, 0);
  BOOST_CHECK(!is_genuine(setup(0), good, make_challenge(setup(2, 43), good, 0)));
  const Challenge challenge = make_challenge(setup(2), good, 0);
  BOOST_CHECK(!is_genuine(setup(2), good, challenge, make_response(setup(0, 43), good, challenge)));
}

BOOST_AUTO_TEST_CASE(a_hello_is_for_one_pe_of_one_job) {
  BOOST_CHECK(!is_genuine(setup(3), make_hello(setup(0), 2, 0)));  // for another PE
  BOOST_CHECK(!is_genuine(setup(0), make_hello(setup(0), 0, 0)));  // from the PE itself
  BOOST_CHECK(!is_genuine(setup(2), make_hello(setup(4), 2, 0)));  // from outside of the job
  Setup larger = setup(0);
  larger.n_pes = 5;
  BOOST_CHECK(!is_genuine(setup(2), make_hello(larger, 2, 0)));
}

BOOST_AUTO_TEST_CASE(every_bit_of_a_hello_counts) {
  const Hello good = make_hello(setup(0), 2, 0);
  for (std::size_t bit = 0; bit < sizeof good * 8; ++bit) {
    Hello bad = good;
    reinterpret_cast<unsigned char*>(&bad)[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    BOOST_CHECK(!is_genuine(setup(2), bad));
  }
}

BOOST_AUTO_TEST_CASE(replayed_messages_of_a_handshake_are_refused) {
  const Hello hello = make_hello(setup(0), 2, 0);
  const Challenge first = make_challenge(setup(2), hello, 0);
  const Response response = make_response(setup(0), hello, first);
  const Challenge second = make_challenge(setup(2), hello, 0);
  BOOST_CHECK(!is_genuine(setup(2), hello, second, response));
  BOOST_CHECK(!is_genuine(setup(0), make_hello(setup(0), 2, 0), first));
}

BOOST_AUTO_TEST_SUITE_END()
