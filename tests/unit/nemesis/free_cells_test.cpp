#include "bench/queue/free_cells.hpp"

#include <boost/mp11/list.hpp>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <vector>

#include "nemesis/memory.hpp"

BOOST_AUTO_TEST_SUITE(nemesis_free_cells)

namespace {

using namespace shmemx::nemesis;
using queue_test::Memory;
using queue_test::word_at;
using shmemx::kCacheLine;

constexpr std::size_t kStep = 4 * kCacheLine;
constexpr int kProcesses = 4;

template <class Free>
Free make(const Memory& memory);
template <>
FreeAtSender make(const Memory& memory) {
  return {&memory.middle<MpscQueue>(), kStep};
}
template <>
FreeAtReceiver make(const Memory& memory) {
  return {&memory.middle<CellStack>(), kStep};
}
template <>
FreeGlobal make(const Memory& memory) {
  return FreeGlobal(memory.middle<CellStack>());
}

using Variations = boost::mp11::mp_list<FreeAtSender, FreeAtReceiver, FreeGlobal>;

}  // namespace

BOOST_AUTO_TEST_CASE(layouts) {
  BOOST_CHECK_EQUAL(sizeof(CellStack), kCacheLine);
  Memory memory(4);
  auto& stack = memory.middle<CellStack>();
  stack.push(memory.cell(1));  // one line before the stack
  BOOST_CHECK_EQUAL(word_at(&stack, 0).load(), 0xffffffffU);
  BOOST_CHECK_EQUAL(stack.try_pop(), memory.cell(1));
  BOOST_CHECK_EQUAL(word_at(&stack, 0).load(), std::uint64_t{1} << 32);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(zeros_hold_no_cell, Free, Variations) {
  Memory memory(2);
  const Free free = make<Free>(memory);
  for (int sender = 0; sender < kProcesses; ++sender)
    for (int receiver = 0; receiver < kProcesses; ++receiver) BOOST_CHECK(free.try_take(sender, receiver) == nullptr);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_cell_given_is_taken_once, Free, Variations) {
  Memory memory(100);
  const Free free = make<Free>(memory);
  for (std::size_t i = 0; i < memory.cells(); ++i) free.give_back(memory.cell(i), 1, 2);
  std::set<Cell*> taken;
  while (Cell* const cell = free.try_take(1, 2)) BOOST_CHECK(taken.insert(cell).second);
  BOOST_CHECK_EQUAL(taken.size(), memory.cells());
  for (std::size_t i = 0; i < memory.cells(); ++i) BOOST_CHECK_EQUAL(taken.count(memory.cell(i)), 1U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cells_are_never_lost_nor_doubled, Free, Variations) {
  Memory memory(24, 192);
  const Free free = make<Free>(memory);
  std::set<Cell*> free_now;
  std::vector<Cell*> out;
  for (std::size_t i = 0; i < memory.cells(); ++i) {
    free.give_back(memory.cell(i), 3, 3);
    free_now.insert(memory.cell(i));
  }
  std::minstd_rand random(11);
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      Cell* const cell = free.try_take(3, 3);
      BOOST_REQUIRE_EQUAL(cell == nullptr, free_now.empty());
      if (cell == nullptr) continue;
      BOOST_REQUIRE_EQUAL(free_now.erase(cell), 1U);
      cell->next.store(random());  // the receive queue writes there
      out.push_back(cell);
    } else if (!out.empty()) {
      const std::size_t which = random() % out.size();
      free.give_back(out[which], 3, 3);
      free_now.insert(out[which]);
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

BOOST_AUTO_TEST_CASE(senders_and_receivers_have_their_own_and_all_share_the_global_store) {
  Memory memory(4);
  const auto at_sender = make<FreeAtSender>(memory);
  at_sender.give_back(memory.cell(0), 1, 2);
  BOOST_CHECK(at_sender.try_take(2, 1) == nullptr);
  BOOST_CHECK_EQUAL(at_sender.try_take(1, 3), memory.cell(0));

  Memory second(4);
  const auto at_receiver = make<FreeAtReceiver>(second);
  at_receiver.give_back(second.cell(0), 1, 2);
  BOOST_CHECK(at_receiver.try_take(2, 1) == nullptr);
  BOOST_CHECK_EQUAL(at_receiver.try_take(3, 2), second.cell(0));

  Memory third(4);
  const auto global = make<FreeGlobal>(third);
  global.give_back(third.cell(0), 1, 2);
  BOOST_CHECK_EQUAL(global.try_take(3, 0), third.cell(0));
}

BOOST_AUTO_TEST_CASE(the_same_cell_on_top_again_is_another_top) {
  Memory memory(4);
  auto& stack = memory.middle<CellStack>();
  stack.push(memory.cell(0));
  stack.push(memory.cell(1));
  const std::uint64_t before = word_at(&stack, 0).load();
  // What a taker that was held up would miss: the cell below has gone, the one on top has come back.
  Cell* const top = stack.try_pop();
  Cell* const below = stack.try_pop();
  BOOST_CHECK_EQUAL(below, memory.cell(0));
  stack.push(top);
  const std::uint64_t after = word_at(&stack, 0).load();
  BOOST_CHECK_EQUAL(before & 0xffffffff, after & 0xffffffff);
  BOOST_CHECK(before != after);
}

BOOST_AUTO_TEST_CASE(the_number_of_pops_wraps_without_harm) {
  Memory memory(4);
  auto& stack = memory.middle<CellStack>();
  word_at(&stack, 0).store(std::uint64_t{0xffffffff} << 32);
  stack.push(memory.cell(0));
  stack.push(memory.cell(3));
  BOOST_CHECK_EQUAL(stack.try_pop(), memory.cell(3));
  BOOST_CHECK_EQUAL(stack.try_pop(), memory.cell(0));
  BOOST_CHECK(stack.try_pop() == nullptr);
  BOOST_CHECK_EQUAL(word_at(&stack, 0).load(), std::uint64_t{1} << 32);
}

BOOST_AUTO_TEST_SUITE_END()
