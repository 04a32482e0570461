#include "tasks/wire.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(tasks_wire)

namespace {

using namespace shmemx;
using namespace shmemx::tasks;

std::vector<std::byte> filled_bytes(std::size_t bytes, std::size_t value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

}  // namespace

BOOST_AUTO_TEST_CASE(tasks_of_a_batch_come_out_as_they_were_put_in) {
  const auto batch = std::make_unique<am::Batch>();
  batch->limit(4000);
  std::size_t count = 0;
  for (; batch->has_room(count % 90 + kMostHeadBytes); ++count) {
    const auto payload = filled_bytes(count % 90, count);
    const std::uint16_t kind = count % 2 == 0 ? kPlain : kCall;
    const int priority = count % 3 == 0 ? 0 : static_cast<int>(count) - 20;
    const NewTask task{3,    static_cast<std::uint16_t>(count * 7), priority, payload,
                       kind, {7, static_cast<std::uint32_t>(count)}};
    const Heads heads(task);
    batch->append(task.id, heads.bytes(), task.payload, heads.detail());
  }
  BOOST_REQUIRE_LE(batch->whole().size(), 4000u);
  BOOST_REQUIRE_GT(count, 40u);
  Bytes rest = batch->whole();
  TaskView task;
  for (std::size_t i = 0; i < count; ++i) {
    BOOST_REQUIRE(take_task(rest, task));
    BOOST_REQUIRE_EQUAL(task.id, static_cast<std::uint16_t>(i * 7));
    BOOST_REQUIRE_EQUAL(task.priority, i % 3 == 0 ? 0 : static_cast<int>(i) - 20);
    BOOST_REQUIRE_EQUAL(task.kind, i % 2 == 0 ? kPlain : kCall);
    if (i % 2 != 0) BOOST_REQUIRE_EQUAL(task.call.generation, i);
    BOOST_REQUIRE_EQUAL(task.payload.size(), i % 90);
    for (const std::byte byte : task.payload) BOOST_REQUIRE(byte == static_cast<std::byte>(i));
  }
  BOOST_CHECK(rest.empty());
}

BOOST_AUTO_TEST_CASE(a_task_alone_needs_no_padding) {
  const auto payload = filled_bytes(5, 9);
  const NewTask task{0, 65535, -4, payload};
  const ItemHeads heads(task);
  std::vector<std::byte> message(heads.bytes().begin(), heads.bytes().end());
  message.insert(message.end(), payload.begin(), payload.end());
  Bytes rest(message);
  TaskView view;
  BOOST_REQUIRE(take_task(rest, view));
  BOOST_CHECK(rest.empty() && view.id == 65535 && view.priority == -4 && view.payload.size() == 5);
  for (std::size_t length = 0; length < message.size(); ++length) {
    Bytes cut = Bytes(message).first(length);
    BOOST_CHECK(!take_task(cut, view));
  }
}

// Views of rubbish lie inside the message, or there are none.
BOOST_AUTO_TEST_CASE(rubbish_is_rejected_or_stays_inside) {
  std::mt19937 random(11);
  for (int round = 0; round < 200000; ++round) {
    std::vector<std::byte> message(random() % 64);
    for (std::byte& byte : message) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 3);
    Bytes rest(message);
    TaskView task;
    while (!rest.empty()) {
      const std::size_t before = rest.size();
      if (!take_task(rest, task)) break;
      BOOST_REQUIRE_LT(rest.size(), before);
      if (task.payload.empty()) continue;
      BOOST_REQUIRE(task.payload.data() >= message.data());
      BOOST_REQUIRE(task.payload.data() + task.payload.size() <= message.data() + message.size());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
