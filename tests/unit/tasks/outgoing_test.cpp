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
  std::size_t message_bytes(int) noexcept override { return kCell; }
  std::size_t batch_bytes(int) noexcept override { return kCell; }

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
};

struct Side {
  Side() : outgoing((budget.open(0, std::size_t{1} << 30), port), budget, kPes) {}
  void send(int pe, std::uint32_t number, std::size_t bytes, std::int32_t priority = 0) {
    std::vector<std::byte> payload(bytes, static_cast<std::byte>(number));
    outgoing.send({pe, static_cast<std::uint16_t>(number), priority, payload});
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
    if (message.handler == am::kTasks) {
      incoming.add(0, message.bytes);
      continue;
    }
    PieceHead head;
    std::memcpy(&head, message.bytes.data(), sizeof head);
    BOOST_REQUIRE(incoming.add_piece(0, head, Bytes(message.bytes).subspan(sizeof head)));
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
  side.outgoing.progress(false);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 1u);
  side.receive(1);
  side.outgoing.progress(false);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), 2u);
  BOOST_CHECK(side.outgoing.is_empty());
  BOOST_CHECK_EQUAL(side.budget.used(), 0u);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 10u);
}

BOOST_AUTO_TEST_CASE(what_has_gathered_leaves_when_it_is_full_or_flushed) {
  Side side;
  for (std::uint32_t i = 0; i < 100; ++i) side.send(1, i, 8);
  const std::size_t full = side.port.peers[1].messages.size();
  BOOST_CHECK_GE(full, 3u);
  BOOST_CHECK_LE(full, 5u);
  side.outgoing.progress(true);
  BOOST_CHECK_EQUAL(side.port.peers[1].messages.size(), full + 1);
  BOOST_CHECK_EQUAL(tasks_at(side, 1).size(), 100u);
}

BOOST_AUTO_TEST_CASE(a_target_without_room_holds_up_no_other) {
  Side side;
  side.port.peers[1].room = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    side.send(1, i, i % 3 == 0 ? 2000 : 8);
    side.send(2, i, 8);
    side.receive(2);
  }
  side.outgoing.progress(true);
  BOOST_CHECK(side.port.peers[1].messages.empty());
  BOOST_CHECK_EQUAL(tasks_at(side, 2).size(), 200u);
  BOOST_CHECK_GT(side.outgoing.queued_bytes(1), 60u * 2000);
  BOOST_CHECK_EQUAL(side.outgoing.queued_bytes(2), 0u);
  side.port.peers[1].room = 100000;
  side.outgoing.progress(true);
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
      if (random() % 9 == 0) side.outgoing.progress(random() % 2 == 0);
    }
    for (auto& peer : side.port.peers) peer.second.room = 1000000;
    side.outgoing.progress(true);
    BOOST_CHECK(side.outgoing.is_empty());
    BOOST_CHECK_EQUAL(side.budget.used(), 0u);
    for (int pe = 1; pe < static_cast<int>(kPes); ++pe) BOOST_CHECK(tasks_at(side, pe) == expected[pe]);
  }
}

BOOST_AUTO_TEST_CASE(damaged_pieces_are_rejected) {
  Budget budget;
  budget.open(0, std::size_t{1} << 30);
  Incoming incoming(budget);
  const std::vector<std::byte> data(100);
  BOOST_CHECK(!incoming.add_piece(1, {1, 5, 1000, 0}, data));         // does not begin at the begin
  BOOST_CHECK(!incoming.add_piece(1, {1, 0, 0xffffffffU, 0}, data));  // too long
  BOOST_CHECK(incoming.add_piece(1, {1, 0, 1000, 0}, data));
  BOOST_CHECK(!incoming.add_piece(1, {1, 200, 1000, 0}, data));  // leaves a hole
  BOOST_CHECK(!incoming.add_piece(1, {1, 100, 999, 0}, data));   // another length
  BOOST_CHECK(incoming.add_piece(2, {1, 0, 150, 0}, data));
  BOOST_CHECK(!incoming.add_piece(2, {1, 100, 150, 0}, data));  // goes beyond the end
  BOOST_CHECK_EQUAL(incoming.partial_count(), 2u);
  incoming.clear();
  BOOST_CHECK_EQUAL(budget.used(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()
