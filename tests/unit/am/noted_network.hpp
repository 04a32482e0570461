// A network that leads nowhere and notes what it is asked to send.
#pragma once

#include <vector>

#include "transport/transport.hpp"

namespace shmemx::unit {

struct SentHead {
  int pe;
  unsigned handler;
  bool operator==(const SentHead&) const = default;
};

class NotedNetwork final : public transport::Transport {
 public:
  explicit NotedNetwork(const char* name) : name_(name) {}
  const char* name() const noexcept override;
  transport::Capabilities capabilities() const noexcept override { return {.short_bytes = 100}; }
  std::string endpoint_address() const override { return name_; }
  void set_addresses(const transport::EndpointAddresses&) noexcept override {}
  transport::Sent send(int pe, const transport::Header& head, transport::Bytes, transport::Bytes, transport::Outgoing*,
                       transport::Urgency) noexcept override;
  void flush() noexcept override {}
  bool poll(int) noexcept override { return false; }
  int descriptor() const noexcept override { return -1; }
  bool arm() noexcept override { return true; }
  void close(std::uint32_t) noexcept override {}
  std::string describe(int) const override { return name_; }

  bool is_full = false;
  std::vector<SentHead> sent;

 private:
  const char* name_;
};

}  // namespace shmemx::unit
