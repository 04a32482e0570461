#include "transport/ucx/proof.hpp"

#include <bit>

namespace shmemx::transport::ucx {
namespace {

struct State {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
  std::uint64_t d;

  void mix(int rounds) noexcept {
    for (; rounds > 0; --rounds) {
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
  }

  void take(std::uint64_t word) noexcept {
    d ^= word;
    mix(2);
    a ^= word;
  }
};

constexpr std::uint64_t kDomain = 0x7563782d70726f66;  // so that other users of the secret get other values
constexpr std::uint64_t kLengthMark = std::uint64_t{16} << 56;

}  // namespace

std::uint64_t proof_of(const std::uint64_t secret[2], int source, int target) noexcept {
  State state{secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d, secret[0] ^ 0x6c7967656e657261,
              secret[1] ^ 0x7465646279746573};
  state.take(kDomain);
  state.take(static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target));
  state.take(kLengthMark);
  state.c ^= 0xff;
  state.mix(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace shmemx::transport::ucx
