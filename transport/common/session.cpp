#include "transport/common/session.hpp"

#include <span>

#include "transport/common/keyed_hash.hpp"

namespace shmemx::transport {
namespace {

void derive_key(const Setup& setup, const Hello& hello, const Challenge& challenge, std::uint64_t (&key)[2]) noexcept {
  for (std::uint64_t half : {0, 1}) key[half] = key_word(setup, hello, challenge, Purpose::session, half);
}

std::uint64_t proof_with(const std::uint64_t (&key)[2], const MessageName& message) noexcept {
  const std::uint64_t words[] = {message.kind, message.number, message.bytes};
  return keyed_hash(key, words);
}

}  // namespace

const Hello& OutgoingSession::hello(const Setup& setup, Network network, int to) noexcept {
  if (!has_hello_) hello_ = make_hello(setup, to, static_cast<std::uint64_t>(network));
  has_hello_ = true;
  return hello_;
}

bool OutgoingSession::accept(const Setup& setup, const Challenge& challenge) noexcept {
  if (is_open_ || !has_hello_ || !transport::is_genuine(setup, hello_, challenge)) return false;
  derive_key(setup, hello_, challenge, key_);
  return is_open_ = true;
}

std::uint64_t OutgoingSession::proof_of(const MessageName& message) const noexcept { return proof_with(key_, message); }

bool IncomingSession::answer(const Setup& setup, Network network, const Hello& hello, Challenge& challenge) noexcept {
  if (is_open_ || hello.connections != static_cast<std::uint64_t>(network) || !transport::is_genuine(setup, hello))
    return false;
  challenge = make_challenge(setup, hello, 0);
  derive_key(setup, hello, challenge, key_);
  return is_open_ = true;
}

bool IncomingSession::is_genuine(const MessageName& message, std::uint64_t proof) const noexcept {
  return is_open_ && is_same_proof(proof, proof_with(key_, message));
}

}  // namespace shmemx::transport
