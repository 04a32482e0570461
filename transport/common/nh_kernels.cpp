#include "transport/common/nh_kernels.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace shmemx::transport {
namespace {

constexpr std::size_t kStepBytes = 16;

// ---- any CPU ----

// Returns the lower half of the product, by integer products of words that have bits at every fourth place only: below
// bit 60 at most 15 ones meet at a place, so their sum stays in the gap. Takes the same time for all operands.
std::uint64_t low_product(std::uint64_t x, std::uint64_t y) noexcept {
  constexpr std::uint64_t kPlaces = 0x1111111111111111;
  std::uint64_t product = 0;
  for (unsigned at = 0; at < 4; ++at) {
    std::uint64_t sum = 0;
    for (unsigned of_x = 0; of_x < 4; ++of_x) sum ^= (x & kPlaces << of_x) * (y & kPlaces << (at - of_x) % 4);
    product |= sum & kPlaces << at;
  }
  return product;
}

std::uint64_t reversed(std::uint64_t x) noexcept {
  x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
  x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
  x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
  return __builtin_bswap64(x);
}

NhDigest sum_portably(const std::byte* at, const std::uint64_t* key, std::size_t steps) noexcept {
  NhDigest sum;
  for (; steps != 0; --steps, at += kStepBytes, key += 2) {
    std::uint64_t words[2];
    std::memcpy(words, at, kStepBytes);
    const std::uint64_t x = words[0] ^ key[0];
    const std::uint64_t y = words[1] ^ key[1];
    sum.low ^= low_product(x, y);
    sum.high ^= reversed(low_product(reversed(x), reversed(y))) >> 1;  // the upper half is the lower one, mirrored
  }
  return sum;
}

// ---- CPUs that multiply without carries ----

#if defined(__x86_64__)

[[gnu::target("pclmul"), gnu::always_inline]] inline __m128i product(const std::byte* at,
                                                                     const std::uint64_t* key) noexcept {
  const __m128i both = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)),
                                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(key)));
  return _mm_clmulepi64_si128(both, both, 0x01);
}

NhDigest of_words(__m128i sum) noexcept {
  std::uint64_t words[2];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(words), sum);
  return {words[0], words[1]};
}

constexpr std::size_t kPrefetchBytes = 1024;  // ahead: the CPU's own prefetching stops at each page

[[gnu::target("pclmul")]] NhDigest sum_128(const std::byte* at, const std::uint64_t* key, std::size_t steps) noexcept {
  __m128i sums[2] = {_mm_setzero_si128(), _mm_setzero_si128()};
  for (; steps >= 4; steps -= 4, at += 4 * kStepBytes, key += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(at + kPrefetchBytes), _MM_HINT_T0);
    sums[0] = _mm_xor_si128(sums[0], _mm_xor_si128(product(at, key), product(at + 32, key + 4)));
    sums[1] = _mm_xor_si128(sums[1], _mm_xor_si128(product(at + 16, key + 2), product(at + 48, key + 6)));
  }
  for (; steps != 0; --steps, at += kStepBytes, key += 2) sums[0] = _mm_xor_si128(sums[0], product(at, key));
  return of_words(_mm_xor_si128(sums[0], sums[1]));
}

constexpr std::size_t kFewSteps = 32;  // of short frames, which need not wait for the CPU's wide units

// Two products with each instruction.
[[gnu::target("avx2,pclmul,vpclmulqdq"), gnu::always_inline]] inline __m256i products(
    const std::byte* at, const std::uint64_t* key) noexcept {
  const __m256i both = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)),
                                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key)));
  return _mm256_clmulepi64_epi128(both, both, 0x01);
}

[[gnu::target("avx2,pclmul,vpclmulqdq")]] NhDigest sum_256(const std::byte* at, const std::uint64_t* key,
                                                           std::size_t steps) noexcept {
  if (steps < kFewSteps) return sum_128(at, key, steps);
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (; steps >= 4; steps -= 4, at += 4 * kStepBytes, key += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(at + kPrefetchBytes), _MM_HINT_T0);
    sums[0] = _mm256_xor_si256(sums[0], products(at, key));
    sums[1] = _mm256_xor_si256(sums[1], products(at + 32, key + 4));
  }
  const __m256i both = _mm256_xor_si256(sums[0], sums[1]);
  __m128i sum = _mm_xor_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  for (; steps != 0; --steps, at += kStepBytes, key += 2) sum = _mm_xor_si128(sum, product(at, key));
  return of_words(sum);
}

bool has_wide_products() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("vpclmulqdq");
}

#elif defined(__aarch64__)

[[gnu::target("+crypto")]] NhDigest sum_128(const std::byte* at, const std::uint64_t* key, std::size_t steps) noexcept {
  uint64x2_t sum = vdupq_n_u64(0);
  for (; steps != 0; --steps, at += kStepBytes, key += 2) {
    const uint64x2_t both =
        veorq_u64(vreinterpretq_u64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(at))), vld1q_u64(key));
    const poly128_t product =
        vmull_p64(static_cast<poly64_t>(vgetq_lane_u64(both, 0)), static_cast<poly64_t>(vgetq_lane_u64(both, 1)));
    sum = veorq_u64(sum, vreinterpretq_u64_p128(product));
  }
  return {vgetq_lane_u64(sum, 0), vgetq_lane_u64(sum, 1)};
}

#endif

struct Usable {
  std::array<NhKernel, 3> kernels{{{"portable", sum_portably}, {}, {}}};
  std::size_t count = 1;

  Usable() noexcept {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("pclmul")) kernels[count++] = {"pclmulqdq", sum_128};
    if (has_wide_products()) kernels[count++] = {"vpclmulqdq", sum_256};
#elif defined(__aarch64__)
    if ((::getauxval(AT_HWCAP) & HWCAP_PMULL) != 0) kernels[count++] = {"pmull", sum_128};
#endif
  }
};

}  // namespace

std::span<const NhKernel> nh_kernels() noexcept {
  static const Usable usable;
  return std::span(usable.kernels).first(usable.count);
}

}  // namespace shmemx::transport
