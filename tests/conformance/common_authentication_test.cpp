#include <boost/test/unit_test.hpp>
#include <set>

#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"

using namespace shmemx::transport;

namespace {

Setup setup_of(int me, std::uint64_t secret = 0x1234) {
  return {.me = me, .n_pes = 8, .secret = {secret, ~secret}, .sink = nullptr};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(common_authentication)

BOOST_AUTO_TEST_CASE(both_sides_compute_the_same_proof) {
  const PairProofs three(setup_of(3));
  const PairProofs five(setup_of(5));
  BOOST_CHECK(is_same_proof(three.outgoing(5), five.incoming(3)));
  BOOST_CHECK(is_same_proof(five.outgoing(3), three.incoming(5)));
}

BOOST_AUTO_TEST_CASE(a_proof_is_valid_for_one_pair_direction_and_secret) {
  std::set<std::uint64_t> proofs;
  for (const std::uint64_t secret : {0x1234, 0x4321}) {
    for (int me = 0; me < 8; ++me) {
      const PairProofs own(setup_of(me, secret));
      for (int pe = 0; pe < 8; ++pe) proofs.insert(own.outgoing(pe));
    }
  }
  BOOST_CHECK_EQUAL(proofs.size(), 128U);
}

BOOST_AUTO_TEST_CASE(a_proof_is_valid_for_one_purpose) {
  const std::uint64_t secret[2] = {1, 2};
  const std::uint64_t words[] = {1, 2, 3};
  std::set<std::uint64_t> proofs;
  for (const Purpose purpose :
       {Purpose::pair, Purpose::memory_key, Purpose::hello, Purpose::challenge, Purpose::response})
    proofs.insert(prove(secret, purpose, words));
  BOOST_CHECK_EQUAL(proofs.size(), 5U);
  BOOST_CHECK(prove(secret, Purpose::pair, words) != prove(secret, Purpose::pair, std::span(words).first(2)));
}

// From the reference implementation of SipHash-2-4: the key 00 01 ... 0f, no input, and the input 00 01 ... 07.
BOOST_AUTO_TEST_CASE(the_hash_returns_the_reference_values) {
  const std::uint64_t key[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const std::uint64_t word[] = {0x0706050403020100};
  BOOST_CHECK_EQUAL(keyed_hash(key, {}), 0x726fdb47dd0e0e31U);
  BOOST_CHECK_EQUAL(keyed_hash(key, word), 0x93f5f5799a932462U);
}

BOOST_AUTO_TEST_SUITE_END()
