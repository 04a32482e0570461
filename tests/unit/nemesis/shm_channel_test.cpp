// A node whose PEs live in one process: first on one thread, step by step, then each on a thread of its own.
#include "nemesis/shm_channel.hpp"

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_node.hpp"
#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(nemesis_shm_channel)

namespace {

using namespace shmemx;
using namespace shmemx::nemesis;
using namespace queue_test;

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_message_announces_the_box) {
  Node node(2);
  BOOST_CHECK(!node[0].channel.try_send_in_box(1, kNumbered, {}, {}));
  BOOST_CHECK(node[0].send(1, 300) && node[0].send(1, 8));
  BOOST_CHECK(!node[1].poll_box(0));  // its cell has not been received
  BOOST_CHECK(node[1].channel.has_cells() && node[1].channel.has_messages());
  BOOST_CHECK(node[1].poll());
  BOOST_CHECK_EQUAL(node[1].by_cell, 1u);
  BOOST_CHECK_EQUAL(node[1].by_box, 1u);
  BOOST_CHECK(!node[1].poll() && !node[1].channel.has_messages());
  BOOST_CHECK(node[0].send(1, 8));
  BOOST_CHECK(!node[1].channel.has_cells() && node[1].channel.has_messages());
  BOOST_CHECK(node[1].poll_box(0));
  BOOST_CHECK_EQUAL(node[1].bad, 0u);
}

// Three PEs of a job of ten share a node: the region has parts for them only, wherever their numbers lie.
BOOST_AUTO_TEST_CASE(pes_of_a_node_have_any_numbers) {
  static constexpr PeLocation kWhere[10] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {0, 2},
                                            {1, 1}, {2, 1}, {2, 2}, {2, 3}, {1, 2}};
  for (const auto& [pes, numbers] :
       {std::pair{NodePes(kWhere), std::array{2, 5, 9}}, std::pair{NodePes(Pe{6}), std::array{6, 7, 8}}}) {
    const NodeMemory memory(3, 512, 16, pes);
    std::vector<std::unique_ptr<FakePe>> node(10);
    for (const int pe : numbers)
      node[static_cast<std::size_t>(pe)] = std::make_unique<FakePe>(memory, pe, node.size(), pes);
    for (int round = 0; round < 5; ++round) {
      for (const int from : numbers) {
        for (const int to : numbers) {
          if (from == to) continue;
          FakePe& sender = *node[static_cast<std::size_t>(from)];
          BOOST_CHECK(sender.send(to, round % 2 == 0 ? 8 : 300) && sender.send(to, 8));
        }
      }
      for (const int pe : numbers) {
        FakePe& receiver = *node[static_cast<std::size_t>(pe)];
        while (receiver.poll()) continue;
        BOOST_CHECK_EQUAL(receiver.received, 4U * (static_cast<unsigned>(round) + 1));
        BOOST_CHECK_EQUAL(receiver.bad, 0U);
        BOOST_CHECK_GT(receiver.by_box, 0U);
      }
      for (const int from : numbers) {
        for (const int to : numbers) {
          if (from == to) continue;
          ShmChannel& channel = node[static_cast<std::size_t>(from)]->channel;
          BOOST_CHECK(channel.has_executed(to, channel.last_sent(to)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_source_outside_the_node_ends_the_receiver) {
  for (const int source : {3, 9, 10}) {
    const auto end = unit::in_child([&] {
      const NodePes pes(Pe{4});
      const NodeMemory memory(3, 512, 16, pes);
      FakePe receiver(memory, 4, 10, pes);
      FakePe sender(memory, 5, 10, pes);
      sender.send(4, 8);
      CellHeader::of(memory.parts.cell(5, 0)).source = static_cast<std::uint32_t>(source);
      receiver.poll();
      return 0;
    });
    BOOST_CHECK_NE(end.status, 0);
    BOOST_CHECK_MESSAGE(end.text.find("comes from PE " + std::to_string(source)) != std::string::npos, end.text);
  }
}

BOOST_AUTO_TEST_CASE(a_cell_waits_for_the_messages_in_the_box) {
  Node node(2);
  BOOST_CHECK(node[0].send(1, 300));
  BOOST_CHECK(node[1].poll());
  for (const std::size_t bytes : {8U, 300U, 8U, 8U, 300U, 300U, 8U}) BOOST_CHECK(node[0].send(1, bytes));
  while (node[1].poll()) continue;
  BOOST_CHECK_EQUAL(node[1].received, 8u);
  BOOST_CHECK_EQUAL(node[1].by_cell, 4u);
  BOOST_CHECK_EQUAL(node[1].bad, 0u);
}

BOOST_AUTO_TEST_CASE(a_message_may_be_taken_without_delivery) {
  Node node(2);
  BOOST_CHECK(node[0].send(1, 8));
  BOOST_CHECK(node[1].poll());
  BOOST_CHECK(node[0].send(1, 8));
  std::size_t bytes = 0;
  const auto take = [&](Bytes payload) { return (bytes = payload.size()) != 0; };
  // By the line, by the box.
  for (const Number number : {2U, 3U}) {
    BOOST_CHECK((node[1].channel.take_next(0, kNumbered + 1, take) == Taken::not_it));
    BOOST_CHECK((node[1].channel.take_next(0, kNumbered, [](Bytes) { return false; }) == Taken::not_it));
    BOOST_CHECK((node[1].channel.take_next(0, kNumbered, take) == Taken::yes));
    BOOST_CHECK_EQUAL(bytes, 16u);
    BOOST_CHECK((node[1].channel.take_next(0, kNumbered, take) == Taken::nothing));
    BOOST_CHECK(node[0].channel.has_executed(1, number));
    BOOST_CHECK(node[0].send(1, 8));
  }
}

BOOST_AUTO_TEST_CASE(the_sender_learns_what_has_been_executed) {
  Node node(3);
  BOOST_CHECK(node[0].send(1, 8) && node[0].send(1, 300) && node[0].send(2, 8));
  BOOST_CHECK_EQUAL(node[0].unflushed.size(), 2u);
  BOOST_CHECK_EQUAL(node[0].channel.last_sent(1), 2u);
  BOOST_CHECK(!node[0].channel.has_executed(1, 1));
  node[1].poll();
  BOOST_CHECK(node[0].channel.has_executed(1, 1) && node[0].channel.has_executed(1, 2));
  node[0].unflushed.drop([&](int pe) { return node[0].channel.drop_if_flushed(pe); });
  BOOST_CHECK_EQUAL(node[0].unflushed.size(), 1u);
  BOOST_CHECK_EQUAL(node[0].unflushed.at(0), 2);
  BOOST_CHECK_EQUAL(node[0].unflushed.at(1), -1);
  BOOST_CHECK(node[0].send(1, 8));
  BOOST_CHECK_EQUAL(node[0].unflushed.size(), 2u);
}

BOOST_AUTO_TEST_CASE(kept_cells_are_missing_until_they_are_given_back) {
  Node node(2, 8);  // a peer may hold 5
  node[1].keeps_cells = true;
  int sent = 0;
  while (node[0].send(1, 300)) ++sent;
  BOOST_CHECK_EQUAL(sent, 5);
  BOOST_CHECK(node[1].poll());
  BOOST_CHECK(node[0].channel.has_executed(1, 5));
  BOOST_CHECK(!node[0].send(1, 300));
  BOOST_CHECK(node[0].send(1, 300, CellUse::reply));
  node[1].channel.give_back(node[1].kept.front());
  node[1].channel.give_back(node[1].kept[1]);
  BOOST_CHECK(node[0].send(1, 300));
  BOOST_CHECK(!node[0].send(1, 300));
}

BOOST_AUTO_TEST_CASE(a_long_message_lies_behind_the_box) {
  Node node(2);
  node[0].behind_box = true;
  BOOST_CHECK(!node[0].channel.try_send_behind_box(1, kNumbered, {}, {}));  // the box has not been announced
  BOOST_CHECK(node[0].send(1, 300));
  BOOST_CHECK(node[1].poll());
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < kBoxSlots; ++i) BOOST_CHECK(node[0].send(1, i % 2 == 0 ? kMaxBytes : 8));
    BOOST_CHECK(!node[1].channel.has_cells());
    while (node[1].poll_box(0)) continue;
  }
  BOOST_CHECK_EQUAL(node[1].by_cell, 1u);
  BOOST_CHECK_EQUAL(node[1].by_box, 20 * kBoxSlots);
  BOOST_CHECK_EQUAL(node[1].bad, 0u);
  const std::vector<std::byte> data(300, std::byte{4});
  BOOST_CHECK(node[0].channel.try_send_behind_box(1, kNumbered, {}, data));
  const auto take = [&](Bytes payload) { return payload.size() == 300 && payload[299] == std::byte{4}; };
  BOOST_CHECK((node[1].channel.take_next(0, kNumbered, take) == Taken::yes));
}

// 16 cells: 4 may lie behind boxes. A receiver that never polls holds its own, and the queue takes what finds none.
BOOST_AUTO_TEST_CASE(cells_behind_boxes_follow_the_traffic) {
  constexpr std::size_t kPes = 7;
  Node node(kPes, 16);
  node[0].behind_box = true;
  for (std::size_t pe = 1; pe < kPes; ++pe) {
    BOOST_CHECK(node[0].send(static_cast<int>(pe), 8));
    BOOST_CHECK(node[pe].poll());
  }
  BOOST_CHECK(node[0].send(1, 300));  // stays unread
  std::uint64_t by_box = 0;
  for (int round = 0; round < 200; ++round) {
    const std::size_t pe = 2 + static_cast<std::size_t>(round) / 40;
    BOOST_CHECK(node[0].send(static_cast<int>(pe), 300));
    by_box -= node[pe].by_box;
    BOOST_CHECK(node[pe].poll());
    by_box += node[pe].by_box;
  }
  BOOST_CHECK_GT(by_box, 100u);
  BOOST_CHECK(node[1].poll_box(0));
  for (std::size_t pe = 1; pe < kPes; ++pe) BOOST_CHECK_EQUAL(node[pe].bad, 0u);
}

BOOST_AUTO_TEST_CASE(a_cell_that_does_not_exist_ends_the_receiver) {
  for (const bool wrong_cell : {false, true}) {
    const auto end = unit::in_child([&] {
      Node node(2);
      node[0].behind_box = true;
      node[0].send(1, 8);
      node[1].poll();
      node[0].send(1, 300);
      BoxSlot& slot = node.memory.parts.box(1, 0).slots[0];
      if (wrong_cell) {
        slot.head[2] = 16;
      } else {
        slot.payload[2] = std::byte{1};
      }
      node[1].poll();
      return 0;
    });
    BOOST_CHECK_NE(end.status, 0);
    BOOST_CHECK_MESSAGE(end.text.find(wrong_cell ? "lies in cell 16" : "has 65844 bytes") != std::string::npos,
                        end.text);
  }
}

// Messages to a PE that does not poll: one in the line, four in the box, then cells of 512 bytes. A cell holds 14 of 16
// bytes: one behind its own header, and 32 bytes for each further one.
BOOST_AUTO_TEST_CASE(short_messages_share_a_cell) {
  Node node(2, 8);  // a peer may hold 5
  BOOST_CHECK(node[0].send(1, 8));
  BOOST_CHECK(node[1].poll());
  unsigned sent = 0;
  while (node[0].send(1, 8)) ++sent;
  BOOST_CHECK_EQUAL(sent, 1 + kBoxSlots + 5 * 15U);
  BOOST_CHECK(node[1].poll());
  BOOST_CHECK(node[0].send(1, 8));
  while (node[1].poll()) continue;
  BOOST_CHECK_EQUAL(node[1].received, sent + 2U);
  BOOST_CHECK_EQUAL(node[1].bad, 0u);
  BOOST_CHECK(node[0].channel.has_executed(1, node[0].channel.last_sent(1)));
}

// A cell that has come back takes no further message, also when it carries one to another PE; with a longer message in a
// cell of its own a shared one ends; the receiver of further ones finds in front what lies in the box.
BOOST_AUTO_TEST_CASE(a_shared_cell_ends) {
  Node node(3, 16);
  for (const int pe : {1, 2}) BOOST_CHECK(node[0].send(pe, 8));
  BOOST_CHECK(node[1].poll() && node[2].poll());
  for (int round = 0; round < 30; ++round) {
    for (unsigned i = 0; i < 8; ++i) BOOST_CHECK(node[0].send(1, 8));
    if (round % 3 == 0) {
      while (node[1].poll_box(0)) continue;  // there is room in the box again, and the cell is in the queue
      for (unsigned i = 0; i < 6; ++i) BOOST_CHECK(node[0].send(1, i * 12));
    }
    if (round % 2 == 0) BOOST_CHECK(node[0].send(1, 300) && node[0].send(1, 8));
    while (node[1].poll()) continue;
    BOOST_CHECK(!node[0].channel.try_send_in_shared_cell(1, kNumbered, {}, {}));
    for (unsigned i = 0; i < 8; ++i) BOOST_CHECK(node[0].send(2, 8));
    while (node[2].poll()) continue;
  }
  for (const std::size_t pe : {1U, 2U}) {
    BOOST_CHECK_EQUAL(node[pe].bad, 0u);
    BOOST_CHECK_EQUAL(node[pe].received, node[0].last_sent[pe]);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_shared_cell_ends_the_receiver) {
  for (const unsigned filled : {1U, 4U, 33U, 0xffffU}) {
    const auto end = unit::in_child([&] {
      Node node(2);
      for (unsigned i = 0; i < 8; ++i) node[0].send(1, 8);
      CellHeader& cell = CellHeader::of(node.memory.parts.cell(0, 0));
      BOOST_REQUIRE_NE(cell.filled.load(), 0);
      cell.filled.store(static_cast<std::uint16_t>(filled));
      node[1].poll();
      return 0;
    });
    BOOST_CHECK_NE(end.status, 0);
    BOOST_CHECK_MESSAGE(end.text.find("cell 0 of PE 0 holds what no PE") != std::string::npos, end.text);
  }
}

BOOST_AUTO_TEST_CASE(random_messages_keep_their_order) {
  constexpr std::size_t kPes = 4;
  Node node(kPes, 8);
  node[1].behind_box = node[3].behind_box = true;
  std::minstd_rand random(5);
  for (int step = 0; step < 40'000; ++step) {
    FakePe& pe = node[random() % kPes];
    switch (random() % 4) {
      case 0:
        pe.poll();
        break;
      case 1:
        pe.poll_box(static_cast<int>(random() % kPes));
        break;
      default:  // to itself, too; it may find no room
        pe.send(static_cast<int>(random() % kPes), random() % 3 == 0 ? random() % kMaxBytes : random() % 100);
        break;
    }
  }
  for (bool any = true; any;) {
    any = false;
    for (auto& pe : node.pes) any |= pe->poll();
  }
  for (std::size_t target = 0; target < kPes; ++target) {
    BOOST_CHECK_EQUAL(node[target].bad, 0u);
    BOOST_CHECK_GT(node[target].by_box, 500u);
    BOOST_CHECK_GT(node[target].by_cell, 500u);
    for (std::size_t source = 0; source < kPes; ++source) {
      BOOST_CHECK_EQUAL(node[target].last[source], node[source].last_sent[target]);
      BOOST_CHECK(node[source].channel.has_executed(static_cast<int>(target),
                                                    node[source].channel.last_sent(static_cast<int>(target))));
    }
  }
}

BOOST_AUTO_TEST_CASE(threads_as_pes_send_to_all) {
  constexpr std::size_t kPes = 3;
  constexpr std::uint64_t kEach = 3000;
  Node node(kPes, 8);
  std::atomic<std::size_t> complete{0};
  node[0].behind_box = node[1].behind_box = true;
  const auto run = [&](std::size_t me) {
    FakePe& pe = node[me];
    const auto wait = [&] {
      if (!pe.poll()) std::this_thread::yield();
    };
    for (std::uint64_t i = 0; i < kEach; ++i) {
      for (std::size_t target = 0; target < kPes; ++target) {
        while (!pe.send(static_cast<int>(target), i * 37 % 11 == 0 ? i % kMaxBytes : i % 90)) wait();
      }
    }
    for (std::size_t target = 0; target < kPes; ++target) {
      while (!pe.channel.has_executed(static_cast<int>(target), kEach)) wait();
    }
    complete.fetch_add(1);
    while (complete.load() != kPes) wait();
  };
  std::vector<std::thread> threads;
  for (std::size_t me = 0; me < kPes; ++me) threads.emplace_back(run, me);
  for (std::thread& thread : threads) thread.join();
  for (std::size_t me = 0; me < kPes; ++me) {
    BOOST_CHECK_EQUAL(node[me].bad, 0u);
    BOOST_CHECK_EQUAL(node[me].received, kPes * kEach);
    BOOST_CHECK_GT(node[me].by_box, 0u);
    BOOST_CHECK_GT(node[me].by_cell, 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
