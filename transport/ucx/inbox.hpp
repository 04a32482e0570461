// Incoming active messages of one PE: put in order and handed to the queue of inbound messages.
//
// A payload above the eager limit arrives in two steps: its header at once, its bytes after this PE has asked for them.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/common/inbound_queue.hpp"
#include "transport/common/reorder_window.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

// An active message as UCP passes it to the callback, valid during the callback.
struct UcpMessage {
  unsigned kind = 0;
  Bytes header;
  void* data = nullptr;  // a descriptor if `is_rendezvous`
  std::size_t bytes = 0;
  bool is_rendezvous = false;  // the data are still at the sender
};

// What inboxes report to the transport.
struct InboxEvents {
  bool active = false;      // the sink was called
  std::vector<int> broken;  // sources that sent what does not fit, see fault()
};

class Inbox final : private transport::InboundSource {
 public:
  Inbox(ucp_worker_h worker, const Setup& setup, InboxEvents& events, int source) noexcept;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Returns UCS_INPROGRESS if the descriptor is kept.
  ucs_status_t take(std::uint64_t number, const UcpMessage& message);
  // Returns the number of the next message.
  std::uint64_t expected() const noexcept { return window_.expected(); }
  // Ends all deliveries. Payloads under way end by themselves.
  void shut() noexcept;
  // Returns to UCX what it still holds for this inbox. To be called before the worker ends.
  void release() noexcept;

  // Returns true while UCX writes payloads to their places.
  bool is_fetching() const noexcept { return fetches_ != 0; }

  const std::string& fault() const noexcept { return fault_; }

 private:
  // An early message, with memory of its own.
  struct Early {
    UcpMessage message;
    std::vector<std::byte> header;
    transport::AlignedMemory data;
  };

  bool fetch(transport::InboundMessage& message) noexcept override;
  void discard(transport::InboundMessage& message) noexcept override;
  void out_of_memory(int source, std::size_t bytes) noexcept override;

  ucs_status_t hold(std::uint64_t number, const UcpMessage& message);
  ucs_status_t take_now(const UcpMessage& message);
  void take_early();
  void take_records(const UcpMessage& message);
  void read_records(Bytes records);
  ucs_status_t take_long(const UcpMessage& message);
  static void fetched(void* request, ucs_status_t status, std::size_t length, void* message);
  void fail_for_memory(std::size_t bytes);
  void fail(std::string text);
  void fail_to_fetch(std::size_t bytes, ucs_status_t status);

  ucp_worker_h worker_;
  InboxEvents& events_;
  int source_;
  bool is_shut_ = false;
  unsigned fetches_ = 0;     // under way
  void* offered_ = nullptr;  // the descriptor of the payload that UCX offers now, until it is declined
  transport::ReorderWindow<Early> window_;
  transport::InboundQueue queue_;
  std::string fault_;
};

}  // namespace shmemx::ucx
