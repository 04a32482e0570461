#include "transport/ucx/inbox.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "transport/ucx/arrival.hpp"
#include "transport/ucx/limits.hpp"

namespace shmemx::ucx {
namespace {

constexpr std::uint32_t kMostEarly = 1U << 20;  // a number further ahead is none

}  // namespace

// A parcel with memory of its own.
struct Inbox::Stored {
  UcpMessage message;
  std::vector<std::byte> header;
  Memory data;
};

Inbox::Inbox(ucp_worker_h worker, Sink& sink, InboxEvents& events, int source) noexcept
    : worker_(worker), sink_(sink), events_(events), source_(source) {}

Inbox::~Inbox() = default;

void Inbox::release() noexcept {
  shut_ = true;
  for (auto& [number, stored] : early_) {
    if (stored.message.fetched) ::ucp_am_data_release(worker_, stored.message.data);
  }
  early_.clear();
  for (const auto& arrival : queue_) {
    if (arrival->descriptor != nullptr) ::ucp_am_data_release(worker_, std::exchange(arrival->descriptor, nullptr));
  }
}

void Inbox::fault(std::string text) {
  if (shut_) return;
  shut_ = true;
  fault_ = std::move(text);
  events_.broken.push_back(source_);
}

void Inbox::fault_no_memory(std::size_t bytes) {
  fault("no memory for a message of " + std::to_string(bytes) + " bytes");
}

void Inbox::fault_not_fetched(std::size_t bytes, ucs_status_t status) {
  fault("a payload of " + std::to_string(bytes) + " bytes did not arrive (" + ::ucs_status_string(status) + ")");
}

ucs_status_t Inbox::take(std::uint32_t number, const UcpMessage& message) {
  if (shut_) return UCS_OK;
  if (number == expected_) {
    const ucs_status_t status = take_now(message);
    if (!early_.empty()) take_early();
    return status;
  }
  if (number - expected_ > kMostEarly || early_.contains(number)) {
    fault("message " + std::to_string(number) + " came instead of " + std::to_string(expected_));
    return UCS_OK;
  }
  Stored& stored = early_[number];
  stored.header.assign(message.header.begin(), message.header.end());
  stored.message = message;
  stored.message.header = stored.header;
  if (message.fetched) return UCS_INPROGRESS;
  stored.data = allocate(message.bytes);
  if (stored.data == nullptr) {
    fault_no_memory(message.bytes);
    return UCS_OK;
  }
  std::memcpy(stored.data.get(), message.data, message.bytes);
  stored.message.data = stored.data.get();
  return UCS_OK;
}

void Inbox::take_early() {
  while (!shut_) {
    const auto node = early_.extract(expected_);
    if (node.empty()) return;
    const UcpMessage& message = node.mapped().message;
    if (take_now(message) == UCS_OK && message.fetched) ::ucp_am_data_release(worker_, message.data);
  }
}

ucs_status_t Inbox::take_now(const UcpMessage& message) {
  ++expected_;
  if (message.kind == kLong) return take_long(message);
  if (message.kind == kRecords) take_records(message);
  return UCS_OK;
}

// Copied in any case: payloads are aligned, UCX's data are not.
void Inbox::take_records(const UcpMessage& message) {
  const Bytes records(static_cast<const std::byte*>(message.data) + sizeof(Envelope), message.bytes - sizeof(Envelope));
  alignas(kRecordAlign) std::array<std::byte, 2048> small;
  if (queue_.empty() && records.size() <= small.size()) {
    std::memcpy(small.data(), records.data(), records.size());
    deliver_records({small.data(), records.size()});
    return;
  }
  Memory copy = allocate(records.size());
  if (copy == nullptr) return fault_no_memory(records.size());
  std::memcpy(copy.get(), records.data(), records.size());
  if (queue_.empty()) return deliver_records({copy.get(), records.size()});
  auto arrival = std::make_unique<Arrival>();
  arrival->own = std::move(copy);
  arrival->bytes = records.size();
  queue_.push_back(std::move(arrival));
}

void Inbox::deliver_records(Bytes records) {
  while (!records.empty() && !shut_) {
    RecordHeader record;
    if (records.size() < sizeof record) return fault("a message ends in its head");
    std::memcpy(&record, records.data(), sizeof record);
    const std::size_t whole = sizeof record + padded(record.bytes);
    if (record.bytes > kLargestRecord || whole > records.size() || record.fixed.header_bytes > record.bytes) {
      return fault("a message of " + std::to_string(record.bytes) + " bytes does not fit into what came");
    }
    events_.active = true;
    sink_.deliver(source_, record.fixed, records.subspan(sizeof record, record.bytes));
    records = records.subspan(whole);
  }
}

ucs_status_t Inbox::take_long(const UcpMessage& message) {
  LongHeader long_header{};
  const bool has_header = message.header.size() >= sizeof long_header;
  if (has_header) std::memcpy(&long_header, message.header.data(), sizeof long_header);
  if (!has_header || long_header.fixed.header_bytes > kMaxHeaderBytes || long_header.payload_bytes != message.bytes ||
      message.header.size() != sizeof long_header + long_header.fixed.header_bytes) {
    fault("a long message does not fit its long_head");
    return UCS_OK;
  }
  auto arrival = std::make_unique<Arrival>();
  arrival->inbox = this;
  arrival->is_long = true;
  arrival->fixed = long_header.fixed;
  arrival->bytes = message.bytes;
  arrival->payload_due = true;
  if (message.fetched) arrival->descriptor = message.data;
  const Bytes header = message.header.subspan(sizeof long_header);
  if (!header.empty()) std::memcpy(arrival->header.data(), header.data(), header.size());
  queue_.push_back(std::move(arrival));
  advance();
  if (message.fetched) return UCS_INPROGRESS;
  take_payload({static_cast<const std::byte*>(message.data), message.bytes});
  return UCS_OK;
}

// The payload of the last message. It waits here only where its place is not known.
void Inbox::take_payload(Bytes payload) {
  if (shut_) return;
  Arrival& arrival = *queue_.back();
  std::byte* to = nullptr;
  if (arrival.has_begun) {
    to = arrival.payload();
  } else {
    arrival.kept = allocate(payload.size());
    to = arrival.kept.get();
  }
  if (to == nullptr) return fault_no_memory(payload.size());
  std::memcpy(to, payload.data(), payload.size());
  arrival.payload_due = false;
  advance();
}

void Inbox::advance() {
  while (!queue_.empty() && !shut_ && finish(*queue_.front())) queue_.pop_front();
  look_ahead();
}

// False: bytes of it are still on their way.
bool Inbox::finish(Arrival& arrival) {
  if (!arrival.is_long) {
    deliver_records({arrival.own.get(), arrival.bytes});
    return true;
  }
  if (!arrival.is_placed) place(arrival);
  if (!arrival.has_begun) begin(arrival);
  if (!arrival.is_here() || shut_) return false;
  events_.active = true;
  if (arrival.place != nullptr) {
    sink_.placed(source_, arrival.fixed, arrival.header_bytes(), arrival.bytes);
  } else {
    sink_.deliver(source_, arrival.fixed, {arrival.own.get(), arrival.fixed.header_bytes + arrival.bytes});
  }
  return true;
}

// Bodies behind the first one are asked for meanwhile, or each would cost a round trip of its own.
void Inbox::look_ahead() {
  std::size_t under_way = 0;
  for (const auto& arrival : queue_) {
    if (shut_ || !arrival->is_long || under_way == kMostUnderWay) return;
    if (!arrival->is_placed) {
      if ((arrival->fixed.flags & kPlacedEarly) == 0) return;
      place(*arrival);
    }
    if (!arrival->has_begun) {
      if (would_overwrite(*arrival)) return;
      begin(*arrival);
    }
    ++under_way;
  }
}

// Does it belong where one in front of it does?
bool Inbox::would_overwrite(const Arrival& arrival) const {
  for (const auto& other : queue_) {
    if (other.get() == &arrival) return false;
    if (other->shares_memory_with(arrival)) return true;
  }
  return false;
}

void Inbox::place(Arrival& arrival) {
  arrival.is_placed = true;
  arrival.place = sink_.placement(source_, arrival.fixed, arrival.header_bytes(), arrival.bytes);
}

// From now on its bytes go where they belong.
void Inbox::begin(Arrival& arrival) {
  if (arrival.place == nullptr && !make_room(arrival)) return;
  arrival.has_begun = true;
  if (arrival.kept != nullptr) {
    std::memcpy(arrival.payload(), arrival.kept.get(), arrival.bytes);
    arrival.kept.reset();
  }
  if (arrival.descriptor != nullptr) fetch(arrival);
}

// Header and payload one behind the other.
bool Inbox::make_room(Arrival& arrival) {
  const Bytes header = arrival.header_bytes();
  arrival.own = allocate(header.size() + arrival.bytes);
  if (arrival.own == nullptr) {
    fault_no_memory(arrival.bytes);
    return false;
  }
  if (!header.empty()) std::memcpy(arrival.own.get(), header.data(), header.size());
  return true;
}

void Inbox::fetch(Arrival& arrival) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = &Inbox::fetched;
  param.user_data = &arrival;
  void* descriptor = std::exchange(arrival.descriptor, nullptr);  // UCX's from now on
  const ucs_status_ptr_t request =
      ::ucp_am_recv_data_nbx(worker_, descriptor, arrival.payload(), arrival.bytes, &param);
  if (UCS_PTR_IS_ERR(request)) {
    fault_not_fetched(arrival.bytes, UCS_PTR_STATUS(request));
  } else if (request == nullptr) {
    arrival.payload_due = false;
  }
}

void Inbox::fetched(void* request, ucs_status_t status, std::size_t, void* user_data) {
  Arrival& arrival = *static_cast<Arrival*>(user_data);
  Inbox& inbox = *arrival.inbox;
  ::ucp_request_free(request);
  if (status != UCS_OK) return inbox.fault_not_fetched(arrival.bytes, status);
  arrival.payload_due = false;
  inbox.advance();
}

}  // namespace shmemx::ucx
