#include "transport/common/network_fd.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/contact_table.hpp"

namespace shmemx::transport {
namespace {

// More than raise_limit() allows. Descriptors beyond are not noted.
constexpr std::size_t kMostFds = std::size_t{1} << 20;
constexpr std::size_t kBits = 64;
using Word = std::atomic<std::uint64_t>;

// A bit for each descriptor, in private memory: a child has the bits as of the fork, also where static data are shared.
// Never freed.
Word* table() noexcept {
  static Word* const words = reinterpret_cast<Word*>(reserve_zeros(kMostFds / kBits * sizeof(Word)));
  return words;
}
constinit std::atomic<Word*> noted{nullptr};  // table(), once something has been noted
constinit std::atomic<std::size_t> most{0};   // of the words in use

std::uint64_t bit_of(std::size_t fd) noexcept { return std::uint64_t{1} << fd % kBits; }

}  // namespace

// Orders: a fork orders all that the forking thread has seen. What other threads do at that moment may be in the child
// or not; then so may be the descriptor.
void note_network_fd(int fd) noexcept {
  const auto number = static_cast<std::size_t>(fd);
  if (number >= kMostFds) return;
  Word* const words = table();
  std::size_t known = most.load(std::memory_order_relaxed);
  while (known <= number / kBits && !most.compare_exchange_weak(known, number / kBits + 1, std::memory_order_relaxed)) {
  }
  noted.store(words, std::memory_order_release);
  words[number / kBits].fetch_or(bit_of(number), std::memory_order_relaxed);
}

void forget_network_fd(int fd) noexcept {
  const auto number = static_cast<std::size_t>(fd);
  if (number < kMostFds) table()[number / kBits].fetch_and(~bit_of(number), std::memory_order_relaxed);
}

void close_network_fds_in_child() noexcept {
  Word* const words = noted.load(std::memory_order_acquire);
  if (words == nullptr) return;
  const std::size_t n = most.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint64_t bits = words[i].exchange(0, std::memory_order_relaxed); bits != 0; bits &= bits - 1)
      ::close(static_cast<int>(i * kBits + static_cast<std::size_t>(std::countr_zero(bits))));
  }
}

}  // namespace shmemx::transport
