#include "nemesis/mpsc_queue.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/mp11/list.hpp>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <random>

#include "bench/queue/plain_queue.hpp"
#include "nemesis/memory.hpp"

BOOST_AUTO_TEST_SUITE(nemesis_mpsc_queue)

namespace {

using queue_test::Memory;
using queue_test::word_at;
using shmemx::kCacheLine;
using shmemx::nemesis::Cell;
using shmemx::nemesis::MpscQueue;
using shmemx::nemesis::PlainQueue;

using Queues = boost::mp11::mp_list<MpscQueue, PlainQueue>;

constexpr std::size_t kHead = 0;
constexpr std::size_t kTail = 8;
constexpr std::size_t kShadow = kCacheLine;

// The two steps of enqueue, by the layout.
template <class Queue>
std::uint64_t take_place(Queue& queue, Cell* cell) {
  cell->next.store(0);
  return word_at(&queue, kTail).exchange(shmemx::nemesis::distance(&queue, cell));
}
template <class Queue>
void link(Queue& queue, std::uint64_t prev, Cell* cell) {
  shmemx::nemesis::cell_at(&queue, prev)->next.store(shmemx::nemesis::distance(&queue, cell));
}

}  // namespace

BOOST_AUTO_TEST_CASE(head_and_tail_share_a_line_and_the_consumers_head_has_its_own) {
  Memory memory(4);
  auto& queue = memory.middle<MpscQueue>();
  BOOST_CHECK_EQUAL(sizeof(MpscQueue), 2 * kCacheLine);
  BOOST_CHECK_EQUAL(sizeof(PlainQueue), kCacheLine);
  BOOST_CHECK_EQUAL(sizeof(Cell), 8U);
  const auto at = [&](std::size_t i) { return shmemx::nemesis::distance(&queue, memory.cell(i)); };
  queue.enqueue(memory.cell(0));
  queue.enqueue(memory.cell(3));
  BOOST_CHECK_EQUAL(word_at(&queue, kHead).load(), at(0));
  BOOST_CHECK_EQUAL(word_at(&queue, kTail).load(), at(3));
  BOOST_CHECK_EQUAL(word_at(&queue, kShadow).load(), 0U);
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(0));
  BOOST_CHECK_EQUAL(word_at(&queue, kHead).load(), 0U);
  BOOST_CHECK_EQUAL(word_at(&queue, kShadow).load(), at(3));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(3));
  BOOST_CHECK_EQUAL(word_at(&queue, kTail).load(), 0U);
  BOOST_CHECK_EQUAL(word_at(&queue, kShadow).load(), 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(zeros_are_an_empty_queue, Queue, Queues) {
  Memory memory(2);
  auto& queue = memory.middle<Queue>();
  BOOST_CHECK(queue.try_dequeue() == nullptr);
  BOOST_CHECK(queue.try_dequeue() == nullptr);
  queue.enqueue(memory.cell(1));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(1));
  BOOST_CHECK(queue.try_dequeue() == nullptr);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cells_come_out_in_the_order_in_which_they_went_in, Queue, Queues) {
  Memory memory(37);
  auto& queue = memory.middle<Queue>();
  std::deque<Cell*> out;
  for (std::size_t i = 0; i < memory.cells(); ++i) out.push_back(memory.cell(i));
  std::deque<Cell*> in;
  std::minstd_rand random(7);
  for (int step = 0; step < 20000; ++step) {
    // Long runs up and down, so that the queue is often empty and often full.
    const bool wants_in = random() % 100 < ((step / 500) % 2 == 0 ? 70U : 30U);
    if (wants_in && !out.empty()) {
      Cell* const cell = out.front();
      out.pop_front();
      cell->next.store(random());  // what a cell brings along does not matter
      queue.enqueue(cell);
      in.push_back(cell);
    } else {
      Cell* const cell = queue.try_dequeue();
      BOOST_REQUIRE_EQUAL(cell, in.empty() ? nullptr : in.front());
      if (cell == nullptr) continue;
      in.pop_front();
      out.push_back(cell);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_producer_between_its_steps_hides_what_is_behind_it, Queue, Queues) {
  Memory memory(4);
  auto& queue = memory.middle<Queue>();
  queue.enqueue(memory.cell(0));
  queue.enqueue(memory.cell(1));
  const std::uint64_t prev = take_place(queue, memory.cell(2));
  queue.enqueue(memory.cell(3));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(0));
  for (int i = 0; i < 3; ++i) BOOST_CHECK(queue.try_dequeue() == nullptr);
  link(queue, prev, memory.cell(2));
  for (std::size_t i = 1; i < 4; ++i) BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(i));
  BOOST_CHECK(queue.try_dequeue() == nullptr);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_place_behind_the_only_cell_keeps_that_cell, Queue, Queues) {
  Memory memory(3);
  auto& queue = memory.middle<Queue>();
  queue.enqueue(memory.cell(0));
  const std::uint64_t prev = take_place(queue, memory.cell(1));
  for (int i = 0; i < 3; ++i) BOOST_CHECK(queue.try_dequeue() == nullptr);
  link(queue, prev, memory.cell(1));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(0));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(1));
  BOOST_CHECK(queue.try_dequeue() == nullptr);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_place_in_an_empty_queue_is_nothing_yet, Queue, Queues) {
  Memory memory(2);
  auto& queue = memory.middle<Queue>();
  const std::uint64_t prev = take_place(queue, memory.cell(0));
  BOOST_CHECK_EQUAL(prev, 0U);
  queue.enqueue(memory.cell(1));
  for (int i = 0; i < 3; ++i) BOOST_CHECK(queue.try_dequeue() == nullptr);
  link(queue, prev, memory.cell(0));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(0));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(1));
  BOOST_CHECK(queue.try_dequeue() == nullptr);
}

BOOST_AUTO_TEST_CASE(first_cell_shows_it_even_where_it_cannot_leave) {
  Memory memory(3);
  auto& queue = memory.middle<MpscQueue>();
  BOOST_CHECK(queue.maybe_empty());
  BOOST_CHECK(queue.first_cell() == nullptr);
  const std::uint64_t first_prev = take_place(queue, memory.cell(0));
  BOOST_CHECK(queue.maybe_empty());
  BOOST_CHECK(queue.first_cell() == nullptr);
  link(queue, first_prev, memory.cell(0));
  BOOST_CHECK(!queue.maybe_empty());
  const std::uint64_t prev = take_place(queue, memory.cell(1));
  BOOST_CHECK(queue.try_dequeue() == nullptr);
  BOOST_CHECK_EQUAL(queue.first_cell(), memory.cell(0));
  BOOST_CHECK_EQUAL(queue.first_cell(), memory.cell(0));
  BOOST_CHECK(!queue.maybe_empty());
  link(queue, prev, memory.cell(1));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(0));
  BOOST_CHECK_EQUAL(queue.first_cell(), memory.cell(1));
  queue.enqueue(memory.cell(2));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(1));
  BOOST_CHECK_EQUAL(queue.try_dequeue(), memory.cell(2));
  BOOST_CHECK(queue.first_cell() == nullptr);
  BOOST_CHECK(queue.maybe_empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(processes_may_map_it_at_different_addresses, Queue, Queues) {
  constexpr std::size_t kBytes = 8192;
  const int file = memfd_create("queue_test", MFD_CLOEXEC);
  BOOST_REQUIRE(file >= 0 && ftruncate(file, kBytes) == 0);
  std::byte* views[2];
  for (std::byte*& view : views) {
    view = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    BOOST_REQUIRE(view != MAP_FAILED);
  }
  BOOST_CHECK(views[0] != views[1]);
  const auto queue_in = [&](int view) { return reinterpret_cast<Queue*>(views[view] + 4096); };
  const auto cell_in = [&](int view, std::size_t i) { return reinterpret_cast<Cell*>(views[view] + i * 2048); };
  for (const std::size_t i : {0, 1, 3}) queue_in(static_cast<int>(i % 2))->enqueue(cell_in(static_cast<int>(i % 2), i));
  for (const std::size_t i : {0, 1, 3}) BOOST_CHECK_EQUAL(queue_in(1)->try_dequeue(), cell_in(1, i));
  BOOST_CHECK(queue_in(1)->try_dequeue() == nullptr);
  for (std::byte* view : views) munmap(view, kBytes);
  close(file);
}

BOOST_AUTO_TEST_SUITE_END()
