#include "guard.hpp"

#include <rdma/fabric.h>

#include <algorithm>
#include <cstring>

#include "random.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr std::size_t kWhole = std::size_t{64} << 10;  // larger parts are sampled
constexpr std::size_t kSample = 64;
constexpr std::size_t kStride = 4096;
constexpr unsigned char kFiller = 0xdb;

std::uint64_t add_bytes(std::uint64_t sum, const std::byte* at, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    sum ^= sum >> 29;
  }
  word = bytes;
  if (bytes != 0) std::memcpy(&word, at, bytes);
  return mix(sum ^ word);
}

}  // namespace

std::uint64_t checksum(std::span<const iovec> parts) noexcept {
  std::uint64_t sum = 0;
  for (const iovec& part : parts) {
    const auto* at = static_cast<const std::byte*>(part.iov_base);
    if (part.iov_len <= kWhole) {
      sum = add_bytes(sum, at, part.iov_len);
      continue;
    }
    for (std::size_t i = 0; i + kSample <= part.iov_len; i += kStride) sum = add_bytes(sum, at + i, kSample);
    sum = add_bytes(sum, at + part.iov_len - kSample, kSample);
  }
  return sum;
}

void fill(std::span<const iovec> parts) noexcept {
  for (const iovec& part : parts) {
    if (part.iov_len <= kMostFilled) std::memset(part.iov_base, kFiller, part.iov_len);
  }
}

bool is_filled(const void* at, std::size_t bytes) noexcept {
  const auto* byte = static_cast<const unsigned char*>(at);
  return std::all_of(byte, byte + bytes, [](unsigned char value) { return value == kFiller; });
}

Contexts::Contexts(std::uint64_t mode) noexcept
    : words_((mode & FI_CONTEXT2) != 0  ? sizeof(fi_context2) / sizeof(void*)
             : (mode & FI_CONTEXT) != 0 ? sizeof(fi_context) / sizeof(void*)
                                        : 0) {}

void Contexts::open(const char* call, void* context) {
  if (words_ == 0) return;
  if (context == nullptr) violation("%s: the context is null, the mode requires one", call);
  if (!open_.insert(context).second) violation("%s: the context %p belongs to another operation", call, context);
  auto* words = static_cast<std::uint64_t*>(context);
  for (std::size_t i = 0; i < words_; ++i) words[i] = mix(reinterpret_cast<std::uint64_t>(words + i));
}

void Contexts::close(const char* call, void* context) {
  if (words_ == 0 || open_.erase(context) == 0) return;
  const auto* words = static_cast<const std::uint64_t*>(context);
  for (std::size_t i = 0; i < words_; ++i) {
    if (words[i] != mix(reinterpret_cast<std::uint64_t>(words + i)))
      violation("%s: the memory of the context %p was changed before its operation ended", call, context);
  }
}

}  // namespace strict_provider
