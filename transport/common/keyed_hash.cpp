#include "transport/common/keyed_hash.hpp"

#include <bit>

namespace shmemx::transport {

namespace {

struct State {
  std::uint64_t a, b, c, d;

  void round() noexcept {
    a += b;
    c += d;
    b = std::rotl(b, 13) ^ a;
    d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b;
    a += d;
    b = std::rotl(b, 17) ^ c;
    d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  }

  void absorb(std::uint64_t word) noexcept {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

}  // namespace

std::uint64_t keyed_hash(const std::uint64_t (&key)[2], std::span<const std::uint64_t> words) noexcept {
  State state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
              key[1] ^ 0x7465646279746573};
  for (const std::uint64_t word : words) state.absorb(word);
  // The last block holds the length in bytes. The input has no bytes beyond whole words.
  state.absorb((words.size() * sizeof(std::uint64_t)) << 56);
  state.c ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace shmemx::transport
