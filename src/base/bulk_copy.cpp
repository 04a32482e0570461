#include "base/bulk_copy.hpp"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shmemx {
namespace {

// Sanitizers check calls of the C library as a whole.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool kUseLoops = true;
#else
constexpr bool kUseLoops = false;
#endif

constexpr std::uint64_t kLargestOwnCache = std::uint64_t{64} << 20;
constexpr std::size_t kSmallestStream = std::size_t{1} << 20;

#if defined(__x86_64__)

constexpr std::size_t kLine = 64;
constexpr std::size_t kPrefetchBytes = 512;  // ahead: the processor's own prefetching stops at each page

[[gnu::always_inline]] inline void prefetch(const unsigned char* from) noexcept {
  _mm_prefetch(reinterpret_cast<const char*>(from) + kPrefetchBytes, _MM_HINT_T0);
}

std::size_t bytes_to_multiple(const unsigned char* at, std::size_t of) noexcept {
  return of - reinterpret_cast<std::uintptr_t>(at) % of;
}

// At least 1: what ends at a multiple ends a whole one after the multiple before.
std::size_t bytes_after_multiple(const unsigned char* at, std::size_t of) noexcept {
  return (reinterpret_cast<std::uintptr_t>(at) - 1) % of + 1;
}

// Four vectors on their way from source to dest.
struct Block64 {
  __m128i a, b, c, d;

  [[gnu::always_inline]] explicit Block64(const unsigned char* at) noexcept
      : a(load(at)), b(load(at + 16)), c(load(at + 32)), d(load(at + 48)) {}
  [[gnu::always_inline]] static __m128i load(const unsigned char* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  [[gnu::always_inline]] void store(unsigned char* at) const noexcept {
    auto* const to = reinterpret_cast<__m128i*>(at);
    _mm_storeu_si128(to, a);
    _mm_storeu_si128(to + 1, b);
    _mm_storeu_si128(to + 2, c);
    _mm_storeu_si128(to + 3, d);
  }
  [[gnu::always_inline]] void store_past_caches(unsigned char* at) const noexcept {
    auto* const to = reinterpret_cast<__m128i*>(at);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
};

struct Block128 {
  __m256i a, b, c, d;

  [[gnu::target("avx2"), gnu::always_inline]] explicit Block128(const unsigned char* at) noexcept
      : a(load(at)), b(load(at + 32)), c(load(at + 64)), d(load(at + 96)) {}
  [[gnu::target("avx2"), gnu::always_inline]] static __m256i load(const unsigned char* at) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
  [[gnu::target("avx2"), gnu::always_inline]] void store(unsigned char* at) const noexcept {
    auto* const to = reinterpret_cast<__m256i*>(at);
    _mm256_storeu_si256(to, a);
    _mm256_storeu_si256(to + 1, b);
    _mm256_storeu_si256(to + 2, c);
    _mm256_storeu_si256(to + 3, d);
  }
};

// Stores are aligned, apart from the first and the last ones, which overlap their neighbours. Both ends are read before
// anything is written.
[[gnu::target("avx2")]] void copy_up_by_32(void* dest, const void* source, std::size_t bytes) noexcept {
  constexpr std::size_t kStep = sizeof(Block128);
  if (bytes < kStep) {
    std::memmove(dest, source, bytes);
    return;
  }
  auto* const begin = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  unsigned char* const last = begin + bytes - kStep;
  const __m256i head = _mm256_loadu_si256(static_cast<const __m256i*>(source));
  const Block128 tail(from + bytes - kStep);
  const std::size_t skipped = bytes_to_multiple(begin, sizeof head);
  unsigned char* to = begin + skipped;
  for (from += skipped; to < last; to += kStep, from += kStep) Block128(from).store(to);
  _mm256_storeu_si256(static_cast<__m256i*>(dest), head);
  tail.store(last);
}

[[gnu::target("avx2")]] void copy_down_by_32(void* dest, const void* source, std::size_t bytes) noexcept {
  constexpr std::size_t kStep = sizeof(Block128);
  if (bytes < kStep) {
    std::memmove(dest, source, bytes);
    return;
  }
  auto* const begin = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  const Block128 head(from);
  const __m256i tail = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + bytes - sizeof tail));
  unsigned char* to = begin + bytes - bytes_after_multiple(begin + bytes, sizeof tail);
  for (from += to - begin; to > begin + kStep;) {
    to -= kStep;
    from -= kStep;
    Block128(from).store(to);
  }
  head.store(begin);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(begin + bytes - sizeof tail), tail);
}

void stream_lines_by_16(unsigned char* to, const unsigned char* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    prefetch(from);
    Block64(from).store_past_caches(to);
  }
}
[[gnu::target("avx2")]] void stream_lines_by_32(unsigned char* to, const unsigned char* from,
                                                std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    prefetch(from);
    const __m256i low = Block128::load(from);
    const __m256i high = Block128::load(from + sizeof low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
}

#endif

// Loads look for stores before them by the address within a page: one that seems to read what has just been stored, one
// page or more away, waits for that store. A loop meets this if dest is a little further in its direction than source.
bool is_down_faster(const void* dest, const void* source) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(dest) - reinterpret_cast<std::uintptr_t>(source);
  return distance % kPage < kPage / 2;
}

void copy_by(CopyLoop loop, void* dest, const void* source, std::size_t bytes) noexcept {
  if constexpr (!kUseLoops) {
    std::memmove(dest, source, bytes);
  } else if (bytes < copy_sizes.stream_bytes) {
    loop(dest, source, bytes);
  } else {
    copy_stream(dest, source, bytes);
  }
}

}  // namespace

void copy_up_by_16(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t kStep = sizeof(Block64);
  if (bytes < kStep) {
    std::memmove(dest, source, bytes);
    return;
  }
  auto* const begin = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  unsigned char* const last = begin + bytes - kStep;
  const __m128i head = _mm_loadu_si128(static_cast<const __m128i*>(source));
  const Block64 tail(from + bytes - kStep);
  const std::size_t skipped = bytes_to_multiple(begin, sizeof head);
  unsigned char* to = begin + skipped;
  for (from += skipped; to < last; to += kStep, from += kStep) Block64(from).store(to);
  _mm_storeu_si128(static_cast<__m128i*>(dest), head);
  tail.store(last);
#else
  std::memmove(dest, source, bytes);
#endif
}

void copy_down_by_16(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t kStep = sizeof(Block64);
  if (bytes < kStep) {
    std::memmove(dest, source, bytes);
    return;
  }
  auto* const begin = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  const Block64 head(from);
  const __m128i tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + bytes - sizeof tail));
  unsigned char* to = begin + bytes - bytes_after_multiple(begin + bytes, sizeof tail);
  for (from += to - begin; to > begin + kStep;) {
    to -= kStep;
    from -= kStep;
    Block64(from).store(to);
  }
  head.store(begin);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(begin + bytes - sizeof tail), tail);
#else
  std::memmove(dest, source, bytes);
#endif
}

std::span<const CopyLoops> copy_loops() noexcept {
#if defined(__x86_64__)
  static constexpr std::array<CopyLoops, 2> loops{
      {{"16 bytes", copy_up_by_16, copy_down_by_16}, {"32 bytes", copy_up_by_32, copy_down_by_32}}};
  __builtin_cpu_init();
  return {loops.data(), __builtin_cpu_supports("avx2") ? 2U : 1U};
#else
  static constexpr std::array<CopyLoops, 1> loops{{{"memmove", copy_up_by_16, copy_down_by_16}}};
  return loops;
#endif
}

// Source and dest together fill two thirds of the cache from the size on at which stores past it are faster. A last
// cache above the bound serves many cores, here also those of other jobs or virtual machines, so its size says little
// about the part that one core gets; the default of CopySizes has been measured on such a processor.
CopySizes copy_sizes_for(std::uint64_t last_cache_bytes) noexcept {
  CopySizes sizes;
  sizes.loops = copy_loops().back();
  if (last_cache_bytes != 0 && last_cache_bytes <= kLargestOwnCache)
    sizes.stream_bytes = std::max(kSmallestStream, static_cast<std::size_t>(last_cache_bytes / 3));
  return sizes;
}

void copy_large(void* dest, const void* source, std::size_t bytes) noexcept {
  const CopyLoops& loops = copy_sizes.loops;
  copy_by(is_down_faster(dest, source) ? loops.down : loops.up, dest, source, bytes);
}

void copy_large_up(void* dest, const void* source, std::size_t bytes) noexcept {
  copy_by(copy_sizes.loops.up, dest, source, bytes);
}

// One line after the other. Pages side by side, a way to use several memory channels, collide in the store buffers at
// most distances of source and dest.
void copy_stream(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  auto* to = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  const std::size_t head =
      std::min(bytes, bytes_to_multiple(to, kLine) % kLine);  // these stores require aligned targets
  std::memmove(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  const std::size_t lines = bytes / kLine;
  (__builtin_cpu_supports("avx2") ? stream_lines_by_32 : stream_lines_by_16)(to, from, lines);
  _mm_sfence();  // a fence or signal that follows orders plain stores only
  std::memmove(to + lines * kLine, from + lines * kLine, bytes % kLine);
#else
  std::memmove(dest, source, bytes);
#endif
}

}  // namespace shmemx
