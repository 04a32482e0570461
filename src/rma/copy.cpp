#include "rma/copy.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace shmemx::rma {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStreams = 4;  // pages written side by side: each memory channel gets its share
constexpr std::size_t kLine = 64;

}  // namespace

CopySizes measured_copy_sizes() noexcept {
  CopySizes sizes;
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Where the two measured processors differ (docs/decisions): AMD's string copies stay ahead while the target's cache
  // holds the block.
  if (!__builtin_cpu_is("amd")) sizes.stream_bytes = std::size_t{3} << 20;
#endif
  return sizes;
}

void copy_stream(void* dest, const void* source, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  auto* to = static_cast<unsigned char*>(dest);
  const auto* from = static_cast<const unsigned char*>(source);
  // Streaming stores want aligned targets.
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= kStreams * kPage; bytes -= kStreams * kPage, to += kStreams * kPage, from += kStreams * kPage) {
    for (std::size_t line = 0; line < kPage; line += kLine) {
      for (std::size_t page = 0; page < kStreams * kPage; page += kPage) {
        const auto* const read = reinterpret_cast<const __m128i*>(from + page + line);
        auto* const written = reinterpret_cast<__m128i*>(to + page + line);
        _mm_prefetch(reinterpret_cast<const char*>(read) + 4 * kLine, _MM_HINT_T0);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(written + i, _mm_loadu_si128(read + i));
      }
    }
  }
  _mm_sfence();  // a fence or signal that follows orders plain stores only
  std::memcpy(to, from, bytes);
#else
  std::memcpy(dest, source, bytes);
#endif
}

}  // namespace shmemx::rma
