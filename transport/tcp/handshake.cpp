#include "transport/tcp/handshake.hpp"

#include <errno.h>
#include <sys/random.h>

#include "base/clock.hpp"
#include "base/fatal.hpp"

#include "transport/keyed_hash.hpp"

namespace shmemx::tcp {

namespace {

// "shmemx", the kind of the message, the version of everything that travels on a connection.
constexpr std::uint64_t magic(char kind) {
  return 0x73'68'6d'65'6d'78'00'02 | static_cast<std::uint64_t>(static_cast<unsigned char>(kind)) << 8;
}
constexpr std::uint64_t kHelloMagic = magic('h');
constexpr std::uint64_t kChallengeMagic = magic('c');
constexpr std::uint64_t kProofMagic = magic('p');

std::uint64_t pair_of(const Hello& hello) noexcept { return static_cast<std::uint64_t>(hello.from) << 32 | hello.to; }

std::uint64_t tag_of(const transport::Setup& setup, const Hello& hello) noexcept {
  const std::uint64_t words[] = {kHelloMagic, pair_of(hello), hello.n_pes, hello.nonce[0], hello.nonce[1]};
  return transport::keyed_hash(setup.secret, words);
}

std::uint64_t tag_of(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                     std::uint64_t kind) noexcept {
  const std::uint64_t words[] = {kind,           pair_of(hello),     hello.nonce[0],
                                 hello.nonce[1], challenge.nonce[0], challenge.nonce[1]};
  return transport::keyed_hash(setup.secret, words);
}

// One comparison of words: takes the same time wherever they differ.
bool same(std::uint64_t magic, std::uint64_t wanted_magic, std::uint64_t tag, std::uint64_t wanted_tag) noexcept {
  return ((magic ^ wanted_magic) | (tag ^ wanted_tag)) == 0;
}

}  // namespace

void fill_nonce(std::uint64_t (&nonce)[2]) noexcept {
  while (::getrandom(nonce, sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) {
    if (errno != EINTR) fatal(nullptr, "tcp: the kernel gives no random numbers (errno %d)", errno);
  }
}

Hello make_hello(const transport::Setup& setup, int to) noexcept {
  Hello hello{kHelloMagic,
              static_cast<std::uint32_t>(setup.me),
              static_cast<std::uint32_t>(to),
              static_cast<std::uint64_t>(setup.n_pes),
              {},
              0};
  fill_nonce(hello.nonce);
  hello.tag = tag_of(setup, hello);
  return hello;
}

bool is_genuine(const transport::Setup& setup, const Hello& hello) noexcept {
  if (!same(hello.magic, kHelloMagic, hello.tag, tag_of(setup, hello))) return false;
  return hello.to == static_cast<std::uint32_t>(setup.me) && hello.n_pes == static_cast<std::uint64_t>(setup.n_pes) &&
         hello.from < hello.n_pes && hello.from != hello.to;
}

Challenge make_challenge(const transport::Setup& setup, const Hello& hello) noexcept {
  Challenge challenge{kChallengeMagic, {}, 0};
  fill_nonce(challenge.nonce);
  challenge.tag = tag_of(setup, hello, challenge, kChallengeMagic);
  return challenge;
}

bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept {
  return same(challenge.magic, kChallengeMagic, challenge.tag, tag_of(setup, hello, challenge, kChallengeMagic));
}

Proof make_proof(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept {
  return {kProofMagic, tag_of(setup, hello, challenge, kProofMagic)};
}

bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                const Proof& proof) noexcept {
  return same(proof.magic, kProofMagic, proof.tag, tag_of(setup, hello, challenge, kProofMagic));
}

}  // namespace shmemx::tcp
