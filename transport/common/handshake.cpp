#include "transport/common/handshake.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/random_bytes.hpp"

namespace shmemx::transport {

namespace {

// "shmemx", the kind of the message, and the version of everything that travels on a connection.
constexpr std::uint64_t magic(char kind) {
  return 0x73'68'6d'65'6d'78'00'04 | static_cast<std::uint64_t>(static_cast<unsigned char>(kind)) << 8;
}
constexpr std::uint64_t kHelloMagic = magic('h');
constexpr std::uint64_t kSealedHelloMagic = magic('s');  // of PEs that use SHMEMX_NET_MAC
constexpr std::uint64_t kChallengeMagic = magic('c');
constexpr std::uint64_t kResponseMagic = magic('r');

std::uint64_t hello_magic(const transport::Setup& setup) noexcept {
  return setup.tcp_mac ? kSealedHelloMagic : kHelloMagic;
}

std::uint64_t pair_of(const Hello& hello) noexcept { return static_cast<std::uint64_t>(hello.from) << 32 | hello.to; }

std::uint64_t proof_of(const transport::Setup& setup, const Hello& hello) noexcept {
  const std::uint64_t words[] = {pair_of(hello), hello.n_pes, hello.connections, hello.nonce[0], hello.nonce[1]};
  return transport::prove(setup.secret, Purpose::hello, words);
}

// Returns the proof of a challenge or a response: it covers the nonces of both sides.
std::uint64_t proof_of(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                       Purpose purpose) noexcept {
  const std::uint64_t words[] = {pair_of(hello),        hello.connections,  hello.nonce[0],    hello.nonce[1],
                                 challenge.connections, challenge.nonce[0], challenge.nonce[1]};
  return transport::prove(setup.secret, purpose, words);
}

}  // namespace

// It has worked when the networks were opened. Plug-ins have no diagnostics of their own.
void fill_nonce(std::uint64_t (&nonce)[2]) noexcept {
  if (fill_random(std::as_writable_bytes(std::span(nonce)))) return;
  constexpr std::string_view kLine = "shmemx: getrandom and /dev/urandom are refused, a connection cannot be proven\n";
  (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
  std::abort();
}

Hello make_hello(const transport::Setup& setup, int to, std::uint64_t connections) noexcept {
  Hello hello{hello_magic(setup),
              static_cast<std::uint32_t>(to < setup.n_pes ? setup.me : setup.me + setup.n_pes),
              static_cast<std::uint32_t>(to),
              static_cast<std::uint64_t>(setup.n_pes),
              connections,
              {},
              0};
  fill_nonce(hello.nonce);
  hello.proof = proof_of(setup, hello);
  return hello;
}

bool is_genuine(const transport::Setup& setup, const Hello& hello) noexcept {
  if (hello.magic != hello_magic(setup) || !transport::is_same_proof(hello.proof, proof_of(setup, hello))) return false;
  const auto n_pes = static_cast<std::uint32_t>(setup.n_pes);
  if (hello.n_pes != n_pes || (hello.from < n_pes) != (hello.to < n_pes)) return false;
  return hello.to % n_pes == static_cast<std::uint32_t>(setup.me) && hello.to < 2 * n_pes && hello.from < 2 * n_pes &&
         hello.from != hello.to;
}

Challenge make_challenge(const transport::Setup& setup, const Hello& hello, std::uint64_t connections) noexcept {
  Challenge challenge{kChallengeMagic, connections, {}, 0};
  fill_nonce(challenge.nonce);
  challenge.proof = proof_of(setup, hello, challenge, Purpose::challenge);
  return challenge;
}

bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept {
  return challenge.magic == kChallengeMagic &&
         transport::is_same_proof(challenge.proof, proof_of(setup, hello, challenge, Purpose::challenge));
}

std::uint64_t number_of(const Hello& hello, const Challenge& challenge) noexcept {
  return std::max(hello.connections, challenge.connections) + 1;
}

std::uint64_t key_word(const transport::Setup& setup, const Hello& hello, const Challenge& challenge, Purpose purpose,
                       std::uint64_t index) noexcept {
  const std::uint64_t words[] = {pair_of(hello),     hello.nonce[0],     hello.nonce[1],
                                 challenge.nonce[0], challenge.nonce[1], index};
  return transport::prove(setup.secret, purpose, words);
}

ConnectionKeys keys_of(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                       bool has_connected) noexcept {
  std::uint64_t keys[4];
  for (std::uint64_t i = 0; i < 4; ++i) keys[i] = key_word(setup, hello, challenge, Purpose::stream, i);
  const std::size_t sending = has_connected ? 0 : 2;
  return {{keys[sending], keys[sending + 1]}, {keys[2 - sending], keys[3 - sending]}};
}

Response make_response(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept {
  return {kResponseMagic, proof_of(setup, hello, challenge, Purpose::response)};
}

bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                const Response& response) noexcept {
  return response.magic == kResponseMagic &&
         transport::is_same_proof(response.proof, proof_of(setup, hello, challenge, Purpose::response));
}

}  // namespace shmemx::transport
