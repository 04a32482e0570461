// Puts and gets by libfabric. Up to a chunk each is one read or write; longer ones are cut (transfer.hpp). A key is the
// address of the range at its owner, and the provider's key.
#pragma once

#include <rdma/fi_rma.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/ofi/bounce_pool.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/ofi/transfer.hpp"
#include "transport/rma.hpp"

namespace shmemx::ofi {

class Ofi;

// Where operations with a key go.
struct RemotePlace {
  fi_addr_t endpoint = FI_ADDR_NOTAVAIL;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

// What a write is posted with: libfabric's structures, which name each other.
struct WriteMessage {
  iovec source;
  fi_rma_iov target;
  void* descriptor = nullptr;
  fi_msg_rma message;

  explicit WriteMessage(void* context) noexcept
      : message{&source, &descriptor, 1, FI_ADDR_UNSPEC, &target, 1, context, 0} {}
  void aim(const RemotePlace& place, std::uint64_t offset) noexcept {
    target.addr = place.address + offset;
    target.key = place.key;
    message.addr = place.endpoint;
  }
  WriteMessage(const WriteMessage&) = delete;
  WriteMessage& operator=(const WriteMessage&) = delete;
};

// A read or a write while the provider has it.
struct RmaRequest : Operation {
  static constexpr std::size_t kInlineBytes = transport::Rma::kShortBytes;

  RmaRequest() noexcept : Operation(Kind::rma), copied(&context) {
    copied.source = {inline_data.data(), sizeof(std::uint64_t)};
    copied.target.len = sizeof(std::uint64_t);
  }

  bool is_write = false;
  bool is_plain = true;  // has a completion, and none of the members from `source_use` to `place`
  Peer* peer = nullptr;
  // The next free one; this one itself while it is open. It stands between the two others, which would be put into a
  // vector first.
  RmaRequest* next = nullptr;
  Completion* completion = nullptr;  // null: given up
  WriteMessage copied;               // of a word in `inline_data`
  std::array<std::byte, kInlineBytes> inline_data;
  Completion* source_use = nullptr;  // null: nobody waits for the source of a put
  std::uint32_t posted_at = 0;       // looks before, if somebody does
  std::span<std::byte> local;        // the caller's memory; known if there is a bounce buffer
  Bounce bounce;                     // in place of it
  Place place;                       // of the caller's memory, if it had to be registered

  bool is_open() const noexcept { return next == this; }
};

struct RequestPool {
  std::deque<RmaRequest> all;
  RmaRequest* free = nullptr;
  std::size_t open = 0;  // requests that the provider has
  std::uint32_t times_full = 0;
  fi_cq_data_entry entry_of_get{};  // read by get_short(): as a local object it would cost a frame
};

class OfiRma final : public transport::Rma {
 public:
  OfiRma(Ofi& owner, Fabric& fabric, Memory& memory, Peers& peers);

  // Makes what has to be registered while the provider registers memory.
  Status open() { return fabric_.wants(FI_MR_LOCAL) ? bounces_.open() : Status(); }

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
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, Bytes source,
                 Completion& completion) noexcept override;
  transport::ShortGet get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                Completion& completion) noexcept override;
  // The rest of a long put is posted behind puts that follow it.
  transport::FenceOrder fence() noexcept override {
    return transfers_.is_empty() ? fabric_.order_behind_writes() : transport::FenceOrder::nothing;
  }
  void progress() noexcept override;
  std::unique_ptr<transport::Lane> open_lane() noexcept override;

  // Also of long messages.
  Transfers& transfers() noexcept { return transfers_; }
  // The provider has completed it.
  [[gnu::always_inline]] void on_done(RmaRequest& request) noexcept {
    request.peer->keepalive.heard();
    if (!request.is_plain) [[unlikely]]
      return end(request, false);
    --request.completion->open;
    give_back(request);
  }
  // The provider has given it up, and the peer is lost.
  void on_failed(RmaRequest& request) noexcept { end(request, true); }
  bool is_empty() const noexcept { return requests_.open == 0 && transfers_.is_empty(); }
  // The peer is abandoned: returns whether the provider still has something of it.
  bool end_all(const Peer& peer) noexcept;
  // Nobody knows how the rest for the peer ends.
  void give_up(const Peer& peer) noexcept;

  struct RemoteKey : transport::RemoteKey, RemotePlace {
    Peer* peer = nullptr;
    UsableKey usable;
    std::string bytes;  // Place::key, for lanes
  };

 private:
  static constexpr std::size_t kMostOpen = 256;  // then completions have to be read first

  // Operations with all their parameters.
  struct Range {
    const RemoteKey& key;
    std::uint64_t offset;
    std::span<std::byte> local;
  };

  // Returns null if completions have to be read first.
  [[gnu::always_inline]] inline RmaRequest* take(const RemoteKey& key, Completion& completion) noexcept;
  // The first free one, or a new one, is in use from now on.
  [[gnu::always_inline]] void begin(RmaRequest& request) noexcept {
    requests_.free = std::exchange(request.next, &request);
    ++requests_.open;
  }
  // The short path posts with the first free request, and takes it then.
  [[gnu::always_inline]] RmaRequest* take_prepared() noexcept {
    RmaRequest* const request = requests_.free;
    begin(*request);
    return request;
  }
  [[gnu::noinline, gnu::cold]] RmaRequest* make() noexcept;
  void read_own_completions() noexcept;
  void end_own(std::span<const fi_cq_data_entry> entries) noexcept;
  [[gnu::noinline, gnu::cold]] void end_other(const fi_cq_data_entry& entry) noexcept;
  [[gnu::always_inline]] void give_back(RmaRequest& request) noexcept {
    request.next = std::exchange(requests_.free, &request);
    --requests_.open;
  }
  void end(RmaRequest& request, bool has_failed) noexcept;
  void clear(RmaRequest& request) noexcept;
  void drop(RmaRequest& request) noexcept;
  std::byte* describe_local(RmaRequest& request, std::span<std::byte> local, bool may_change, void*& descriptor);
  bool write(RmaRequest& request, std::span<std::byte> local, void* descriptor, const Range& range) noexcept;
  [[gnu::always_inline]] inline bool read(RmaRequest& request, std::span<std::byte> local, void* descriptor,
                                          std::uint64_t remote, std::uint64_t key) noexcept;
  [[gnu::noinline, gnu::cold]] bool not_posted(RmaRequest& request, std::int64_t result) noexcept;
  [[gnu::noinline]] bool put_short_apart(const RemoteKey& key, std::uint64_t offset, Bytes source,
                                         Completion& completion) noexcept;
  [[gnu::noinline, gnu::cold]] transport::ShortGet keep(bool has_entry) noexcept;
  bool put_short_registered(const Range& range, Completion& completion) noexcept;
  bool get_registered(const Range& range, Completion& completion) noexcept;
  bool start_long(const Range& range, Completion& completion, Completion* source_use, bool is_write);

  Ofi& owner_;
  Fabric& fabric_;
  Memory& memory_;
  Peers& peers_;
  BouncePool bounces_;
  Transfers transfers_;
  const std::size_t most_at_once_;  // bytes of one operation
  // Up to here the local memory needs no description: 0 if the provider demands that it is registered.
  const std::size_t most_plain_;
  std::vector<std::unique_ptr<RemoteKey>> keys_;
  RequestPool requests_;
  std::uint32_t looks_ = 0;   // by progress()
  bool ends_at_once_ = true;  // the last write that was waited for had ended at the first look
};

}  // namespace shmemx::ofi
