// The first bytes of a connection: both sides prove that they know the job's secret, without showing it.
//   Hello      from who connects; proves at once that a PE of the job made it, once
//   Challenge  from who accepts; proves that it is the PE that is meant and lives now
//   Proof      from who connects: lives now as well. Frames follow at once.
// Each has a fixed size and is complete before anything else is looked at.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::tcp {

struct Hello {
  std::uint64_t magic;
  std::uint32_t from;
  std::uint32_t to;
  std::uint64_t n_pes;
  std::uint64_t nonce[2];
  std::uint64_t tag;
};
static_assert(sizeof(Hello) == 48);

struct Challenge {
  std::uint64_t magic;
  std::uint64_t nonce[2];
  std::uint64_t tag;
};
static_assert(sizeof(Challenge) == 32);

struct Proof {
  std::uint64_t magic;
  std::uint64_t tag;
};
static_assert(sizeof(Proof) == 16);

// Random numbers that nobody can foresee.
void fill_nonce(std::uint64_t (&nonce)[2]) noexcept;

Hello make_hello(const transport::Setup& setup, int to) noexcept;
// Made by a PE of this job for this PE?
bool is_genuine(const transport::Setup& setup, const Hello& hello) noexcept;

Challenge make_challenge(const transport::Setup& setup, const Hello& hello) noexcept;
bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept;

Proof make_proof(const transport::Setup& setup, const Hello& hello, const Challenge& challenge) noexcept;
bool is_genuine(const transport::Setup& setup, const Hello& hello, const Challenge& challenge,
                const Proof& proof) noexcept;

}  // namespace shmemx::tcp
