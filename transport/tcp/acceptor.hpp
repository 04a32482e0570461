// Accepts connections, and keeps each until its other side has proven to be a PE of the job. Unauthenticated
// connections are few at a time, have little time, and get no reply before their hello is complete and genuine.
#pragma once

#include <cstddef>
#include <list>
#include <map>

#include "base/result.hpp"
#include "transport/common/handshake.hpp"
#include "transport/common/network_fd.hpp"

namespace shmemx::tcp {

using transport::Challenge;
using transport::ConnectionKeys;
using transport::Hello;
using transport::NetworkFd;
using transport::Response;

class Acceptor {
 public:
  enum class Answer : std::uint8_t {
    now,
    later,  // this PE is connecting there itself, and its own connection has precedence
    never,
  };
  class Owner {
   public:
    // `connections`: how many that PE says that it has had with this one.
    virtual Answer may_answer(int pe, std::uint64_t connections) noexcept = 0;
    // Returns how many connections this PE has had with `pe`.
    virtual std::uint64_t connections_with(int pe) noexcept = 0;
    virtual void arrived(int pe, NetworkFd connection, std::uint64_t number, const ConnectionKeys& keys) noexcept = 0;
    // A connection whose hello was genuine has ended, or has become too old for knows().
    virtual void left(int pe) noexcept = 0;
    // A connection that was to be answered later has waited for long. Returns false if it has to wait for longer.
    virtual bool kept_waiting(int pe) noexcept = 0;
    // A connection cannot be accepted before there are descriptors. Returns false if it may take the last ones.
    virtual bool no_descriptors() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Acceptor(const transport::Setup& setup, Owner& owner) noexcept : setup_(&setup), owner_(&owner) {}
  Status open(int epoll);
  std::uint16_t port() const noexcept { return port_; }

  void accept_some() noexcept;
  void on_event(int fd) noexcept;
  void expire(std::uint64_t now) noexcept;
  // Returns true if there is a connection with a genuine hello of `pe`.
  bool holds(int pe) const noexcept;
  // Returns true if `pe` is likely to connect, so that this PE need not: there is such a connection, and the first one
  // since the last proof of `pe` is not old. Somebody who has overheard a hello may repeat it as often as he likes.
  bool knows(int pe) const noexcept;
  // Sends the challenge to connections of `pe` that have had no reply yet.
  void answer_held(int pe) noexcept;
  // Closes all connections of `pe`: it is connected now, or lost.
  void forget(int pe) noexcept;
  // Accepts again after there were no descriptors.
  void resume() noexcept;
  bool has_deadlines() const noexcept { return !connections_.empty() || paused_; }
  void close() noexcept;

  static constexpr std::size_t kMaxUnauthenticated = 64;
  static constexpr std::ptrdiff_t kMaxOfOnePe = 16;  // with a hello of the same PE: it tries each of our addresses

 private:
  struct Connection {
    NetworkFd fd;
    std::uint64_t since;
    enum class Stage : std::uint8_t { hello, held, response } stage = Stage::hello;
    bool had_last_look = false;
    bool is_old = false;  // too old for knows(), which the owner knows
    std::size_t got = 0;
    std::byte input[sizeof(Hello)] = {};
    Hello hello{};
    Challenge challenge{};
  };
  using Connections = std::list<Connection>;  // in the order of arrival

  bool advance(Connection& connection) noexcept;
  bool on_hello(Connection& connection) noexcept;
  bool on_response(Connection& connection) noexcept;
  bool send_challenge(Connection& connection) noexcept;
  void drop(Connections::iterator connection) noexcept;
  bool drop_oldest_unauthenticated() noexcept;
  void make_room_for(std::uint32_t pe) noexcept;
  bool may_accept() noexcept;
  bool pause_listening() noexcept;
  bool is_believed(std::uint32_t pe, std::uint64_t now) const noexcept;
  void drop_overdue(std::uint64_t now) noexcept;
  void doubt(std::uint64_t now) noexcept;
  void answer_overdue(std::uint64_t now) noexcept;

  const transport::Setup* setup_;
  Owner* owner_;
  NetworkFd listener_;
  int epoll_ = -1;
  std::uint16_t port_ = 0;
  Connections connections_;
  std::map<std::uint32_t, std::uint64_t> first_hellos_;  // by PE: time of the first one since forget()
  std::size_t unauthenticated_ = 0;                      // connections whose hello has not been checked yet
  bool paused_ = false;                                  // there were no descriptors left
  bool is_cautious_ = false;                             // the limit of descriptors was near
};

}  // namespace shmemx::tcp
