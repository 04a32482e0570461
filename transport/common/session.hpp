// Who sends the messages of a network without connections. Each direction between two PEs begins with a handshake
// (handshake.hpp): the hello of the sender, and the challenge of the receiver, both with fresh random numbers, from
// which both derive the key of this direction. Every message then carries a proof made with that key, of its number
// too, so it is worth nothing a second time, between other PEs, or in another job. The first message stands for the
// response.
//
// A receiver answers one hello of a PE. Whoever sends a recorded one again gets no answer and changes nothing.
#pragma once

#include <cstdint>

#include "transport/common/handshake.hpp"

namespace shmemx::transport {

// Whose hello it is: it stands in Hello::connections, so that none of another network is taken.
enum class Network : std::uint64_t { ucx = 0x7563780000000000, ofi = 0x6f66690000000000 };

// What a proof covers of a message.
struct MessageName {
  std::uint32_t kind;
  std::uint64_t number;  // never the same twice; only its lower half travels
  std::uint64_t bytes;
};

// Returns the number whose lower half is `low`: the one closest to `expected`, since few messages are out of turn.
constexpr std::uint64_t whole_number(std::uint32_t low, std::uint64_t expected) noexcept {
  const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(expected));
  return expected + static_cast<std::uint64_t>(std::int64_t{ahead});
}

// The side that sends.
class OutgoingSession {
 public:
  // Returns the hello, the same at each call.
  const Hello& hello(const Setup& setup, Network network, int to) noexcept;
  // Returns false, and changes nothing, if it is not the answer to the hello, or not the first one.
  bool accept(const Setup& setup, const Challenge& challenge) noexcept;
  bool is_open() const noexcept { return is_open_; }
  // Requires is_open().
  std::uint64_t proof_of(const MessageName& message) const noexcept;

 private:
  Hello hello_{};
  std::uint64_t key_[2] = {};
  bool has_hello_ = false;
  bool is_open_ = false;
};

// The side that receives.
class IncomingSession {
 public:
  // Returns true if the hello is the first one of that PE, and fills in the answer.
  bool answer(const Setup& setup, Network network, const Hello& hello, Challenge& challenge) noexcept;
  // Returns whether the message is of this session. Whether its number is due is for the caller to say.
  bool is_genuine(const MessageName& message, std::uint64_t proof) const noexcept;

 private:
  std::uint64_t key_[2] = {};
  bool is_open_ = false;
};

}  // namespace shmemx::transport
