// What a schedule consists of: rounds of messages, after which this member combines and copies.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "atomic/elements.hpp"

namespace shmemx::coll::background {

// The operator of a reduction.
struct Operator {
  atomic::ElementType type = atomic::ElementType::none;
  atomic::ElementOp op = atomic::ElementOp::none;

  std::size_t element_bytes() const noexcept { return atomic::element_bytes(type); }
  // into = into op from
  void accumulate(std::byte* into, const std::byte* from, std::size_t bytes) const noexcept {
    atomic::apply({type, op, true}, {into, 0, nullptr}, from, nullptr, bytes / element_bytes());
  }
};

struct Message {
  enum class Kind : std::uint8_t { send, receive };
  Kind kind;
  int member;     // of the team
  std::byte* at;  // only read by sends
  std::size_t bytes;
  bool is_bounded = false;  // the receiver knows the most bytes only
};

struct LocalStep {
  enum class Kind : std::uint8_t { combine, copy };
  Kind kind;
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

// All messages of a round are under way at once. When all are complete, its local steps run in their order. The
// messages that one member sends to another one match the other one's receives from it, in the order of the rounds.
struct Round {
  std::vector<Message> messages;
  std::vector<LocalStep> steps;

  void send(int member, const std::byte* from, std::size_t bytes) {
    messages.push_back({Message::Kind::send, member, const_cast<std::byte*>(from), bytes});
  }
  void receive(int member, std::byte* to, std::size_t bytes) {
    messages.push_back({Message::Kind::receive, member, to, bytes});
  }
  // A message of at most as many bytes as the receiver says. The sender says how many there are.
  void send_bounded(int member, const std::byte* from, std::size_t bytes) {
    messages.push_back({Message::Kind::send, member, const_cast<std::byte*>(from), bytes, true});
  }
  void receive_bounded(int member, std::byte* to, std::size_t most) {
    messages.push_back({Message::Kind::receive, member, to, most, true});
  }
  // Messages without data.
  void signal(int member) { send(member, nullptr, 0); }
  void await(int member) { receive(member, nullptr, 0); }
  // to = to op from
  void combine(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0) steps.push_back({LocalStep::Kind::combine, to, from, bytes});
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0 && to != from) steps.push_back({LocalStep::Kind::copy, to, from, bytes});
  }
  void clear() noexcept {
    messages.clear();
    steps.clear();
  }
};

}  // namespace shmemx::coll::background
