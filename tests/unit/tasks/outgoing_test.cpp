#include "tasks/outgoing.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "tasks/incoming.hpp"

BOOST_AUTO_TEST_SUITE(tasks_outgoing)

namespace {

using namespace shmemx;
using namespace shmemx::tasks;

constexpr std::size_t kCell = 500;
constexpr std::size_t kPes = 5;

// A node whose PEs receive when the test says so.
class PlayedPort final : public Port {
 public:
  bool try_send(const am::OutgoingMessage& message) noexcept override {
    Peer& to = peers[message.pe];
    if (to.room == 0) return false;
    --to.room;
    ++to.sent;
    std::vector<std::byte> whole(message.header.begin(), message.header.end());
    whole.insert(whole.end(), message.payload.begin(), message.payload.end());
    to.messages.push_back({message.handler, std::move(whole)});
    if (message.lifetime.outgoing != nullptr) message.lifetime.outgoing->done = true;
    return true;
  }
  nemesis::Number last_sent(int pe) noexcept override { return peers[pe].sent; }
  bool has_received(int pe, nemesis::Number number) noexcept override { return peers[pe].received >= number; }
  Transfer start_transfer(int pe, std::int32_t, Bytes payload) noexcept override {
    transfers.push_back({pe, payload});
    return reinterpret_cast<Transfer>(transfers.size());
  }
  bool try_end_transfer(Transfer) noexcept override { return pulls_end; }
  std::size_t message_bytes(int) noexcept override { return kCell; }
  std::size_t batch_bytes(int) noexcept override { return batch; }
  bool is_near(int pe) noexcept override { return pe == near; }
  std::size_t batch = kCell;
  int near = -1;

  struct Sent {
    am::HandlerId handler;
    std::vector<std::byte> bytes;
  };
  struct Peer {
    unsigned room = 1000000;
    nemesis::Number sent = 0;
    nemesis::Number received = 0;
    std::vector<Sent> messages;
  };
  std::map<int, Peer> peers;
  std::vector<std::pair<int, Bytes>> transfers;
  bool pulls_end = false;
};

struct Side {
  Side() : outgoing((budget.open(0, std::size_t{1} << 30), port), budget, kPes) {}
  void send(int pe, std::uint32_t number, std::size_t bytes, std::int32_t priority = 0) {
    std::vector<std::byte> payload(bytes, static_cast<std::byte>(number));
    outgoing.send({.pe = pe, .id = static_cast<std::uint16_t>(number), .priority = priority, .payload = payload});
  }
  void receive(int pe) { port.peers[pe].received = port.peers[pe].sent; }

  PlayedPort port;
  Budget budget;
  Outgoing outgoing;
};

// Returns the tasks that have arrived, by number, after a check of their contents.
std::map<std::uint32_t, std::size_t> tasks_at(Side& side, int pe) {
  std::map<std::uint32_t, std::size_t> found;
  Budget budget;
  budget.open(pe, std::size_t{1} << 30);
  Incoming incoming(budget);
  for (const PlayedPort::Sent& message : side.port.peers[pe].messages) {
    if (message.handler == am::kTasks || message.handler == am::kTasksMixed) {
      incoming.add(0, message.bytes, message.handler == am::kTasksMixed);
      continue;
    }
    PieceHead head;
    std::memcpy(&head, message.bytes.data(), sizeof head);
    Buffer* whole = nullptr;
    BOOST_REQUIRE(incoming.add_piece(0, head, Bytes(message.bytes).subspan(sizeof head), whole));
    if (whole != nullptr) incoming.add_complete(whole);
  }
  BufferList none;
  for (Buffer* buffer = incoming.take_all(none); buffer != nullptr;) {
    Bytes rest{buffer->data(), buffer->used};
    while (!rest.empty()) {
      Record record;
      std::memcpy(&record, rest.data(), sizeof record);
      Bytes tasks = rest.subspan(sizeof record, record.bytes);
      rest = rest.subspan(sizeof record + round_up(record.bytes, sizeof record));
      TaskView task;
      while (!tasks.empty()) {
        BOOST_REQUIRE(take_task(tasks, task));
        for (const std::byte byte : task.payload) BOOST_REQUIRE(byte == static_cast<std::byte>(task.id));
        BOOST_REQUIRE(found.emplace(task.id, task.payload.size()).second);
      }
    }
    Buffer* const next = buffer->next;
    release_share(budget, buffer);
    buffer = next;
  }
  BOOST_CHECK_EQUAL(budget.used(), 0u);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_task_leaves_at_once_and_others_gather_until_it_is_received) {
  Side side;
  for (std::uint32_t i = 0; i < 10; ++i) side.send(1, i, 8);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 1u);
  side.outgoing.progress(Outgoing::Flush::ready);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 1u);
  side.receive(1);
  side.outgoing.progress(Outgoing::Flush::ready);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 2u);
  BOOST_CHECK(side.outgoing.is_empty());
  BOOST_CHECK_EQUAL(side.budget.used(), 0u);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 10u);
}

BOOST_AUTO_TEST_CASE(without_gathering_each_task_is_a_message) {
  Side side;
  side.port.batch = 0;
  for (std::uint32_t i = 0; i < 10; ++i) side.send(1, i, 8);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 10u);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 10u);
}

BOOST_AUTO_TEST_CASE(what_has_gathered_leaves_when_it_is_full_or_flushed) {
  Side side;
  for (std::uint32_t i = 0; i < 100; ++i) side.send(1, i, 8);
  const std::size_t full = side.port.peers[1].messages.size();
  BOOST_CHECK_GE(full, 3u);
  BOOST_CHECK_LE(full, 5u);
  side.outgoing.progress(Outgoing::Flush::all);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), full + 1);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 100u);
}

BOOST_AUTO_TEST_CASE(what_has_gathered_for_other_nodes_may_gather_more) {
  Side side;
  side.port.near = 2;
  for (std::uint32_t i = 0; i < 3; ++i) {
    side.send(1, i, 8);
    side.send(2, i, 8);
  }
  side.outgoing.progress(Outgoing::Flush::near);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 1u);
  BOOST_CHECK_EQUAL(tasks_at(side, 2).size(), 3u);
  side.receive(1);
  side.outgoing.progress(Outgoing::Flush::ready);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 3u);
  BOOST_CHECK(side.outgoing.is_empty());
}

BOOST_AUTO_TEST_CASE(a_target_without_room_holds_up_no_other) {
  Side side;
  side.port.peers[1].room = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    side.send(1, i, i % 3 == 0 ? 2000 : 8);
    side.send(2, i, 8);
    side.receive(2);
  }
  side.outgoing.progress(Outgoing::Flush::all);
  BOOST_CHECK(side.port.peers[1].messages.empty());
  BOOST_CHECK_EQUAL(tasks_at(side, 2).size(), 200u);
  BOOST_CHECK_GT(side.outgoing.queued_bytes(1), 60u * 2000);
  BOOST_CHECK_EQUAL(side.outgoing.queued_bytes(2), 0u);
  side.port.peers[1].room = 100000;
  side.outgoing.progress(Outgoing::Flush::all);
  BOOST_CHECK(side.outgoing.is_empty());
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 200u);
}

BOOST_AUTO_TEST_CASE(random_streams_arrive_whole) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Side side;
    std::map<int, std::map<std::uint32_t, std::size_t>> expected;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      const int pe = 1 + static_cast<int>(random() % (kPes - 1));
      const std::size_t bytes = random() % 50 == 0 ? random() % 3000 : random() % 200;
      side.send(pe, i, bytes, static_cast<std::int32_t>(random() % 3) - 1);
      expected[pe][i] = bytes;
      PlayedPort::Peer& peer = side.port.peers[1 + static_cast<int>(random() % (kPes - 1))];
      if (random() % 5 == 0) peer.room = random() % 4;
      if (random() % 7 == 0) peer.received = peer.sent;
      if (random() % 9 == 0) side.outgoing.progress(static_cast<Outgoing::Flush>(random() % 3));
    }
    for (auto& peer : side.port.peers) peer.second.room = 1000000;
    side.outgoing.progress(Outgoing::Flush::all);
    BOOST_CHECK(side.outgoing.is_empty());
    BOOST_CHECK_EQUAL(side.budget.used(), 0u);
    for (int pe = 1; pe < static_cast<int>(kPes); ++pe) BOOST_CHECK(tasks_at(side, pe) == expected[pe]);
  }
}

// From 64 KiB on the target pulls, and the program's memory is released when that is over.
BOOST_AUTO_TEST_CASE(long_payloads_are_offered_and_released_when_they_were_pulled) {
  Side side;
  std::vector<std::byte> data(kPullBytes);
  int argument = 0;
  const Release release{[](void*, void*) {}, data.data(), &argument};
  side.outgoing.send({.pe = 1, .id = 3, .priority = 2, .payload = data, .release = release});
  BOOST_REQUIRE_EQUAL(side.port.transfers.size(), 1u);
  BOOST_CHECK(side.port.transfers[0].second.data() == data.data());
  BOOST_REQUIRE_EQUAL(side.port.peers[1].messages.size(), 1u);
  BOOST_CHECK(side.port.peers[1].messages[0].handler == am::kTaskOffer);
  side.outgoing.progress(Outgoing::Flush::all);
  BOOST_CHECK(!side.outgoing.is_empty() && !side.outgoing.has_releases());
  side.port.pulls_end = true;
  side.outgoing.progress(Outgoing::Flush::all);
  BOOST_CHECK(side.outgoing.is_empty());
  std::vector<Release> due;
  side.outgoing.take_releases(due);
  BOOST_REQUIRE_EQUAL(due.size(), 1u);
  BOOST_CHECK(due[0].payload == data.data() && due[0].argument == &argument);
}

BOOST_AUTO_TEST_CASE(long_replies_are_offered) {
  Side side;
  const std::vector<std::byte> data(kPullBytes);
  side.outgoing.send({.pe = 1, .id = 0, .priority = 0, .payload = data, .kind = kReply, .call = {4, 5}});
  BOOST_REQUIRE_EQUAL(side.port.transfers.size(), 1u);
  BOOST_CHECK(side.port.transfers[0].second.data() != data.data());  // which the handler may use again
  BOOST_REQUIRE_EQUAL(side.port.peers[1].messages.size(), 1u);
  BOOST_CHECK(side.port.peers[1].messages[0].handler == am::kTaskOffer);
}

BOOST_AUTO_TEST_CASE(a_batch_with_a_reply_says_so) {
  Side side;
  side.send(1, 0, 8);
  side.send(1, 1, 8);
  side.outgoing.send({.pe = 1, .id = 0, .priority = 0, .payload = {}, .kind = kReply, .call = {4, 5}});
  side.outgoing.progress(Outgoing::Flush::all);
  side.send(1, 2, 8);
  side.outgoing.progress(Outgoing::Flush::all);
  const auto& messages = side.port.peers[1].messages;
  BOOST_REQUIRE_EQUAL(messages.size(), 3u);
  BOOST_CHECK(messages[0].handler == am::kTasks && messages[1].handler == am::kTasksHandled &&
              messages[2].handler == am::kTasks);
  Bytes rest(messages[1].bytes);
  TaskView view;
  BOOST_REQUIRE(take_task(rest, view) && view.kind == kPlain && take_task(rest, view));
  BOOST_CHECK(view.kind == kReply && view.call == (CallId{4, 5}) && rest.empty());
}

BOOST_AUTO_TEST_CASE(damaged_pieces_are_rejected) {
  Budget budget;
  budget.open(0, std::size_t{1} << 30);
  Incoming incoming(budget);
  const std::vector<std::byte> data(100);
  Buffer* whole = nullptr;
  BOOST_CHECK(!incoming.add_piece(1, {1, 5, 1000, 0}, data, whole));         // does not begin at the begin
  BOOST_CHECK(!incoming.add_piece(1, {1, 0, 0xffffffffU, 0}, data, whole));  // too long
  BOOST_CHECK(incoming.add_piece(1, {1, 0, 1000, 0}, data, whole));
  BOOST_CHECK(!incoming.add_piece(1, {1, 200, 1000, 0}, data, whole));  // leaves a hole
  BOOST_CHECK(!incoming.add_piece(1, {1, 100, 999, 0}, data, whole));   // another length
  BOOST_CHECK(incoming.add_piece(2, {1, 0, 150, 0}, data, whole));
  BOOST_CHECK(!incoming.add_piece(2, {1, 100, 150, 0}, data, whole));  // goes beyond the end
  BOOST_CHECK(!incoming.add_piece(3, {1, 0, 50, 0}, data, whole));
  BOOST_CHECK(whole == nullptr);
  BOOST_CHECK_EQUAL(incoming.partial_count(), 2u);
  incoming.clear();
  BOOST_CHECK_EQUAL(budget.used(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()
