// Puts and gets by UCX. A key is the range's address at its owner, then UCX's packed key. A put is complete when a
// flush that began after it has ended. All puts to a PE that wait for a flush share one.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/rma.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

class UcxTransport;
struct Peer;

// Puts with one completion that no flush covers yet.
struct Unflushed {
  Completion* completion;
  std::uint64_t puts;
};

class UcxRma final : public transport::Rma {
 public:
  UcxRma(UcxTransport& owner, ucp_context_h context) noexcept : transport_(owner), context_(context) {}
  // To be called before the worker ends.
  void release_all() noexcept;

  Result<std::string> register_memory(std::byte* base, std::size_t bytes) override;
  void unregister_memory(std::byte* base) noexcept override;
  transport::RemoteKey* import_key(int pe, Bytes key) noexcept override;
  void release_key(transport::RemoteKey* key) noexcept override;
  bool put(const transport::RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept override;
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           Completion& completion) noexcept override;
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, Bytes source,
                 Completion& completion) noexcept override;
  bool get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                 Completion& completion) noexcept override;
  void progress() noexcept override;

  // The endpoint of the peer ends: its keys are void.
  void drop_keys(const Peer& peer) noexcept;
  bool has_unflushed() const noexcept { return !unflushed_.empty(); }
  // Starts a flush of each PE with puts that none covers.
  void flush_puts();

 private:
  static constexpr unsigned kMostTransfers = 1024;  // of a PE, which UCX would queue without a limit

  struct RemoteKey : transport::RemoteKey {
    Peer* peer = nullptr;
    std::uint64_t base = 0;
    ucp_rkey_h rkey = nullptr;  // null: void

    void drop() noexcept {
      if (rkey != nullptr) ::ucp_rkey_destroy(std::exchange(rkey, nullptr));
    }
  };
  // A put, a get or a flush while UCX has it.
  struct Operation {
    Peer* peer = nullptr;
    Completion* completion = nullptr;         // of a get, or of the source of a put; null if nobody waits for it
    std::vector<Unflushed> puts;              // of a flush
    std::array<std::byte, kShortBytes> copy;  // of the source of a short put
  };
  struct Registered {
    std::byte* base;
    ucp_mem_h handle;
  };

  Operation* take(Peer& peer, Completion* completion);
  bool start_put(const RemoteKey& key, std::uint64_t offset, Operation* operation, Bytes source,
                 Completion& completion) noexcept;
  void give_back(Operation* operation) { free_.push_back(operation); }
  // Notes that the operation has not begun, has ended at once, or is under way.
  bool start(Operation* operation, ucs_status_ptr_t request, const char* what) noexcept;
  static void ended(void* request, ucs_status_t status, void* operation);
  static void flush_ended(void* request, ucs_status_t status, void* operation);

  UcxTransport& transport_;
  ucp_context_h context_;
  std::vector<Registered> registered_;
  std::vector<std::unique_ptr<RemoteKey>> keys_;
  std::vector<Peer*> unflushed_;  // with puts that no flush covers yet
  std::deque<Operation> all_;
  std::vector<Operation*> free_;
};

}  // namespace shmemx::ucx
