// A transport without a network. It records the messages that it accepts and refuses them if the test sets it so. Tests
// derive from it to script replies, RMA, or registration.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace test_support {

struct SentMessage {
  int pe;
  unsigned handler;
  bool operator==(const SentMessage&) const = default;
};

class FakeTransport : public shmemx::transport::Transport {
 public:
  explicit FakeTransport(const char* name) : name_(name) {}

  const char* name() const noexcept override;
  shmemx::transport::Capabilities capabilities() const noexcept override { return can; }
  std::string endpoint_address() const override { return name_; }
  void set_addresses(const shmemx::transport::EndpointAddresses&) noexcept override {}
  shmemx::transport::Sent send(int pe, const shmemx::transport::Header& fixed, shmemx::transport::Bytes header,
                               shmemx::transport::Bytes payload, shmemx::transport::Outgoing* outgoing,
                               shmemx::transport::Urgency urgency) noexcept override;
  void flush() noexcept override { ++flushes; }
  bool poll(int) noexcept override {
    if (on_poll) on_poll();
    return std::exchange(moves, false);
  }
  int descriptor() const noexcept override { return -1; }
  bool arm() noexcept override { return arms; }
  void close(std::uint32_t) noexcept override {}
  bool abandon(int) noexcept override {
    is_abandoned = true;
    return is_quiet;
  }
  std::string describe(int) const override { return name_; }

  // The script.
  shmemx::transport::Capabilities can = {.resumes = true, .short_bytes = 100};
  bool is_full = false;           // send() refuses
  bool is_quiet = true;           // what abandon() returns
  std::function<void()> on_poll;  // called by poll()
  bool moves = false;             // what the next poll() returns
  bool arms = true;               // what arm() returns

  // The record, oldest first.
  std::vector<SentMessage> sent;
  std::vector<std::vector<std::byte>> contents;  // of each: header and payload
  std::vector<std::uint8_t> flags;               // of each: Header::flags
  std::vector<shmemx::transport::Urgency> urgencies;
  int flushes = 0;
  bool is_abandoned = false;

 private:
  const char* name_;
};

}  // namespace test_support
