// Messages of tasks from arbitrary bytes, as handlers of the endpoint take them and the scheduler reads them. Items lie
// inside their message, multicasts end, and no other memory is touched.
//
// Input: records of one control byte, one of the length, and a payload. The low bits of the control byte say what
// message it is, the next ones the source.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/cache_line.hpp"
#include "base/fatal.hpp"
#include "tasks/incoming.hpp"
#include "tasks/multicast.hpp"
#include "tasks/queue.hpp"

namespace shmemx {

// No message may lead here: whoever reads it says that it is damaged.
void fatal(const char*, const char*, ...) noexcept { std::abort(); }

}  // namespace shmemx

namespace {

using namespace shmemx;
using namespace shmemx::tasks;

constexpr int kPes = 40;
constexpr int kMe = 6;
constexpr std::size_t kMostTotal = std::size_t{1} << 16;  // of the pieces of a message

void demand(bool condition) {
  if (!condition) std::abort();
}

class Receiver {
 public:
  Receiver() { budget_.open(kMe, std::size_t{1} << 30); }
  ~Receiver() {
    run_all();
    incoming_.clear();
    demand(budget_.used() == 0);
  }

  void take(unsigned control, Bytes message) {
    const int source = static_cast<int>(control >> 3) % kPes;
    switch (control % 8) {
      case 0:
      case 1:
        return incoming_.add(source, message, false);
      case 2:
        return incoming_.add(source, message, true);
      case 3:
        if (handle(message)) incoming_.add(source, message, true);
        return;
      case 4:
      case 5:
        return take_piece(source, message);
      default:
        run_all();
    }
  }

 private:
  void take_piece(int source, Bytes piece) {
    PieceHead head;
    Buffer* whole = nullptr;
    if (!take_header(piece, head) || head.total > kMostTotal) return;
    if (!incoming_.add_piece(source, head, piece, whole) || whole == nullptr) return;
    if (head.detail % 2 == 0 || handle(Incoming::message_of(*whole))) {
      incoming_.add_complete(whole);
    } else {
      incoming_.drop(whole);
    }
  }

  // Returns false if the message is damaged.
  bool handle(Bytes message) {
    TaskView view;
    while (!message.empty()) {
      const Bytes before = message;
      if (!take_task(message, view)) return false;
      demand(message.size() < before.size());
      demand_inside(view.payload, before);
      if (view.kind == kMulticast) spread(view.multicast);
    }
    return true;
  }

  static void demand_inside(Bytes payload, Bytes message) {
    demand(payload.empty() ||
           (payload.data() >= message.data() && payload.data() + payload.size() <= message.data() + message.size()));
  }

  static void spread(const MulticastHead& head) {
    const auto part = MulticastPart::of(head, kPes);
    if (!part.has_value()) return;
    std::uint32_t sent = 0;
    const auto node_of = [](int pe) { return pe / 4; };
    const auto is_ready = [](int pe) { return pe % 3 == 0; };
    const auto send = [&](int pe, const MulticastPart& theirs) {
      demand(pe >= 0 && pe < kPes && theirs.count() != 0);
      sent += theirs.count();
    };
    const MulticastSpread spread(kMe, node_of, is_ready, send);
    if (!spread.holds(*part)) return;
    spread.spread(*part);
    demand(sent < part->count());
  }

  void run_all() {
    BufferList none;
    for (Buffer* buffer = incoming_.take_all(none); buffer != nullptr;) {
      Buffer* const next = buffer->next;
      run(*buffer);
      release_share(budget_, buffer);
      buffer = next;
    }
  }

  static void run(Buffer& buffer) {
    Bytes rest{buffer.data(), buffer.used};
    const Bytes all = rest;
    while (!rest.empty()) {
      Record record;
      demand(rest.size() >= sizeof record);
      std::memcpy(&record, rest.data(), sizeof record);
      const Bytes tasks = rest.subspan(sizeof record, record.bytes);
      rest = rest.subspan(sizeof record + round_up(record.bytes, sizeof record));
      TaskQueue queue;
      if (!tasks.empty()) queue.push(Stretch{tasks, &buffer, record.source});
      Task task;
      while (queue.pop(task) == Popped::task) demand_inside({task.payload, task.bytes}, all);
    }
  }

  Budget budget_;
  Incoming incoming_{budget_};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Receiver receiver;
  std::size_t at = 0;
  while (at + 2 <= size) {
    const unsigned control = data[at];
    const std::size_t bytes = std::min<std::size_t>(data[at + 1] * 2U, size - at - 2);
    at += 2;
    const std::vector<std::byte> message(reinterpret_cast<const std::byte*>(data) + at,
                                         reinterpret_cast<const std::byte*>(data) + at + bytes);
    receiver.take(control, message);
    at += bytes;
  }
  return 0;
}
