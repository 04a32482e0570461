// The first bytes of a connection: both sides prove that they know the job's secret, without showing it.
//   Hello      from the side that connects; its proof shows that some PE of the job made it, at some time
//   Challenge  from the side that accepts; proves that it is the PE that is meant, and answers now
//   Response   from the side that connects; proves that it answers now, too. Frames follow at once.
// Each has a fixed size. Neither side looks at anything else before it is complete. Both sides number the connection:
// one more than the larger number of connections that they have had. The first one begins the streams of both sides,
// all others continue them (resume.hpp).
#pragma once

#include "transport/common/authentication.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

struct Hello {
  std::uint64_t magic;
  std::uint32_t from;
  std::uint32_t to;
  std::uint64_t n_pes;
  std::uint64_t connections;  // that this PE has had with the other one
  std::uint64_t nonce[2];
  std::uint64_t proof;
};
static_assert(sizeof(Hello) == 56);

struct Challenge {
  std::uint64_t magic;
  std::uint64_t connections;  // as in the hello
  std::uint64_t nonce[2];
  std::uint64_t proof;
};
static_assert(sizeof(Challenge) == 40);

struct Response {
  std::uint64_t magic;
  std::uint64_t proof;
};
static_assert(sizeof(Response) == 16);

// Fills in random numbers that nobody can foresee.
void fill_nonce(std::uint64_t (&nonce)[2]) noexcept;

// `to` and Hello::from, Hello::to: the number of a PE; for its second rail that and n_pes.
Hello make_hello(const transport::Setup& setup, int to, std::uint64_t connections) noexcept;
// Returns true if a PE of this job made the hello for this PE.
bool is_genuine(const transport::Setup& setup, const Hello& hello) noexcept;

Challenge make_challenge(const transport::Setup& setup, const Hello& hello, std::uint64_t connections) noexcept;
// Returns the number of the connection.
std::uint64_t number_of(const Hello& hello, const Challenge& challenge) noexcept;
bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept;

Response make_response(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept;
bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                const Response& response) noexcept;

// Returns a word of a key that only the two sides can make: it follows from the nonces of both. Words of one purpose
// count from 0.
std::uint64_t key_word(const transport::Setup& setup, const Hello& hello, const Challenge& challenge, Purpose purpose,
                       std::uint64_t index) noexcept;

// The keys of both directions of a connection, as its side that sends and receives uses them.
struct ConnectionKeys {
  std::uint64_t sending[2];
  std::uint64_t receiving[2];
};
ConnectionKeys keys_of(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                       bool has_connected) noexcept;

}  // namespace shmemx::transport
