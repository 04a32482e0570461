#include "atomic/elements.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(atomic_elements)

using namespace shmemx::atomic;

BOOST_AUTO_TEST_CASE(types_and_operators_go_together_as_documented) {
  BOOST_TEST(!go_together(ElementType::none, ElementOp::sum));
  BOOST_TEST(!go_together(ElementType::end, ElementOp::sum));
  BOOST_TEST(!go_together(ElementType::int32, ElementOp::none));
  BOOST_TEST(!go_together(ElementType::int32, ElementOp::end));
  BOOST_TEST(!go_together(ElementType::float_, ElementOp::bxor));
  BOOST_TEST(!go_together(ElementType::double_, ElementOp::compare_swap));
  BOOST_TEST(go_together(ElementType::uint64, ElementOp::compare_swap));
  BOOST_TEST(go_together(ElementType::double_, ElementOp::no_op));
}

BOOST_AUTO_TEST_CASE(type_and_address_decide_how_an_element_is_updated) {
  BOOST_TEST(is_direct(ElementType::int64, 64));
  BOOST_TEST(!is_direct(ElementType::int64, 68));
  BOOST_TEST(is_direct(ElementType::float_int, 72));
  BOOST_TEST(!is_direct(ElementType::complex_float, 72));
  BOOST_TEST(!is_direct(ElementType::double_, 64));
  BOOST_TEST(!is_direct(ElementType::float_int, 76));
  BOOST_TEST(!is_direct(ElementType::uint8, 77));
  BOOST_TEST(is_direct(ElementType::uint32, 76));
  for (const auto wide : {ElementType::long_double, ElementType::complex_double, ElementType::long_double_int})
    BOOST_TEST(!is_direct(wide, 128));
}

// Threads that add to wide and to unaligned elements, as PEs that map the memory and the owner's handlers do.
BOOST_AUTO_TEST_CASE(elements_under_locks_lose_no_update) {
  constexpr std::size_t kElements = 100;
  constexpr int kRounds = 200;
  std::vector<std::byte> memory(kElements * 16 + 1, std::byte{0});
  const std::vector<double> ones(2 * kElements, 1.0);
  const auto* const source = reinterpret_cast<const std::byte*>(ones.data());
  const auto run = [&] {
    for (int i = 0; i < kRounds; ++i)
      apply({ElementType::complex_double, ElementOp::sum, false}, own_elements(memory.data() + 1), source, nullptr,
            kElements);
  };
  std::thread other(run);
  run();
  other.join();
  std::vector<double> now(2 * kElements);
  std::memcpy(now.data(), memory.data() + 1, kElements * 16);
  for (const double value : now) BOOST_TEST(value == 2.0 * kRounds);
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  std::int32_t word = std::numeric_limits<std::int32_t>::max();
  const auto one = apply_one({ElementOp::sum, ElementType::int32, 1, 0}, reinterpret_cast<std::byte*>(&word));
  BOOST_TEST(static_cast<std::int32_t>(one) == std::numeric_limits<std::int32_t>::max());
  BOOST_TEST(word == std::numeric_limits<std::int32_t>::min());
  apply_one({ElementOp::prod, ElementType::int32, 3, 0}, reinterpret_cast<std::byte*>(&word));
  BOOST_TEST(word == std::numeric_limits<std::int32_t>::min());
}

BOOST_AUTO_TEST_CASE(signed_and_unsigned_extremes_differ) {
  std::int64_t at = -1;
  apply_one({ElementOp::max, ElementType::int64, 5, 0}, reinterpret_cast<std::byte*>(&at));
  BOOST_TEST(at == 5);
  at = -1;
  apply_one({ElementOp::max, ElementType::uint64, 5, 0}, reinterpret_cast<std::byte*>(&at));
  BOOST_TEST(at == -1);
}

BOOST_AUTO_TEST_CASE(unaligned_sources_are_read) {
  std::vector<std::byte> bytes(8 * 50 + 1, std::byte{0});
  bytes[1] = std::byte{7};
  std::vector<std::uint64_t> words(50, 1);
  for (const bool exclusive : {false, true})
    apply({ElementType::uint64, ElementOp::sum, exclusive}, own_elements(reinterpret_cast<std::byte*>(words.data())),
          bytes.data() + 1, nullptr, words.size());
  BOOST_TEST(words[0] == 15U);
  BOOST_TEST(words[49] == 1U);
}

// Arrays of integers go by wider instructions than single ones. Begins at every place in 16 bytes.
template <class T>
void add_arrays_and_single_ones(ElementType type) {
  constexpr std::size_t kElements = 41;
  constexpr int kRounds = 2000;
  for (std::size_t skipped = 0; skipped < 16 / sizeof(T); ++skipped) {
    alignas(16) T words[kElements + 4] = {};
    const std::vector<T> ones(kElements, std::numeric_limits<T>::max());  // -1 or the like: carries everywhere
    const auto* const source = reinterpret_cast<const std::byte*>(ones.data());
    auto* const at = reinterpret_cast<std::byte*>(words + skipped);
    std::thread other([&] {
      std::vector<T> old(kElements);
      for (int i = 0; i < kRounds; ++i)
        apply({type, ElementOp::sum, false}, own_elements(at), source, reinterpret_cast<std::byte*>(old.data()),
              kElements);
    });
    for (int i = 0; i < kRounds; ++i) apply_one({ElementOp::sum, type, 3, 0}, own_elements(at + 7 * sizeof(T)));
    other.join();
    for (std::size_t k = 0; k < kElements + 4; ++k) {
      T expected = 0;
      if (k >= skipped && k < skipped + kElements)
        for (int i = 0; i < kRounds; ++i) expected = static_cast<T>(expected + ones[0]);
      if (k == skipped + 7) expected = static_cast<T>(expected + T{3} * kRounds);
      BOOST_CHECK_EQUAL(words[k], expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(arrays_of_integers_lose_no_update) {
  add_arrays_and_single_ones<std::uint32_t>(ElementType::uint32);
  add_arrays_and_single_ones<std::uint64_t>(ElementType::uint64);
}

BOOST_AUTO_TEST_CASE(operators_of_arrays_are_those_of_single_elements) {
  constexpr std::size_t kElements = 23;
  for (const auto op : {ElementOp::sum, ElementOp::band, ElementOp::bor, ElementOp::bxor, ElementOp::prod,
                        ElementOp::max, ElementOp::lxor, ElementOp::replace}) {
    alignas(16) std::int32_t words[kElements];
    std::int32_t single[kElements];
    std::int32_t operands[kElements];
    std::int32_t old[kElements];
    for (std::size_t k = 0; k < kElements; ++k) {
      words[k] = single[k] = static_cast<std::int32_t>(0x9e3779b9U * (k + 1));
      operands[k] = static_cast<std::int32_t>(0x85ebca6bU * (k + 3));
    }
    apply({ElementType::int32, op, false}, own_elements(reinterpret_cast<std::byte*>(words)),
          reinterpret_cast<const std::byte*>(operands), reinterpret_cast<std::byte*>(old), kElements);
    for (std::size_t k = 0; k < kElements; ++k) {
      BOOST_CHECK_EQUAL(old[k], single[k]);
      apply_one(operation(op, operands[k]), reinterpret_cast<std::byte*>(single + k));
      BOOST_CHECK_EQUAL(words[k], single[k]);
    }
  }
}

// Blocks within a granule, across its end, and of elements that instructions update.
BOOST_AUTO_TEST_CASE(blocks_are_updated_as_each_would_be) {
  std::vector<double> memory(4000, 1.0);
  std::vector<double> operands(900);
  std::vector<double> old(900, 0.0);
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = static_cast<double>(i);
  for (const std::ptrdiff_t step : {3, 5, 13}) {
    std::fill(memory.begin(), memory.end(), 1.0);
    auto* const at = reinterpret_cast<std::byte*>(memory.data()) + 8;
    apply_blocks({ElementType::double_, ElementOp::sum, false},
                 {own_elements(at), reinterpret_cast<const std::byte*>(operands.data()),
                  reinterpret_cast<std::byte*>(old.data()), 3, 300, step * 8, 24, 24});
    for (std::size_t i = 0; i < 900; ++i) {
      BOOST_CHECK_EQUAL(memory[1 + i / 3 * static_cast<std::size_t>(step) + i % 3], 1.0 + operands[i]);
      BOOST_CHECK_EQUAL(old[i], 1.0);
    }
    BOOST_CHECK_EQUAL(std::count(memory.begin(), memory.end(), 1.0), 4000 - 900 + 1);
  }
  std::vector<std::int64_t> words(400, 1);
  const std::vector<std::int64_t> twos(100, 2);
  apply_blocks({ElementType::int64, ElementOp::sum, false},
               {own_elements(reinterpret_cast<std::byte*>(words.data())),
                reinterpret_cast<const std::byte*>(twos.data()), nullptr, 1, 100, 32, 8, 0});
  for (std::size_t i = 0; i < 400; ++i) BOOST_CHECK_EQUAL(words[i], i % 4 == 0 ? 3 : 1);
}

BOOST_AUTO_TEST_CASE(products_of_threads_are_exact) {
  double word = 1;
  const auto run = [&](double factor) {
    for (int i = 0; i < 20'000; ++i)
      apply_one(operation(ElementOp::prod, i % 2 == 0 ? factor : 1 / factor), reinterpret_cast<std::byte*>(&word));
  };
  std::thread other(run, 2.0);
  run(4.0);
  other.join();
  BOOST_TEST(word == 1.0);
}

BOOST_AUTO_TEST_SUITE_END()
