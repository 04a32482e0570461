// Finds out whether a program touches what it has given to the provider.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>

namespace strict_provider {

// Returns a checksum of a buffer; of a large part, of samples.
std::uint64_t checksum(std::span<const iovec> parts) noexcept;
// Fills a buffer that nobody may read now, if it is not large.
void fill(std::span<const iovec> parts) noexcept;
// Returns false if a byte is not as fill() has left it.
bool is_filled(const void* at, std::size_t bytes) noexcept;
inline constexpr std::size_t kMostFilled = std::size_t{1} << 20;

// The contexts of operations under way, if the mode gives their memory to the provider.
class Contexts {
 public:
  explicit Contexts(std::uint64_t mode) noexcept;
  // Both end the test if the program has used the context's memory.
  void open(const char* call, void* context);
  void close(const char* call, void* context);

 private:
  std::size_t words_;  // 0: the memory stays the program's
  std::unordered_set<void*> open_;
};

}  // namespace strict_provider
