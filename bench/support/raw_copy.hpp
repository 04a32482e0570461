// The methods by which a plain program can copy memory; the best one at a size is the limit of put and get.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "clock.hpp"

namespace shmemx::bench {

constexpr int kCopyMethods = 4;

inline void copy_string_move(void* dest, const void* source, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
}

// Bypasses the cache; `bytes` is a multiple of 64 and `dest` is aligned to 16.
inline void copy_non_temporal(void* dest, const void* source, std::size_t bytes) {
  auto* to = static_cast<__m128i*>(dest);
  const auto* from = static_cast<const __m128i*>(source);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); i += 4) {
    const __m128i a = _mm_loadu_si128(from + i);
    const __m128i b = _mm_loadu_si128(from + i + 1);
    const __m128i c = _mm_loadu_si128(from + i + 2);
    const __m128i d = _mm_loadu_si128(from + i + 3);
    _mm_stream_si128(to + i, a);
    _mm_stream_si128(to + i + 1, b);
    _mm_stream_si128(to + i + 2, c);
    _mm_stream_si128(to + i + 3, d);
  }
  _mm_sfence();
}

// A loop of vector loads and stores.
__attribute__((target("avx2"))) inline void copy_vectors(void* dest, const void* source, std::size_t bytes) {
  auto* to = static_cast<__m256i*>(dest);
  const auto* from = static_cast<const __m256i*>(source);
  const __m256i* const end = from + bytes / sizeof(__m256i) / 4 * 4;
  for (; from != end; from += 4, to += 4) {
    const __m256i a = _mm256_loadu_si256(from);
    const __m256i b = _mm256_loadu_si256(from + 1);
    const __m256i c = _mm256_loadu_si256(from + 2);
    const __m256i d = _mm256_loadu_si256(from + 3);
    _mm256_storeu_si256(to, a);
    _mm256_storeu_si256(to + 1, b);
    _mm256_storeu_si256(to + 2, c);
    _mm256_storeu_si256(to + 3, d);
  }
  std::memcpy(to, from, bytes % (4 * sizeof(__m256i)));
}

inline void raw_copy(int method, void* dest, const void* source, std::size_t bytes) {
  switch (method) {
    case 0:
      std::memcpy(dest, source, bytes);
      break;
    case 1:
      copy_string_move(dest, source, bytes);
      break;
    case 2:
      copy_non_temporal(dest, source, bytes);
      break;
    default:
      if (!__builtin_cpu_supports("avx2")) return raw_copy(0, dest, source, bytes);
      copy_vectors(dest, source, bytes);
      break;
  }
  forget_memory();
}

}  // namespace shmemx::bench
