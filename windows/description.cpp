#include "windows/description.hpp"

#include <cstddef>
#include <cstring>

namespace shmemx::windows {
namespace {

constexpr std::uint32_t kMagic = 0x57'6d'78'31;

__extension__ using Wide = unsigned __int128;

// Each word is mixed in by a multiplication of full width, so that every bit of it reaches every bit of the result.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a ^ 0x9e37'79b9'7f4a'7c15U) * (b ^ 0xd6e8'feb8'6659'fd93U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t digest(const Description& description, std::uint64_t job_key) {
  constexpr std::size_t kWords = offsetof(Description, seal) / sizeof(std::uint64_t);
  std::uint64_t words[kWords];
  std::memcpy(words, &description, sizeof words);
  std::uint64_t sum = mix(job_key, kMagic);
  for (const std::uint64_t word : words) sum = mix(sum + word, job_key + (sum << 31 | sum >> 33));
  return mix(sum, ~job_key);
}

}  // namespace

void seal(Description& description, std::uint64_t job_key) noexcept {
  description.magic = kMagic;
  description.seal = digest(description, job_key);
}

bool is_sealed(const Description& description, std::uint64_t job_key, int n_pes) noexcept {
  return description.magic == kMagic && description.owner >= 0 && description.owner < n_pes &&
         description.kind <= Kind::ranges && description.key_bytes == 0 &&
         description.seal == digest(description, job_key);
}

}  // namespace shmemx::windows
