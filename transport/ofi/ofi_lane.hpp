// A lane by libfabric: a domain of its own, with one endpoint, its completions and the addresses of the PEs that it
// reaches. The transport asks for FI_THREAD_DOMAIN, so nothing of one domain is used by two threads.
//
// Memory of the caller is not registered in that domain: where the provider demands it, operations go through
// registered buffers of the lane, and are as long as those at most.
#pragma once

#include <rdma/fi_rma.h>

#include <algorithm>
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
#include "transport/ofi/ofi_rma.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/rma.hpp"

namespace shmemx::ofi {

class OfiLane final : public transport::Lane {
 public:
  // Returns null if the provider opens no other endpoint.
  static std::unique_ptr<transport::Lane> open(Fabric& fabric, const Memory& memory, Peers& peers);

  transport::RemoteKey* import_key(const transport::RemoteKey& key) noexcept override;
  void report_lost() noexcept override;
  std::size_t most_bytes() const noexcept override { return most_bytes_; }
  bool put(const transport::RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
           Completion* source_use) noexcept override;
  bool get(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
           Completion& completion) noexcept override;
  bool put_short(const transport::RemoteKey& key, std::uint64_t offset, Bytes source,
                 Completion& completion) noexcept override;
  transport::ShortGet get_short(const transport::RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                                Completion& completion) noexcept override;
  transport::FenceOrder fence() noexcept override {
    return std::min(fabric_.order_behind_writes(), transport::FenceOrder::puts);
  }
  void progress() noexcept override;

 private:
  static constexpr std::size_t kMostOpen = 256;  // then completions have to be read first

  struct Target {
    int pe;
    fi_addr_t address;
    bool is_lost = false;
    std::string cause;
  };
  struct RemoteKey : transport::RemoteKey, RemotePlace {
    Target* target = nullptr;
    UsableKey usable;
  };
  // A read or a write while the provider has it.
  struct Request : Operation {
    Request() noexcept : Operation(Kind::rma), copied(&context) {
      copied.source = {inline_data.data(), sizeof(std::uint64_t)};
      copied.target.len = sizeof(std::uint64_t);
    }

    bool is_plain = true;  // has none of the members from `source_use` to `bounce`
    Target* target = nullptr;
    Request* next = nullptr;  // the next free one. Between the two others, which would be put into a vector first
    Completion* completion = nullptr;
    WriteMessage copied;  // of a word in `inline_data`
    std::array<std::byte, transport::Rma::kShortBytes> inline_data;
    Completion* source_use = nullptr;  // null: nobody waits for the source of a put
    std::span<std::byte> read_to;      // where the data of `bounce` go
    Bounce bounce;
  };
  // What one operation accesses.
  struct Range {
    const RemoteKey& key;
    std::uint64_t offset;
    std::byte* local;
    std::size_t bytes;
    void* descriptor;
  };

  OfiLane(Fabric fabric, const Memory& memory, Peers& peers);
  static const RemoteKey& of(const transport::RemoteKey& key) noexcept { return static_cast<const RemoteKey&>(key); }
  Target* reached(Peer& peer);
  [[gnu::noinline, gnu::cold]] void make_free() noexcept;
  // Returns null if completions have to be read first.
  Request* take(const RemoteKey& key, Completion& completion) noexcept;
  [[gnu::always_inline]] void take_first() noexcept { free_ = free_->next; }
  [[gnu::always_inline]] void give_back(Request& request) noexcept { request.next = std::exchange(free_, &request); }
  [[gnu::always_inline]] void on_done(Request& request) noexcept {
    if (!request.is_plain) [[unlikely]]
      return end(request, false);
    --request.completion->open;
    give_back(request);
  }
  void end(Request& request, bool has_failed) noexcept;
  [[gnu::noinline, gnu::cold]] void on_failure() noexcept;
  bool write(Request& request, const Range& range) noexcept;
  bool read(Request& request, const Range& range) noexcept;
  [[gnu::noinline, gnu::cold]] bool not_posted(Request& request, std::int64_t result) noexcept;
  [[gnu::noinline, gnu::cold]] transport::ShortGet keep(bool has_entry) noexcept;
  bool lend_buffer(Request& request, Range& range);
  [[gnu::noinline]] bool put_short_apart(const RemoteKey& key, std::uint64_t offset, Bytes source,
                                         Completion& completion) noexcept;
  void fail(Target& target, std::string cause) noexcept;

  Peers& peers_;
  Fabric fabric_;
  Memory memory_;
  const bool needs_buffers_;
  const std::size_t most_bytes_;
  BouncePool bounces_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<std::unique_ptr<RemoteKey>> keys_;
  std::deque<Request> requests_;
  Request* free_ = nullptr;
  fi_cq_data_entry entry_of_get_{};  // read by get_short(): as a local object it would cost a frame
  std::vector<Target*> lost_;        // not reported yet
};

}  // namespace shmemx::ofi
