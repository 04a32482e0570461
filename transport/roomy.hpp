// A transport of a library that needs more stack than the program's threads and fibers may have. Each call goes on on
// another stack where the current one is too small.
#pragma once

#include "base/own_stack.hpp"
#include "transport/transport.hpp"

namespace shmemx::transport {

class RoomyTransport final : public Transport, private Rma {
 public:
  explicit RoomyTransport(TransportPtr inner) noexcept : inner_(std::move(inner)), inner_rma_(inner_->rma()) {}
  ~RoomyTransport() override {
    stack_.call([this] { inner_.reset(); });
  }

  const char* name() const noexcept override { return inner_->name(); }
  Capabilities capabilities() const noexcept override { return inner_->capabilities(); }
  std::string endpoint_address() const override { return inner_->endpoint_address(); }
  void set_addresses(const EndpointAddresses& addresses) noexcept override { inner_->set_addresses(addresses); }
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override;
  void flush() noexcept override;
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return inner_->descriptor(); }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  bool abandon(int pe) noexcept override;
  std::string describe(int pe) const override { return inner_->describe(pe); }
  FrameCounts frames() const noexcept override { return inner_->frames(); }
  Rma* rma() noexcept override { return inner_rma_ != nullptr ? this : nullptr; }

 private:
  Result<std::string> register_memory(std::byte* base, std::size_t bytes) override;
  void unregister_memory(std::byte* base) noexcept override;
  RemoteKey* import_key(int pe, Bytes key) noexcept override;
  void release_key(RemoteKey* key) noexcept override;
  bool put(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept override;
  bool get(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           Completion& completion) noexcept override;
  bool put_short(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion) noexcept override;
  ShortGet get_short(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                     Completion& completion) noexcept override;
  FenceOrder fence() noexcept override;
  void progress() noexcept override;
  Rma* bare() noexcept override { return inner_rma_; }
  std::unique_ptr<Lane> open_lane() noexcept override;

  TransportPtr inner_;
  Rma* const inner_rma_;  // null if there is none
  SpareStack stack_;
};

}  // namespace shmemx::transport
