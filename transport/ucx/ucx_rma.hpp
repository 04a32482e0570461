// Puts and gets by UCX, on the worker of the messages. A key is the range's address at its owner, then UCX's packed
// key.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/rma.hpp"
#include "transport/ucx/operations.hpp"

namespace shmemx::ucx {

class UcxTransport;

// A key that the network has imported. Lanes unpack it for their own endpoints.
struct PackedKey : RemoteKey {
  std::string packed;
};

class UcxRma final : public Offered<transport::Rma> {
 public:
  UcxRma(UcxTransport& owner, ucp_context_h context) noexcept : transport_(owner), context_(context) {}
  // To be called before the worker ends.
  void release_all() noexcept;

  Result<std::string> register_memory(std::byte* base, std::size_t bytes) override;
  void unregister_memory(std::byte* base) noexcept override;
  transport::RemoteKey* import_key(int pe, Bytes key) noexcept override;
  void release_key(transport::RemoteKey* key) noexcept override;
  transport::FenceOrder fence() noexcept override;
  void progress() noexcept override;
  std::unique_ptr<transport::Lane> open_lane() noexcept override;

  // The endpoint of the peer ends: its keys are void.
  void drop_keys(const Target& peer) noexcept;
  using Operations::flush_puts;
  using Operations::has_unflushed;

 private:
  struct Registered {
    std::byte* base;
    ucp_mem_h handle;
  };

  void failed(Target& target, const std::string& cause) noexcept override;
  void flush_has_ended() noexcept override;

  UcxTransport& transport_;
  ucp_context_h context_;
  std::vector<Registered> registered_;
  std::vector<std::unique_ptr<PackedKey>> keys_;
};

}  // namespace shmemx::ucx
