// Puts and gets of one worker: what UCX has of them, and the flushes that complete puts. A put is complete when a flush
// that began after it has ended. All puts to a PE that wait for a flush share one.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/rma.hpp"

namespace shmemx::ucx {

using transport::Bytes;
using transport::Completion;

// Puts with one completion that no flush covers yet.
struct Unflushed {
  Completion* completion;
  std::uint64_t puts;
};

// A PE as one worker reaches it.
struct Target {
  explicit Target(int number) noexcept : pe(number) {}

  int pe;
  ucp_ep_h endpoint = nullptr;  // null: the PE is lost, or has left, or was never reached
  unsigned transfers = 0;       // puts, gets and flushes that have not ended
  std::vector<Unflushed> unflushed;
};

struct RemoteKey : transport::RemoteKey {
  RemoteKey() = default;
  RemoteKey(const RemoteKey&) = delete;
  RemoteKey& operator=(const RemoteKey&) = delete;
  ~RemoteKey() { drop(); }
  // Reads the key that the range's owner has packed: the address of its base, then UCX's key.
  ucs_status_t unpack(Bytes key) noexcept;
  void drop() noexcept {
    if (rkey != nullptr) ::ucp_rkey_destroy(std::exchange(rkey, nullptr));
  }

  Target* target = nullptr;
  std::uint64_t base = 0;
  ucp_rkey_h rkey = nullptr;  // null: void
};

// UCX orders puts. Nothing is said of its messages.
inline transport::FenceOrder order_by_fence(ucp_worker_h worker) noexcept {
  return ::ucp_worker_fence(worker) == UCS_OK ? transport::FenceOrder::puts : transport::FenceOrder::nothing;
}

class Operations {
 public:
  static constexpr std::size_t kShortBytes = transport::Rma::kShortBytes;

  bool put(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept;
  bool get(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest, Completion& completion) noexcept;
  bool put_short(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion) noexcept;

  bool has_unflushed() const noexcept { return !unflushed_.empty(); }
  // Starts a flush of each PE with puts that none covers.
  void flush_puts();

 protected:
  Operations() = default;
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  ~Operations() = default;

 private:
  static constexpr unsigned kMostTransfers = 1024;  // of a PE, which UCX would queue without a limit

  // A put, a get or a flush while UCX has it.
  struct Operation {
    Operations* owner = nullptr;
    Target* target = nullptr;
    Completion* completion = nullptr;         // of a get, or of the source of a put; null if nobody waits for it
    std::vector<Unflushed> puts;              // of a flush
    std::array<std::byte, kShortBytes> copy;  // of the source of a short put
  };

  // An operation has failed, so the PE is lost.
  virtual void failed(Target& target, const std::string& cause) noexcept = 0;
  virtual void flush_has_ended() noexcept {}

  Operation* take(Target& target, Completion* completion);
  Operation* make();
  bool start_put(const RemoteKey& key, std::uint64_t offset, Operation* operation, Bytes source,
                 Completion& completion) noexcept;
  void give_back(Operation* operation) { free_.push_back(operation); }
  // Notes that the operation has not begun, has ended at once, or is under way.
  bool start(Operation* operation, ucs_status_ptr_t request, const char* what) noexcept;
  static void ended(void* request, ucs_status_t status, void* operation);
  static void flush_ended(void* request, ucs_status_t status, void* operation);

  std::vector<Target*> unflushed_;  // with puts that no flush covers yet
  std::deque<Operation> all_;
  std::vector<Operation*> free_;
};

// The operations behind the interface of a network, or of a lane.
template <class Interface>
class Offered : public Interface, protected Operations {
 public:
  bool put(const transport::RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept final {
    return Operations::put(of(key), offset, source, completion, source_use);
  }
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           Completion& completion) noexcept final {
    return Operations::get(of(key), offset, dest, completion);
  }
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, Bytes source,
                 Completion& completion) noexcept final {
    return Operations::put_short(of(key), offset, source, completion);
  }
  transport::ShortGet get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                Completion& completion) noexcept final {
    // UCX finishes and receives in one call.
    return transport::how_begun(Operations::get(of(key), offset, dest, completion), completion);
  }

 protected:
  ~Offered() = default;

  static const RemoteKey& of(const transport::RemoteKey& key) noexcept { return static_cast<const RemoteKey&>(key); }
};

}  // namespace shmemx::ucx
