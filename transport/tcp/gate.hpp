// Who connects to this PE, until it has proved to be a PE of the job. Strangers are few at a time, have little time,
// and get no answer before their first message is complete and genuine.
#pragma once

#include <cstddef>
#include <list>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "transport/tcp/handshake.hpp"

namespace shmemx::tcp {

class Gate {
 public:
  enum class Answer : std::uint8_t {
    now,
    later,  // this PE is connecting there itself, and its own connection goes first
    never,
  };
  class Owner {
   public:
    virtual Answer may_answer(int pe) noexcept = 0;
    virtual void arrived(int pe, UniqueFd connection) noexcept = 0;
    // One that had begun to prove itself has gone.
    virtual void left(int pe) noexcept = 0;
    // One that is to be answered later has waited for long.
    virtual void kept_waiting(int pe) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Gate(const transport::Setup& setup, Owner& owner) noexcept : setup_(&setup), owner_(&owner) {}
  Status open(int epoll);
  std::uint16_t port() const noexcept { return port_; }

  void accept_some() noexcept;
  void on_event(int fd) noexcept;
  void expire(std::uint64_t now) noexcept;
  // Is there one that says, credibly, that it is `pe`?
  bool knows(int pe) const noexcept;
  // To those of `pe` that have been told nothing yet.
  void answer_held(int pe) noexcept;
  // `pe` is connected, or does not matter any more.
  void forget(int pe) noexcept;
  bool has_deadlines() const noexcept { return !strangers_.empty() || paused_; }
  void close() noexcept;

  static constexpr std::size_t kMaxUnknown = 64;
  static constexpr std::ptrdiff_t kMaxOfOnePe = 16;  // that say they are the same PE: it tries each of our addresses

 private:
  struct Stranger {
    UniqueFd fd;
    std::uint64_t since;
    enum class Stage : std::uint8_t { hello, held, proof } stage = Stage::hello;
    bool had_last_look = false;
    std::size_t got = 0;
    std::byte input[sizeof(Hello)] = {};
    Hello hello{};
    Challenge challenge{};
  };
  using Strangers = std::list<Stranger>;  // the oldest first

  bool advance(Stranger& stranger) noexcept;
  bool on_hello(Stranger& stranger) noexcept;
  bool on_proof(Stranger& stranger) noexcept;
  bool send_challenge(Stranger& stranger) noexcept;
  void drop(Strangers::iterator stranger) noexcept;
  bool drop_oldest_unknown() noexcept;
  void make_room_for(std::uint32_t pe) noexcept;
  bool pause_listening() noexcept;

  const transport::Setup* setup_;
  Owner* owner_;
  UniqueFd listener_;
  int epoll_ = -1;
  std::uint16_t port_ = 0;
  Strangers strangers_;
  std::size_t unknown_ = 0;  // strangers at stage hello
  bool paused_ = false;      // no descriptors were left
};

}  // namespace shmemx::tcp
