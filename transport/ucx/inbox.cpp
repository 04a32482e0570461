#include "transport/ucx/inbox.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "base/bulk_copy.hpp"
#include "transport/ucx/limits.hpp"

namespace shmemx::ucx {

using transport::InboundMessage;
using transport::Turn;

namespace {

constexpr std::uint32_t kMostAhead = 1U << 20;

void* descriptor_of(const InboundMessage& message) noexcept { return reinterpret_cast<void*>(message.fetch_key[0]); }

}  // namespace

Inbox::Inbox(ucp_worker_h worker, const Setup& setup, InboxEvents& events, int source) noexcept
    : worker_(worker),
      events_(events),
      source_(source),
      window_(kMostAhead, setup.first_number),
      queue_(*setup.sink, *this, {.source = source, .most_under_way = kMostUnderWay, .active = &events.active}) {}

void Inbox::shut() noexcept {
  is_shut_ = true;
  queue_.stop();
}

void Inbox::release() noexcept {
  shut();
  window_.clear([this](Early& early) {
    if (early.message.is_rendezvous) ::ucp_am_data_release(worker_, early.message.data);
  });
  queue_.discard_waiting();
}

void Inbox::fail(std::string text) {
  if (is_shut_) return;
  shut();
  fault_ = std::move(text);
  events_.broken.push_back(source_);
}

void Inbox::out_of_memory(int, std::size_t bytes) noexcept { fail_for_memory(bytes); }

void Inbox::fail_for_memory(std::size_t bytes) {
  fail("no memory for a message of " + std::to_string(bytes) + " bytes");
}

void Inbox::fail_to_fetch(std::size_t bytes, ucs_status_t status) {
  fail("a payload of " + std::to_string(bytes) + " bytes did not arrive (" + ::ucs_status_string(status) + ")");
}

ucs_status_t Inbox::take(std::uint64_t number, const UcpMessage& message) {
  if (is_shut_) return UCS_OK;
  switch (window_.turn_of(number)) {
    case Turn::next: {
      window_.take_next();
      const ucs_status_t status = take_now(message);
      if (window_.holds_any()) take_early();
      return status;
    }
    case Turn::early:
      return hold(number, message);
    case Turn::duplicate:  // somebody has recorded it
      return UCS_OK;
    default:
      fail("message " + std::to_string(number) + " came instead of " + std::to_string(window_.expected()));
      return UCS_OK;
  }
}

ucs_status_t Inbox::hold(std::uint64_t number, const UcpMessage& message) {
  Early early{message, {message.header.begin(), message.header.end()}, {}};
  if (!message.is_rendezvous) {
    early.data = transport::allocate_aligned(message.bytes);
    if (early.data == nullptr) {
      fail_for_memory(message.bytes);
      return UCS_OK;
    }
    copy_block(early.data.get(), message.data, message.bytes);
  }
  window_.hold(number, std::move(early));
  return message.is_rendezvous ? UCS_INPROGRESS : UCS_OK;
}

void Inbox::take_early() {
  Early early;
  while (!is_shut_ && window_.pop_next(early)) {
    UcpMessage& message = early.message;
    message.header = early.header;
    if (!message.is_rendezvous) message.data = early.data.get();
    if (take_now(message) == UCS_OK && message.is_rendezvous) ::ucp_am_data_release(worker_, message.data);
  }
}

ucs_status_t Inbox::take_now(const UcpMessage& message) {
  if (message.kind == kLong) return take_long(message);
  if (message.kind == kRecords) take_records(message);
  return UCS_OK;
}

// Copies the records in any case: payloads are aligned, UCX's data are not.
void Inbox::take_records(const UcpMessage& message) {
  const Bytes records(static_cast<const std::byte*>(message.data) + sizeof(Envelope), message.bytes - sizeof(Envelope));
  alignas(transport::kRecordAlign) std::array<std::byte, 2048> small;
  if (records.size() <= small.size()) {
    std::memcpy(small.data(), records.data(), records.size());
    return read_records({small.data(), records.size()});
  }
  const transport::AlignedMemory large = transport::allocate_aligned(records.size());
  if (large == nullptr) return fail_for_memory(records.size());
  copy_block(large.get(), records.data(), records.size());
  read_records({large.get(), records.size()});
}

void Inbox::read_records(Bytes records) {
  transport::RecordReader reader(records);
  transport::Record record;
  Bytes content;
  while (!is_shut_ && reader.next(record, content)) {
    if (record.kind != transport::kMessageRecord) return fail("it sent a record of an unknown kind");
    queue_.add_whole(record.fixed, content);
  }
  if (reader.fault() != nullptr) fail(std::string("it sent ") + reader.fault());
}

ucs_status_t Inbox::take_long(const UcpMessage& message) {
  LongHeader long_header{};
  const bool has_header = message.header.size() >= sizeof long_header;
  if (has_header) std::memcpy(&long_header, message.header.data(), sizeof long_header);
  const Header& fixed = long_header.fixed;
  if (!has_header || fixed.header_bytes > kMaxHeaderBytes || long_header.payload_bytes != message.bytes ||
      message.header.size() != sizeof long_header + fixed.header_bytes) {
    fail("a long message does not fit its header");
    return UCS_OK;
  }
  const Bytes header = message.header.subspan(sizeof long_header);
  if (!message.is_rendezvous) {
    queue_.add_long(fixed, header, {static_cast<const std::byte*>(message.data), message.bytes});
    return UCS_OK;
  }
  offered_ = message.data;
  queue_.add_announced(fixed, header, message.bytes, {reinterpret_cast<std::uintptr_t>(message.data), 0, 0});
  return std::exchange(offered_, nullptr) != nullptr ? UCS_INPROGRESS : UCS_OK;
}

// Asks UCX for the payload. The descriptor is UCX's from now on.
bool Inbox::fetch(InboundMessage& message) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = &Inbox::fetched;
  param.user_data = &message;
  const ucs_status_ptr_t request =
      ::ucp_am_recv_data_nbx(worker_, descriptor_of(message), message.destination(), message.payload_bytes, &param);
  if (UCS_PTR_IS_ERR(request)) fail_to_fetch(message.payload_bytes, UCS_PTR_STATUS(request));
  if (UCS_PTR_IS_PTR(request)) ++fetches_;
  return request == nullptr;
}

void Inbox::fetched(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto& message = *static_cast<InboundMessage*>(user_data);
  ::ucp_request_free(request);
  // The source of a queue's messages is the inbox that made the queue.
  Inbox& inbox = static_cast<Inbox&>(message.queue->transport());
  --inbox.fetches_;
  if (status != UCS_OK) return inbox.fail_to_fetch(message.payload_bytes, status);
  message.queue->complete(message);
}

// UCX releases the descriptor itself if its callback does not keep it.
void Inbox::discard(InboundMessage& message) noexcept {
  void* const descriptor = descriptor_of(message);
  if (descriptor == offered_) {
    offered_ = nullptr;
  } else {
    ::ucp_am_data_release(worker_, descriptor);
  }
}

}  // namespace shmemx::ucx
