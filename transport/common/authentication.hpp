// Proofs that a message or a connection comes from a PE of this job. A proof is a keyed hash; the key is the job's
// secret, which never travels.
//
// A network without connections puts a pair proof into each packet: it names source and target, so it is worth nothing
// between other PEs. A network with connections uses a handshake with nonces (handshake.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace shmemx::transport {

// What a proof is for. Proofs of different purposes never have the same input.
enum class Purpose : std::uint64_t {
  memory_key = 0x6d656d6b,  // "memk": registration keys that nobody can guess
  hello = 0x68656c6c,       // "hell": the three messages of a handshake
  challenge = 0x6368616c,   // "chal"
  response = 0x72657370,    // "resp"
  session = 0x73657373,     // "sess": the key of a direction between two PEs, see session.hpp
  frame = 0x6672616d,       // "fram": the key of frames, see ethernet/frame_proof.hpp
  stream = 0x7374726d,      // "strm": the keys of a connection's stream, see tcp/sealing.hpp
};

// The longest input of prove(), in words.
inline constexpr std::size_t kMaxProofWords = 7;

// Returns the proof of `words` for one purpose.
std::uint64_t prove(const std::uint64_t (&secret)[2], Purpose purpose, std::span<const std::uint64_t> words) noexcept;

// Compares two proofs in the same time wherever they differ.
constexpr bool is_same_proof(std::uint64_t proof, std::uint64_t expected) noexcept { return (proof ^ expected) == 0; }

}  // namespace shmemx::transport
