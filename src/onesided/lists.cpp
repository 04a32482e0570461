#include "onesided/lists.hpp"

#include <algorithm>

#include "onesided/rdma.hpp"
#include "onesided/send.hpp"
#include "onesided/update.hpp"
#include "onesided/wire.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;

// `more`: others follow.
void send(const Call& call, am::HandlerId id, Bytes header, Bytes data, bool more) noexcept {
  if (more || !call.is_awaited || data.size() >= transport::kLongBytes)
    return send_nbi(call.routine, call.window.pe, id, header, data);
  progress::send(call.routine, call.window.pe, id, header, data);
}

// The parts of a put have one ticket. A part leaves when the next one is known, so that the last one can say so.
class Parts {
 public:
  explicit Parts(const Call& call) noexcept : call_(call) {}

  void add(const Transfer& part) noexcept {
    if (pending_.bytes != 0) {
      send_pending(true);
    } else {
      ticket_ = open_request(call_.routine, kNoData, call_.window.pe, call_.initiator);
    }
    pending_ = part;
  }
  void finish() noexcept {
    if (pending_.bytes != 0) send_pending(false);
  }

 private:
  void send_pending(bool more) noexcept {
    const PutRepliedHeader header{call_.window.name, pending_.place.offset, ticket_, more ? 0U : 1U};
    send(call_, am::kPutReplied, bytes_of(header), {pending_.local, pending_.bytes}, more);
  }

  const Call& call_;
  Ticket ticket_ = 0;
  Transfer pending_{};
};

// Keeps the program's counter positive until all parts have been counted.
class CounterGuard {
 public:
  explicit CounterGuard(const Call& call) noexcept : counter_(call.initiator.counter) { add_to(counter_, 1); }
  ~CounterGuard() { add_to(counter_, -1); }
  CounterGuard(const CounterGuard&) = delete;
  CounterGuard& operator=(const CounterGuard&) = delete;

 private:
  long* counter_;
};

// A call that sends `bytes` of the caller's memory. Short data are copied, so the memory is free when the call returns.
Call sending(Call call, std::uint64_t bytes) noexcept {
  if (bytes < transport::kLongBytes || !am::is_internode(call.window.pe)) call.initiator.local = nullptr;
  return call;
}

template <class Messages>
void start_part(const Call& call, const Transfer& transfer, Messages messages) noexcept {
  if (call.window.is_set) return messages(transfer);
  start(transfer, call.initiator, messages);
}

Transfer transfer_of(const Call& call, Direction direction, const rma::Pair& pair) noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pair.first) - call.window.base;
  return {call.routine, direction, {call.window.pe, call.window.name, offset}, pair.second, pair.bytes};
}

}  // namespace

void put_lists(const Call& any_call, rma::PairWalk pairs) noexcept {
  const Call call = sending(any_call, pairs.left());
  const std::size_t most = am::max_payload_bytes(call.window.pe) - sizeof(PutRepliedHeader);
  const CounterGuard guard(call);
  Parts parts(call);
  for (rma::Pair pair{}; pairs.next(pair, most);)
    start_part(call, transfer_of(call, Direction::put, pair), [&](const Transfer& part) { parts.add(part); });
  parts.finish();
}

void get_lists(const Call& call, rma::PairWalk pairs) noexcept {
  const int pe = call.window.pe;
  const std::size_t most = am::max_payload_bytes(pe) - sizeof(ReplyHeader);
  const CounterGuard guard(call);
  rma::Pair next{};
  for (bool more = pairs.next(next, most); more;) {
    const rma::Pair pair = next;
    more = pairs.next(next, most);
    start_part(call, transfer_of(call, Direction::get, pair), [&](const Transfer& part) {
      const Ticket ticket = open_request(call.routine, contiguous(part.local, part.bytes), pe, call.initiator);
      const GetHeader header{call.window.name, part.place.offset, static_cast<std::uint32_t>(part.bytes), ticket};
      send(call, am::kGet, bytes_of(header), {}, more);
    });
  }
}

void accumulate(const Call& any_call, const atomic::Update& update, rma::ElementWalk walk) noexcept {
  const Call call = walk.fetches() ? any_call : sending(any_call, walk.left());
  const int pe = call.window.pe;
  const std::size_t size = atomic::element_bytes(update.type);
  const std::size_t most = std::min(kElementBytes, am::max_payload_bytes(pe) - sizeof(AccumulateHeader)) / size;
  const bool fetch = walk.fetches();
  AccumulateHeader header{call.window.name, 0, 0, 0, update.type, update.op, update.exclusive, fetch, 0};
  const CounterGuard guard(call);
  bool is_first = true;
  for (rma::ElementRun run{}; walk.next(run, most); is_first = false) {
    header.count = static_cast<std::uint32_t>(run.count);
    header.offset = reinterpret_cast<std::uintptr_t>(run.target) - call.window.base;
    header.is_last = walk.left() == 0;
    const std::size_t bytes = run.count * size;
    if (fetch || is_first)
      header.ticket = open_request(call.routine, fetch ? contiguous(run.result, bytes) : kNoData, pe, call.initiator);
    const Bytes data = update.op == atomic::ElementOp::no_op ? Bytes{} : Bytes{run.source, bytes};
    send(call, am::kAccumulate, bytes_of(header), data, header.is_last == 0);
  }
}

void fetch_one(const Call& call, std::uint64_t offset, const atomic::Operation& operation, void* result) noexcept {
  const int pe = call.window.pe;
  AtomicHeader header = header_of({pe, call.window.name, offset}, operation);
  header.ticket =
      open_request(call.routine, contiguous(result, atomic::element_bytes(operation.type)), pe, call.initiator);
  send(call, am::kAtomicFetch, bytes_of(header), {}, false);
}

void fetch_checked(const char* routine, const context::Place& place, const atomic::Operation& operation, void* result,
                   Tracker& open) noexcept {
  AtomicHeader header = header_of(place, operation);
  send_request(routine, {place.pe, am::kAtomicFetch, contiguous(result, atomic::element_bytes(operation.type))}, header,
               {&open, 0, true});
}

Code check_window(const char* routine, const RemoteWindow& window) noexcept {
  Tracker open;
  GetHeader header{window.name, 0, 0, 0};
  send_request(routine, {window.pe, am::kGet, kNoData}, header, {&open, 0, true});
  return await_result(routine, window.pe, open);
}

}  // namespace shmemx::onesided
