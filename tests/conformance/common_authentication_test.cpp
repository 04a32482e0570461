#include <boost/test/unit_test.hpp>
#include <set>

#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"

using namespace shmemx::transport;

BOOST_AUTO_TEST_SUITE(common_authentication)

BOOST_AUTO_TEST_CASE(a_proof_is_valid_for_one_purpose) {
  const std::uint64_t secret[2] = {1, 2};
  const std::uint64_t words[] = {1, 2, 3};
  std::set<std::uint64_t> proofs;
  for (const Purpose purpose :
       {Purpose::memory_key, Purpose::hello, Purpose::challenge, Purpose::response, Purpose::session})
    proofs.insert(prove(secret, purpose, words));
  BOOST_CHECK_EQUAL(proofs.size(), 5U);
  BOOST_CHECK(prove(secret, Purpose::hello, words) != prove(secret, Purpose::hello, std::span(words).first(2)));
}

// From the reference implementation of SipHash-2-4: the key 00 01 ... 0f, no input, and the input 00 01 ... 07.
BOOST_AUTO_TEST_CASE(the_hash_returns_the_reference_values) {
  const std::uint64_t key[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const std::uint64_t word[] = {0x0706050403020100};
  BOOST_CHECK_EQUAL(keyed_hash(key, {}), 0x726fdb47dd0e0e31U);
  BOOST_CHECK_EQUAL(keyed_hash(key, word), 0x93f5f5799a932462U);
}

BOOST_AUTO_TEST_SUITE_END()
