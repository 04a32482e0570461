#include "transport/ucx/inbox.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace shmemx::transport::ucx {
namespace {

// Memory of the alignment that payloads have; null when there is none.
struct Free {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{kRecordAlign}); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kRecordAlign}, std::nothrow)));
}

constexpr std::uint32_t kMostEarly = 1U << 20;  // a number further ahead is none

}  // namespace

// One that waits for those in front of it: records, or a long message.
struct Inbox::Arrival {
  Inbox* inbox = nullptr;
  bool is_long = false;
  State state = State::waiting;
  Head head{};
  std::array<std::byte, kMaxHeaderBytes> header;
  std::byte* place = nullptr;  // as landing() said; null: `own`
  Memory own;                  // records, or header and body
  std::size_t bytes = 0;       // of records, or of the body
  void* descriptor = nullptr;  // of a body that has not been asked for

  Bytes header_bytes() const noexcept { return {header.data(), head.header_bytes}; }
};

// A parcel with memory of its own.
struct Inbox::Stored {
  Parcel parcel;
  std::vector<std::byte> header;
  Memory data;
};

Inbox::Inbox(ucp_worker_h worker, Sink& sink, InboxEvents& events, int source) noexcept
    : worker_(worker), sink_(sink), events_(events), source_(source) {}

Inbox::~Inbox() = default;

void Inbox::release() noexcept {
  shut_ = true;
  for (auto& [number, stored] : early_) {
    if (stored.parcel.fetched) ::ucp_am_data_release(worker_, stored.parcel.data);
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

ucs_status_t Inbox::take(std::uint32_t number, const Parcel& parcel) {
  if (shut_) return UCS_OK;
  if (number == expected_) {
    const ucs_status_t status = take_now(parcel);
    if (!early_.empty()) take_early();
    return status;
  }
  if (number - expected_ > kMostEarly || early_.contains(number)) {
    fault("message " + std::to_string(number) + " came instead of " + std::to_string(expected_));
    return UCS_OK;
  }
  Stored& stored = early_[number];
  stored.header.assign(parcel.header.begin(), parcel.header.end());
  stored.parcel = parcel;
  stored.parcel.header = stored.header;
  if (parcel.fetched) return UCS_INPROGRESS;
  stored.data = allocate(parcel.bytes);
  if (stored.data == nullptr) {
    fault("no memory for a message of " + std::to_string(parcel.bytes) + " bytes");
    return UCS_OK;
  }
  std::memcpy(stored.data.get(), parcel.data, parcel.bytes);
  stored.parcel.data = stored.data.get();
  return UCS_OK;
}

void Inbox::take_early() {
  while (!shut_) {
    const auto node = early_.extract(expected_);
    if (node.empty()) return;
    const Parcel& parcel = node.mapped().parcel;
    if (take_now(parcel) == UCS_OK && parcel.fetched) ::ucp_am_data_release(worker_, parcel.data);
  }
}

ucs_status_t Inbox::take_now(const Parcel& parcel) {
  ++expected_;
  if (parcel.kind == kLong) return take_long(parcel);
  if (parcel.kind == kRecords) take_records(parcel);
  return UCS_OK;
}

// Copied in any case: payloads are aligned, UCX's data are not.
void Inbox::take_records(const Parcel& parcel) {
  const Bytes records(static_cast<const std::byte*>(parcel.data) + sizeof(Envelope), parcel.bytes - sizeof(Envelope));
  alignas(kRecordAlign) std::array<std::byte, 2048> small;
  if (queue_.empty() && records.size() <= small.size()) {
    std::memcpy(small.data(), records.data(), records.size());
    deliver_records({small.data(), records.size()});
    return;
  }
  Memory copy = allocate(records.size());
  if (copy == nullptr) return fault("no memory for messages of " + std::to_string(records.size()) + " bytes");
  std::memcpy(copy.get(), records.data(), records.size());
  if (queue_.empty()) return deliver_records({copy.get(), records.size()});
  auto arrival = std::make_unique<Arrival>();
  arrival->state = State::arrived;
  arrival->own = std::move(copy);
  arrival->bytes = records.size();
  queue_.push_back(std::move(arrival));
}

void Inbox::deliver_records(Bytes records) {
  while (!records.empty() && !shut_) {
    RecordHead record;
    if (records.size() < sizeof record) return fault("a message ends in its head");
    std::memcpy(&record, records.data(), sizeof record);
    const std::size_t whole = sizeof record + padded(record.bytes);
    if (record.bytes > kLargestRecord || whole > records.size() || record.head.header_bytes > record.bytes) {
      return fault("a message of " + std::to_string(record.bytes) + " bytes does not fit into what came");
    }
    events_.active = true;
    sink_.deliver(source_, record.head, records.subspan(sizeof record, record.bytes));
    records = records.subspan(whole);
  }
}

ucs_status_t Inbox::take_long(const Parcel& parcel) {
  LongHead head;
  const bool has_head = parcel.header.size() >= sizeof head;
  if (has_head) std::memcpy(&head, parcel.header.data(), sizeof head);
  if (!has_head || head.head.header_bytes > kMaxHeaderBytes || head.body_bytes != parcel.bytes ||
      parcel.header.size() != sizeof head + head.head.header_bytes) {
    fault("a long message does not fit its head");
    return UCS_OK;
  }
  const Bytes header = parcel.header.subspan(sizeof head);
  if (queue_.empty() && !parcel.fetched && take_whole_long(head, header, parcel)) return UCS_OK;
  return queue_long(head, header, parcel);
}

// All of it is here and nothing is in front: straight to its place. False: it has none.
bool Inbox::take_whole_long(const LongHead& head, Bytes header, const Parcel& parcel) {
  std::byte* place = sink_.landing(source_, head.head, header, parcel.bytes);
  events_.active = true;
  if (place != nullptr) {
    std::memcpy(place, parcel.data, parcel.bytes);
    sink_.landed(source_, head.head, header, parcel.bytes);
    return true;
  }
  const Memory whole = allocate(header.size() + parcel.bytes);
  if (whole == nullptr) {
    fault("no memory for a message of " + std::to_string(parcel.bytes) + " bytes");
    return true;
  }
  if (!header.empty()) std::memcpy(whole.get(), header.data(), header.size());
  std::memcpy(whole.get() + header.size(), parcel.data, parcel.bytes);
  sink_.deliver(source_, head.head, {whole.get(), header.size() + parcel.bytes});
  return true;
}

ucs_status_t Inbox::queue_long(const LongHead& head, Bytes header, const Parcel& parcel) {
  auto arrival = std::make_unique<Arrival>();
  arrival->inbox = this;
  arrival->is_long = true;
  arrival->head = head.head;
  arrival->bytes = parcel.bytes;
  if (!header.empty()) std::memcpy(arrival->header.data(), header.data(), header.size());
  if (parcel.fetched) {
    arrival->descriptor = parcel.data;
  } else {
    if (!make_room(*arrival)) return UCS_OK;
    std::memcpy(arrival->own.get() + header.size(), parcel.data, parcel.bytes);
  }
  queue_.push_back(std::move(arrival));
  advance();
  return parcel.fetched ? UCS_INPROGRESS : UCS_OK;
}

// Header and body one behind the other.
bool Inbox::make_room(Arrival& arrival) {
  const Bytes header = arrival.header_bytes();
  arrival.own = allocate(header.size() + arrival.bytes);
  if (arrival.own == nullptr) {
    fault("no memory for a message of " + std::to_string(arrival.bytes) + " bytes");
    return false;
  }
  if (!header.empty()) std::memcpy(arrival.own.get(), header.data(), header.size());
  return true;
}

void Inbox::advance() {
  while (!queue_.empty() && !shut_ && finish(*queue_.front())) queue_.pop_front();
}

// False: its body is still on its way.
bool Inbox::finish(Arrival& arrival) {
  if (!arrival.is_long) {
    deliver_records({arrival.own.get(), arrival.bytes});
    return true;
  }
  if (arrival.state == State::waiting) place(arrival);
  if (arrival.state != State::arrived || shut_) return false;
  events_.active = true;
  if (arrival.place != nullptr) {
    sink_.landed(source_, arrival.head, arrival.header_bytes(), arrival.bytes);
  } else {
    sink_.deliver(source_, arrival.head, {arrival.own.get(), arrival.head.header_bytes + arrival.bytes});
  }
  return true;
}

void Inbox::place(Arrival& arrival) {
  arrival.place = sink_.landing(source_, arrival.head, arrival.header_bytes(), arrival.bytes);
  if (arrival.descriptor == nullptr) {  // all of it is in `own`
    if (arrival.place != nullptr) {
      std::memcpy(arrival.place, arrival.own.get() + arrival.head.header_bytes, arrival.bytes);
      arrival.own.reset();
    }
    arrival.state = State::arrived;
    return;
  }
  if (arrival.place != nullptr) return fetch(arrival, arrival.place);
  if (make_room(arrival)) fetch(arrival, arrival.own.get() + arrival.head.header_bytes);
}

void Inbox::fetch(Arrival& arrival, std::byte* dest) {
  arrival.state = State::landing;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = &Inbox::fetched;
  param.user_data = &arrival;
  void* descriptor = std::exchange(arrival.descriptor, nullptr);  // UCX's from now on
  const ucs_status_ptr_t request = ::ucp_am_recv_data_nbx(worker_, descriptor, dest, arrival.bytes, &param);
  if (UCS_PTR_IS_ERR(request)) {
    fault("a body of " + std::to_string(arrival.bytes) + " bytes did not come (" +
          ::ucs_status_string(UCS_PTR_STATUS(request)) + ")");
  } else if (request == nullptr) {
    arrival.state = State::arrived;
  }
}

void Inbox::fetched(void* request, ucs_status_t status, std::size_t, void* user_data) {
  Arrival& arrival = *static_cast<Arrival*>(user_data);
  Inbox& inbox = *arrival.inbox;
  ::ucp_request_free(request);
  if (status != UCS_OK) {
    inbox.fault("a body of " + std::to_string(arrival.bytes) + " bytes did not come (" + ::ucs_status_string(status) +
                ")");
    return;
  }
  arrival.state = State::arrived;
  inbox.advance();
}

}  // namespace shmemx::transport::ucx
