// Puts and gets by libfabric. Up to a chunk each is one read or write; longer ones are cut (transfer.hpp). A key is the
// address of the range at its owner, and the provider's key.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/ofi/bounce_pool.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/ofi/transfer.hpp"
#include "transport/rma.hpp"

namespace shmemx::ofi {

// A read or a write while the provider has it.
struct RmaRequest : Operation {
  static constexpr std::size_t kInlineBytes = 64;

  RmaRequest() noexcept : Operation(Kind::rma) {}

  Peer* peer = nullptr;              // null: free
  Completion* completion = nullptr;  // null: given up
  Completion* source_use = nullptr;  // null: nobody waits for the source of a put
  std::span<std::byte> local;        // the caller's memory
  Bounce bounce;                     // in place of it
  Place place;                       // of the caller's memory, if it had to be registered
  bool is_write = false;
  bool is_inline = false;                           // `inline_data` is used in place of the caller's memory
  std::array<std::byte, kInlineBytes> inline_data;  // of a short put from memory that need not be registered
};

class OfiRma final : public transport::Rma {
 public:
  OfiRma(Fabric& fabric, Memory& memory, Peers& peers);

  Result<std::string> register_memory(std::byte* base, std::size_t bytes) override {
    return memory_.register_range(base, bytes);
  }
  void unregister_memory(std::byte* base) noexcept override { memory_.unregister_range(base); }
  transport::RemoteKey* import_key(int pe, Bytes key) noexcept override;
  void release_key(transport::RemoteKey* key) noexcept override;
  bool put(const transport::RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept override;
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           Completion& completion) noexcept override;

  // Also of long messages.
  Transfers& transfers() noexcept { return transfers_; }
  // The provider has ended it. If it has failed, the peer is lost.
  void on_ended(RmaRequest& request, bool has_failed) noexcept;
  bool is_empty() const noexcept { return all_.size() == free_.size() && transfers_.is_empty(); }
  // The peer is abandoned: returns whether the provider still has something of it.
  bool end_all(const Peer& peer) noexcept;
  // Nobody knows how the rest for the peer ends.
  void give_up(const Peer& peer) noexcept;

 private:
  static constexpr std::size_t kMostOpen = 256;  // then completions have to be read first

  struct RemoteKey : transport::RemoteKey {
    Peer* peer = nullptr;
    std::uint64_t address = 0;
    std::uint64_t key = 0;
  };

  bool has_room() const noexcept { return !free_.empty() || all_.size() < kMostOpen; }
  RmaRequest& take(const RemoteKey& key, std::span<std::byte> local, Completion& completion);
  void give_back(RmaRequest& request) noexcept;
  void* describe_local(RmaRequest& request, bool may_change);
  bool post(RmaRequest& request, void* descriptor, const RemoteKey& key, std::uint64_t offset);
  bool start_long(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> local, Completion& completion,
                  Completion* source_use, bool is_write);

  Fabric& fabric_;
  Memory& memory_;
  Peers& peers_;
  Transfers transfers_;
  const std::size_t most_at_once_;  // bytes of one operation
  const bool registers_local_;      // the provider demands it
  std::vector<std::unique_ptr<RemoteKey>> keys_;
  std::deque<RmaRequest> all_;
  std::vector<RmaRequest*> free_;
  BouncePool bounces_;
};

}  // namespace shmemx::ofi
