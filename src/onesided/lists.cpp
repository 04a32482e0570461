#include "onesided/lists.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "onesided/block_runs.hpp"
#include "onesided/rdma.hpp"
#include "onesided/update.hpp"
#include "onesided/wire.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;

// Returns whether no other request of the window, or of the caller, is open.
bool is_alone(const Call& call) noexcept {
  return call.initiator.tracker->open.load(std::memory_order_relaxed) <= 1;  // a hint
}

// An acknowledgement of its own for each part that others follow would cost the target a system call.
constexpr am::Counting counting_of(bool more) noexcept {
  return more ? am::Counting::uncounted : am::Counting::counted;
}

// What nobody waits for now leaves with others, unless there are none: a program that starts one operation and computes
// finds it done.
am::Leave leave_of(const Call& call, bool more) noexcept {
  if (more) return am::Leave::followed;
  return call.is_awaited || is_alone(call) ? am::Leave::now : am::Leave::soon;
}

void send(const Call& call, am::HandlerId id, Bytes header, Bytes data, bool more) noexcept {
  progress::send(call.routine,
                 {call.window.pe, id, header, data, am::kUntilFlush, leave_of(call, more), counting_of(more)});
}

std::size_t most_packed(int pe) noexcept {
  if (!am::is_internode(pe)) return std::min(kMostPacked, am::max_payload_bytes(pe) - sizeof(PutRunsHeader));
  const am::Locked endpoint;
  const bool takes_long =
      endpoint->has_path(pe) && endpoint->network_of(pe).capabilities().short_bytes >= kMostPackedLong;
  return takes_long ? kMostPackedLong : kMostPacked;
}

// Shorter blocks of a put travel together with others.
constexpr std::size_t kPackedBytes = 2048;

// The parts of a put have one ticket. A part leaves when the next one is known, so that the last one can say so. Short
// blocks that follow one another are one part.
class Parts {
 public:
  explicit Parts(const Call& call) noexcept : call_(call), pack_(most_packed(call.window.pe)) {}

  void add(const Transfer& part) noexcept {
    if (!is_pending()) ticket_ = open_request(call_.routine, kNoData, call_.window.pe, call_.initiator);
    const bool is_short = part.bytes < kPackedBytes;
    if (is_short && pending_.bytes != 0 && pending_.bytes < kPackedBytes) pack(std::exchange(pending_, {}));
    if (is_short && !pack_.is_empty() && pack_.has_room(part.bytes)) return pack(part);
    send_pending(true);
    pending_ = part;
  }
  // Short blocks, of which each lies behind the one in front of it in the window.
  void add_series(const rma::PairBlocks& blocks) noexcept {
    if (!is_pending()) ticket_ = open_request(call_.routine, kNoData, call_.window.pe, call_.initiator);
    const Transfer last = std::exchange(pending_, {});
    if (last.bytes >= kPackedBytes) {
      send_part(last, true);
    } else if (last.bytes != 0) {
      pack(last);
    }
    const auto step = static_cast<std::size_t>(blocks.first_step);
    const auto data_step = static_cast<std::size_t>(blocks.second_step);
    for (std::size_t done = 0;;) {
      const rma::Pair next = blocks.at(done);
      const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(next.first) - call_.window.base;
      done += pack_.add_series(offset, step, next.second, data_step, blocks.bytes, blocks.count - done);
      if (done == blocks.count) return;
      send_pack(true);
    }
  }
  void finish() noexcept {
    if (is_pending()) send_pending(false);
  }

 private:
  bool is_pending() const noexcept { return pending_.bytes != 0 || !pack_.is_empty(); }
  void pack(const Transfer& part) noexcept { pack_.add(part.place.offset, part.local, part.bytes); }
  void send_pending(bool more) noexcept {
    if (!pack_.is_empty()) return send_pack(more);
    if (pending_.bytes != 0) send_part(pending_, more);
  }
  void send_part(const Transfer& part, bool more) noexcept {
    const PutRepliedHeader header{call_.window.name, part.place.offset, ticket_, more ? 0U : 1U};
    send(call_, am::kPutReplied, bytes_of(header), {part.local, part.bytes}, more);
  }
  void send_pack(bool more) noexcept {
    const PutRunsHeader header{call_.window.name, ticket_, more ? 0U : 1U};
    const Bytes runs = pack_.whole();
    if (runs.size() < transport::kLongBytes) {
      send(call_, am::kPutRuns, bytes_of(header), runs, more);
    } else {  // the next runs take their place
      progress::send(call_.routine, {.pe = call_.window.pe,
                                     .handler = am::kPutRuns,
                                     .header = bytes_of(header),
                                     .payload = runs,
                                     .counting = counting_of(more)});
    }
    pack_.clear();
  }

  const Call& call_;
  Ticket ticket_ = 0;
  Transfer pending_{};
  BlockPack pack_;
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

// A call that sends `bytes` of the caller's memory. Short data are copied into messages, so the memory is free when the
// call returns; but a network that writes to the target by itself reads them until it is done.
Call sending(Call call, std::uint64_t bytes) noexcept {
  const int pe = call.window.pe;
  const bool are_read_later = bytes >= transport::kLongBytes || (has_rma_networks && may_go_direct(pe, Direction::put));
  if (!am::is_internode(pe) || !are_read_later) call.initiator.local = nullptr;
  return call;
}

Transfer transfer_of(const Call& call, Direction direction, const rma::Pair& pair) noexcept {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pair.first) - call.window.base;
  return {call.routine, direction, {call.window.pe, call.window.name, offset}, pair.second, pair.bytes};
}

// Parts of a get that lie at equal distances on both sides are requested by one message.
class Requested {
 public:
  explicit Requested(const Call& call) noexcept
      : call_(call), most_(std::min(kElementBytes, am::max_payload_bytes(call.window.pe) - sizeof(ReplyHeader))) {}

  // Returns false if the part does not continue those that were added before it.
  bool try_add(const Transfer& part) noexcept {
    if (count_ == 0) {
      first_ = part;
    } else if (!continues(part)) {
      return false;
    }
    last_ = part;
    ++count_;
    return true;
  }
  bool takes_series(const rma::PairBlocks& blocks) const noexcept {
    return blocks.count > 1 && 2 * blocks.bytes <= most_ && blocks.bytes < kRdmaBytes && blocks.first_step > 0 &&
           blocks.second_step > 0;
  }
  // Requires takes_series(). The last request leaves with the next part, or at the end.
  void add_series(const rma::PairBlocks& blocks) noexcept {
    for (std::size_t done = 0; done != blocks.count;) {
      if (!is_empty()) send_all(true);
      first_ = transfer_of(call_, Direction::get, blocks.at(done));
      count_ = static_cast<std::uint32_t>(std::min(blocks.count - done, most_ / blocks.bytes));
      step_ = static_cast<std::uint64_t>(blocks.first_step);
      local_step_ = static_cast<std::uint64_t>(blocks.second_step);
      done += count_;
      last_ = transfer_of(call_, Direction::get, blocks.at(done - 1));
    }
  }
  bool is_empty() const noexcept { return count_ == 0; }
  void send_all(bool more) noexcept {
    if (count_ == 1) {
      send_one(more);
    } else {
      send_blocks(more);
    }
    count_ = 0;
  }

 private:
  bool continues(const Transfer& part) noexcept {
    if (part.bytes != first_.bytes || (count_ + 1) * part.bytes > most_) return false;
    if (part.place.offset <= last_.place.offset || part.local <= last_.local) return false;
    const std::uint64_t step = part.place.offset - last_.place.offset;
    const auto local_step = static_cast<std::uint64_t>(part.local - last_.local);
    if (count_ > 1 && (step != step_ || local_step != local_step_)) return false;
    step_ = step;
    local_step_ = local_step;
    return true;
  }
  void send_one(bool more) noexcept {
    const auto bytes = static_cast<std::uint32_t>(first_.bytes);
    const Ticket ticket = open({first_.local, bytes, bytes, 1});
    const GetHeader header{call_.window.name, first_.place.offset, bytes, ticket};
    send(call_, am::kGet, bytes_of(header), {}, more);
  }
  void send_blocks(bool more) noexcept {
    const auto bytes = static_cast<std::uint32_t>(first_.bytes);
    const Ticket ticket = open({first_.local, local_step_, bytes, count_});
    const GetStridedHeader header{call_.window.name, first_.place.offset, step_, bytes, count_, ticket, 0};
    send(call_, am::kGetStrided, bytes_of(header), {}, more);
  }
  Ticket open(const Placement& placement) noexcept {
    return open_request(call_.routine, placement, call_.window.pe, call_.initiator);
  }

  const Call& call_;
  std::size_t most_;
  Transfer first_{};
  Transfer last_{};
  std::uint32_t count_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t local_step_ = 0;
};

// The messages of an accumulate. Each part that fetches has a ticket; else all have one.
class Updates {
 public:
  Updates(const Call& call, const atomic::Update& update, bool fetch) noexcept
      : call_(call),
        size_(atomic::element_bytes(update.type)),
        most_bytes_(std::min(kElementBytes, am::max_payload_bytes(call.window.pe) - sizeof(AccumulateStridedHeader))),
        header_{call.window.name, 0, 0, 0, update.type, update.op, update.exclusive, fetch, 0} {}

  std::size_t most() const noexcept { return most_bytes_ / size_; }  // elements of a message
  void add(const rma::ElementSeries& series, bool is_last) noexcept {
    const std::size_t bytes = series.first.count * size_;
    const bool is_padded = atomic::span_bytes(header_.type, 1) != size_;
    const bool gathers = series.count > 1 && 2 * bytes <= most_bytes_ && !is_padded && series.target_step > 0 &&
                         series.source_step >= 0 && series.result_step >= 0;
    const std::size_t together = gathers ? most_bytes_ / bytes : 1;
    for (std::size_t done = 0; done != series.count;) {
      const std::size_t count = std::min(together, series.count - done);
      header_.is_last = is_last && done + count == series.count;
      count == 1 ? send_run(run_at(series, done)) : send_blocks(series, run_at(series, done), count);
      done += count;
    }
  }

 private:
  static rma::ElementRun run_at(const rma::ElementSeries& series, std::size_t i) noexcept {
    const auto n = static_cast<std::ptrdiff_t>(i);
    rma::ElementRun run = series.first;
    run.target += n * series.target_step;
    if (run.source != nullptr) run.source += n * series.source_step;
    if (run.result != nullptr) run.result += n * series.result_step;
    return run;
  }
  void send_run(const rma::ElementRun& run) noexcept {
    const std::size_t bytes = atomic::span_bytes(header_.type, run.count);
    begin(run, contiguous(run.result, bytes));
    send_part(am::kAccumulate, bytes_of(header_), is_read_only() ? Bytes{} : Bytes{run.source, bytes});
  }
  void send_blocks(const rma::ElementSeries& series, const rma::ElementRun& first, std::size_t count) noexcept {
    const std::size_t bytes = first.count * size_;
    const auto block_bytes = static_cast<std::uint32_t>(bytes);
    const auto blocks = static_cast<std::uint32_t>(count);
    begin(first, {first.result, static_cast<std::uint64_t>(series.result_step), block_bytes, blocks});
    const AccumulateStridedHeader header{header_, static_cast<std::uint64_t>(series.target_step), blocks, 0};
    Bytes operands{first.source, count * bytes};
    if (is_read_only()) {
      operands = {};
    } else if (static_cast<std::size_t>(series.source_step) != bytes) {
      if (packed_ == nullptr) packed_.reset(new std::byte[most_bytes_]);
      rma::copy_strided(packed_.get(), first.source,
                        {bytes, count, bytes, static_cast<std::size_t>(series.source_step)});
      operands = {packed_.get(), count * bytes};
    }
    send_part(am::kAccumulateStrided, bytes_of(header), operands);
  }
  bool is_read_only() const noexcept { return header_.op == atomic::ElementOp::no_op; }
  void begin(const rma::ElementRun& run, const Placement& result) noexcept {
    header_.count = static_cast<std::uint32_t>(run.count);
    header_.offset = reinterpret_cast<std::uintptr_t>(run.target) - call_.window.base;
    if (header_.fetch != 0 || is_first_)
      header_.ticket =
          open_request(call_.routine, header_.fetch != 0 ? result : kNoData, call_.window.pe, call_.initiator);
    is_first_ = false;
  }
  // The replies with old elements come back while later parts leave, so long ones do not leave together.
  void send_part(am::HandlerId id, Bytes header, Bytes operands) noexcept {
    const bool more = header_.is_last == 0;
    const bool is_packed = packed_ != nullptr && operands.data() == packed_.get();  // the next part takes its place
    const bool leaves_now = is_packed && operands.size() >= transport::kLongBytes;
    const am::Leave leave = leaves_now                   ? am::Leave::now
                            : more && header_.fetch != 0 ? am::Leave::soon
                                                         : leave_of(call_, more);
    progress::send(call_.routine, {call_.window.pe, id, header, operands, is_packed ? am::kDuringCall : am::kUntilFlush,
                                   leave, counting_of(more)});
  }

  const Call& call_;
  std::size_t size_;
  std::size_t most_bytes_;
  AccumulateHeader header_;
  std::unique_ptr<std::byte[]> packed_;
  bool is_first_ = true;
};

}  // namespace

void put_lists(const Call& any_call, rma::PairWalk pairs) noexcept {
  const Call call = sending(any_call, pairs.left());
  const std::size_t most = am::max_payload_bytes(call.window.pe) - sizeof(PutRepliedHeader);
  const CounterGuard guard(call);
  Parts parts(call);
  const auto add = [&](const Transfer& part) { parts.add(part); };
  for (rma::PairBlocks blocks{}; pairs.next_blocks(blocks, most);) {
    if (blocks.count > 1 && blocks.bytes < kPackedBytes && blocks.first_step > 0) {
      parts.add_series(blocks);
      continue;
    }
    for (std::size_t i = 0; i < blocks.count; ++i)
      start(transfer_of(call, Direction::put, blocks.at(i)), call.initiator, add);
  }
  parts.finish();
}

void get_lists(const Call& call, rma::PairWalk pairs) noexcept {
  const std::size_t most = am::max_payload_bytes(call.window.pe) - sizeof(ReplyHeader);
  const CounterGuard guard(call);
  Requested requested(call);
  const auto add = [&](const Transfer& part) {
    if (requested.try_add(part)) return;
    requested.send_all(true);
    requested.try_add(part);
  };
  for (rma::PairBlocks blocks{}; pairs.next_blocks(blocks, most);) {
    if (requested.takes_series(blocks)) {
      requested.add_series(blocks);
      continue;
    }
    for (std::size_t i = 0; i < blocks.count; ++i)
      start(transfer_of(call, Direction::get, blocks.at(i)), call.initiator, add);
  }
  if (!requested.is_empty()) requested.send_all(false);
}

void accumulate(const Call& any_call, const atomic::Update& update, rma::ElementWalk walk) noexcept {
  const Call call = walk.fetches() ? any_call : sending(any_call, walk.left());
  const CounterGuard guard(call);
  Updates updates(call, update, walk.fetches());
  for (rma::ElementSeries series{}; walk.next_series(series, updates.most());) updates.add(series, walk.left() == 0);
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
