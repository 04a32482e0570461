#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <vector>

#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"
#include "transport/common/nh_hash.hpp"

BOOST_AUTO_TEST_SUITE(common_authentication)

using namespace shmemx::transport;

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

// The product of x + 1 and x^63 + x is x^64 + x^63 + x^2 + x, and 5 times 7 without carries is 27.
BOOST_AUTO_TEST_CASE(products_have_no_carries) {
  const std::uint64_t words[] = {3, 0x8000000000000002, 5, 7};
  const std::uint64_t key[] = {0, 0, 0, 0};
  const std::byte* const at = std::as_bytes(std::span(words)).data();
  for (const NhKernel& kernel : nh_kernels()) {
    BOOST_TEST_CONTEXT(kernel.name) {
      const NhDigest first = kernel.sum(at, key, 1);
      BOOST_CHECK_EQUAL(first.low, 0x8000000000000006U);
      BOOST_CHECK_EQUAL(first.high, 1U);
      BOOST_CHECK_EQUAL(kernel.sum(at, key, 2).low, 0x8000000000000006U ^ 27U);
    }
  }
}

// PEs of one job may run on CPUs of different kinds.
BOOST_AUTO_TEST_CASE(all_kernels_compute_the_same_sums) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> words(2 * 600), key(words.size());
  for (std::uint64_t& word : words) word = random();
  for (std::uint64_t& word : key) word = random();
  const std::byte* const at = std::as_bytes(std::span(words)).data();
  for (std::size_t steps = 0; steps <= words.size() / 2; steps += steps < 70 ? 1 : 53) {
    const NhDigest expected = nh_kernels().front().sum(at, key.data(), steps);
    for (const NhKernel& kernel : nh_kernels().subspan(1)) {
      const NhDigest got = kernel.sum(at, key.data(), steps);
      BOOST_CHECK_MESSAGE(got.low == expected.low && got.high == expected.high,
                          kernel.name << ", " << steps << " steps");
    }
  }
}

// Also where the last bytes do not fill a step, and where the content is hashed in two pieces.
BOOST_AUTO_TEST_CASE(a_changed_bit_changes_the_hash_of_a_content) {
  const std::uint64_t secret[2] = {3, 4};
  const NhHash hash(secret, Purpose::frame, 2048);
  std::vector<std::byte> content(1003, std::byte{0x5a});
  const NhDigest whole = hash.digest(content);
  const NhDigest pieces =
      NhHash::sum(hash.digest(Bytes(content).first(512)), hash.digest(Bytes(content).subspan(512), 512));
  BOOST_CHECK(whole.low == pieces.low && whole.high == pieces.high);
  for (std::size_t bit = 0; bit < content.size() * 8; ++bit) {
    content[bit / 8] ^= std::byte{1} << (bit % 8);
    const NhDigest changed = hash.digest(content);
    BOOST_CHECK(changed.low != whole.low || changed.high != whole.high);
    content[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

BOOST_AUTO_TEST_SUITE_END()
