// The engine of two-sided messages: choice of the LMT, transfers between nodes, limits, and malformed messages.
#include <boost/test/unit_test.hpp>
#include <random>

#include "../../support/pattern.hpp"
#include "pt2pt/thresholds.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_engine)

using namespace simulated;

namespace {

// A contiguous buffer in the heap of a PE, or allocated.
struct Memory {
  std::vector<std::byte> own;
  std::byte* base = nullptr;
};

// Sends a long message between PEs of two nodes. Each buffer is contiguous or strided.
struct Internode {
  LmtKind kind;
  std::size_t placed;
  int memory_reads;
};
Internode send_between_nodes(LmtChoice choice, bool list_at_sender, bool list_at_receiver, std::size_t bytes) {
  Job job(2, plain_settings(choice), kHeapBytes, 1);
  std::vector<std::byte> from = test_support::pattern<std::byte>(bytes, 9);
  std::vector<std::byte> to(bytes);
  const auto shape = [&](std::vector<std::byte>& memory, bool list) {
    Shape out = Shape::contiguous(memory.data(), bytes);
    if (list) {
      out =
          Shape::strided(memory.data() + bytes - bytes / 10, bytes / 10, -static_cast<std::ptrdiff_t>(bytes / 10), 10);
    }
    return out;
  };
  const Shape source = shape(from, list_at_sender);
  const Shape dest = shape(to, list_at_receiver);
  SendRequest* const send = job.engine(0).send(Cursor(source), 1, 5, {});
  ReceiveRequest* const receive = job.engine(1).receive(Cursor(dest), {0, 5}, false);
  job.run();
  BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
  std::vector<std::byte> sent(bytes);
  std::vector<std::byte> received(bytes);
  Cursor(source).gather(sent.data(), bytes);
  Cursor(dest).gather(received.data(), bytes);
  BOOST_TEST((sent == received));
  BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
  return {receive->transfer.kind, job.placed, job.platform(0).memory_reads + job.platform(1).memory_reads};
}

// Sends 300,000 bytes from PE 0 to PE 1 and returns the LMT that the receive chose.
LmtKind lmt_used(Job& job, Memory&& from, Memory&& to) {
  const std::vector<std::byte> data = test_support::pattern<std::byte>(300'000, 3);
  std::memcpy(from.base, data.data(), data.size());
  SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(from.base, data.size())), 1, 5, {});
  ReceiveRequest* const receive = job.engine(1).receive(Cursor(Shape::contiguous(to.base, data.size())), {0, 5}, true);
  job.run();
  BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
  BOOST_TEST(std::memcmp(to.base, data.data(), data.size()) == 0);
  return receive->transfer.kind;
}

Memory of_heap(Job& job, int pe) {
  Memory memory;
  memory.base = job.platform(pe).heap.data();
  return memory;
}
Memory of_malloc() {
  Memory memory;
  memory.own.resize(300'000);
  memory.base = memory.own.data();
  return memory;
}

}  // namespace

BOOST_AUTO_TEST_CASE(memory_and_permissions_select_the_lmt) {
  {
    Job job(2, plain_settings(LmtChoice::automatic));
    BOOST_TEST((lmt_used(job, of_heap(job, 0), of_malloc()) == LmtKind::mapped));
    BOOST_TEST((lmt_used(job, of_malloc(), of_heap(job, 1)) == LmtKind::mapped));
    job.platform(1).has_buffers = false;
    BOOST_TEST((lmt_used(job, of_heap(job, 0), of_malloc()) == LmtKind::mapped));
    BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::cma));
  }
  Settings crowded = plain_settings(LmtChoice::automatic);
  crowded.crowded = true;
  Job job(2, crowded);
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::cma));
}

BOOST_AUTO_TEST_CASE(a_range_of_several_cells_waits_for_its_receive_where_pes_have_cores) {
  std::vector<std::byte> data(16'000);
  for (const bool crowded : {false, true}) {
    for (const bool blocks : {false, true}) {
      Settings settings = plain_settings(LmtChoice::automatic);
      settings.crowded = crowded;
      Job job(2, settings);
      const Shape shape =
          blocks ? Shape::strided(data.data(), 12, 16, 1000) : Shape::contiguous(data.data(), data.size());
      SendRequest* const send = job.engine(0).send(Cursor(shape), 1, 5, {});
      BOOST_TEST((send->phase == Phase::complete) == (crowded || blocks));
      const SendRequest* const shorter = job.engine(0).send(Cursor(Shape::contiguous(data.data(), 8'000)), 1, 5, {});
      BOOST_TEST((shorter->phase == Phase::complete));
    }
  }
}

// One copy by one side, or two by both at once: where both are possible, time decides.
BOOST_AUTO_TEST_CASE(two_possible_lmts_are_both_tried) {
  for (const bool in_heap : {false, true}) {
    Job job(2, plain_settings(LmtChoice::automatic));
    int alone = 0;
    int together = 0;
    for (int i = 0; i < 8; ++i) {
      const LmtKind used = lmt_used(job, in_heap ? of_heap(job, 0) : of_malloc(), of_malloc());
      alone += used == (in_heap ? LmtKind::mapped : LmtKind::cma) ? 1 : 0;
      together += used == LmtKind::copy ? 1 : 0;
    }
    BOOST_TEST(alone == 4);
    BOOST_TEST(together == 4);
  }
}

BOOST_AUTO_TEST_CASE(the_faster_lmt_is_chosen_and_the_other_looked_at_again) {
  Measured measured;
  const auto choose = [&](std::size_t bytes) { return measured.choose(bytes, LmtKind::mapped, LmtKind::copy); };
  std::uint64_t copy_ns = 5000;
  const auto run = [&](int messages) {
    int copied = 0;
    for (int i = 0; i < messages; ++i) {
      const LmtKind kind = choose(65536);
      copied += kind == LmtKind::copy ? 1 : 0;
      if (measured.wants_time(65536)) measured.note(65536, kind, kind == LmtKind::copy ? copy_ns : 7000);
    }
    return copied;
  };
  BOOST_TEST(run(8) == 4);
  BOOST_TEST(run(1000) >= 990);
  measured.note(65536, LmtKind::copy, 50'000'000);  // one that was interrupted
  BOOST_TEST(run(1000) >= 990);
  copy_ns = 20'000;  // the program has begun to write its buffers, say
  run(1000);
  BOOST_TEST(run(1000) <= 10);
  copy_ns = 5000;
  run(5000);
  BOOST_TEST(run(1000) >= 990);
  BOOST_TEST((choose(1U << 20) == LmtKind::mapped));  // of another size nothing is known
}

BOOST_AUTO_TEST_CASE(looks_at_a_much_slower_lmt_take_little_of_the_time) {
  for (const std::uint64_t slow_ns : {8'000U, 40'000U, 400'000U}) {
    Measured measured;
    std::uint64_t total_ns = 0;
    std::uint64_t looks_ns = 0;
    for (int i = 0; i < 200'000; ++i) {
      const LmtKind kind = measured.choose(65536, LmtKind::cma, LmtKind::copy);
      const std::uint64_t ns = kind == LmtKind::copy ? slow_ns : 7'000;
      if (measured.wants_time(65536)) measured.note(65536, kind, ns);
      if (i < 8) continue;  // each is tried first
      total_ns += ns;
      looks_ns += kind == LmtKind::copy ? ns : 0;
    }
    BOOST_TEST(looks_ns != 0);
    BOOST_TEST(looks_ns < total_ns / 100);
  }
}

// The network writes an eager message of 16 KiB or more to the receive that waits for it, unless that is scattered, too
// short, or not there.
BOOST_AUTO_TEST_CASE(an_eager_message_is_placed_in_its_receive) {
  Job job(3, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  Engine& engine = job.engine(1);
  std::vector<std::byte> memory(40'000);
  const EagerHeader header{5, 20'000};
  const auto place = [&](int source) { return engine.eager_placement(source, am::bytes_of(header), 20'000); };
  BOOST_TEST(place(0) == nullptr);
  engine.eager_placed(0, 20'000);
  BOOST_TEST(job.platform(1).rejected == 1);
  ReceiveRequest* const list = engine.receive(Cursor(Shape::strided(memory.data(), 10, 20, 2000)), {0, 5}, false);
  BOOST_TEST(place(0) == nullptr);
  BOOST_TEST(engine.cancel(*list));
  ReceiveRequest* const tight = engine.receive(Cursor(Shape::contiguous(memory.data(), 19'999)), {0, 5}, false);
  BOOST_TEST(place(0) == nullptr);
  BOOST_TEST(engine.cancel(*tight));
  ReceiveRequest* const first = engine.receive(Cursor(Shape::contiguous(memory.data(), 40'000)), {kAny, 5}, false);
  ReceiveRequest* const second = engine.receive(Cursor(Shape::contiguous(memory.data(), 20'000)), {2, kAny}, true);
  BOOST_TEST(place(0) == memory.data());
  BOOST_TEST(!engine.cancel(*first));
  const DataHeader more{kEagerMessage, 0};
  std::vector<std::byte> part(sizeof more + 10);
  std::memcpy(part.data(), &more, sizeof more);
  engine.on_data(0, part);  // not inside a message that the network writes
  BOOST_TEST(job.platform(1).rejected == 2);
  BOOST_TEST(place(2) == memory.data());
  BOOST_TEST((first->phase != Phase::complete && second->phase != Phase::complete));
  engine.eager_placed(2, 20'000);
  engine.eager_placed(0, 20'000);
  BOOST_TEST((first->phase == Phase::complete && second->phase == Phase::complete));
  BOOST_TEST(first->result.bytes == 20'000U);
  BOOST_TEST(first->result.source == 0);
  BOOST_TEST(second->result.source == 2);
  BOOST_TEST(second->result.tag == 5);
  BOOST_TEST(job.platform(1).rejected == 2);
}

BOOST_AUTO_TEST_CASE(an_lmt_that_is_not_permitted_is_replaced) {
  Job job(2, plain_settings(LmtChoice::automatic));
  job.platform(1).may_read = false;
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::copy));
  job.platform(1).has_buffers = false;
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::queue));
  job.platform(0).maps_others = job.platform(1).maps_others = false;
  BOOST_TEST((lmt_used(job, of_heap(job, 0), of_malloc()) == LmtKind::queue));
}

// With any SHMEMX_LMT, no address, buffer or process number of another node is used.
BOOST_AUTO_TEST_CASE(between_nodes_all_data_are_sent_over_the_network) {
  for (int i = 0; i < 5; ++i) {
    const auto choice = static_cast<LmtChoice>(i);
    const Internode plain = send_between_nodes(choice, false, false, 20'000'000);
    BOOST_TEST((plain.kind == LmtKind::network));
    BOOST_TEST(plain.placed == 3U);  // directly in the memory of the receive
    const Internode packed = send_between_nodes(choice, true, false, 200'000);
    BOOST_TEST((packed.kind == LmtKind::network));
    BOOST_TEST(packed.placed == 2U);  // the first block, and the others
    const Internode scattered = send_between_nodes(choice, false, true, 2'000'000);
    BOOST_TEST((scattered.kind == LmtKind::network));
    const Internode both = send_between_nodes(choice, true, true, 2'000'000);
    BOOST_TEST(both.placed > 5U);  // blocks of 200,000 bytes fit each other
    BOOST_TEST(plain.memory_reads + packed.memory_reads + scattered.memory_reads + both.memory_reads == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_payload_without_a_place_is_rejected_or_delivered) {
  Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  std::vector<std::byte> memory(300'000);
  Engine& engine = job.engine(1);
  ReceiveRequest* const receive =
      engine.receive(Cursor(Shape::contiguous(memory.data(), memory.size())), {0, 5}, false);
  Request* const send = job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5,
                                           {});  // the test withholds its data
  BOOST_REQUIRE(job.deliver(0, 1));
  BOOST_REQUIRE((receive->phase == Phase::waiting && send->phase == Phase::waiting));
  const auto place = [&](DataHeader header, std::size_t bytes, int source = 0) {
    return engine.placement(source, am::bytes_of(header), bytes);
  };
  constexpr std::size_t kLeft = 300'000 - kOfferedBytes;
  BOOST_TEST(place({receive->id, kOfferedBytes}, kLeft + 1) == nullptr);
  BOOST_TEST(place({receive->id, 1}, 20'000) == nullptr);
  BOOST_TEST(place({receive->id, ~std::uint64_t{0}}, 20'000) == nullptr);
  BOOST_TEST(place({receive->id, 0}, 20'000, 1) == nullptr);  // of another PE
  BOOST_TEST(place({{receive->id.index, receive->id.generation + 1}, 0}, 20'000) == nullptr);
  BOOST_TEST(place({{1U << 30, 1}, 0}, 20'000) == nullptr);
  BOOST_TEST(place({kEagerMessage, 0}, 20'000) == nullptr);
  const std::byte few[3] = {};
  BOOST_TEST(engine.placement(0, few, 20'000) == nullptr);
  engine.placed(0, few, 20'000);
  BOOST_TEST(job.platform(1).rejected == 1);
  const DataHeader begin{receive->id, kOfferedBytes};
  engine.placed(0, am::bytes_of(begin), 20'000);  // without a call of placement()
  BOOST_TEST(job.platform(1).rejected == 2);
  BOOST_TEST(place(begin, 20'000) == memory.data() + kOfferedBytes);
  BOOST_TEST(place(begin, 20'000) == nullptr);
  BOOST_TEST((receive->phase == Phase::waiting));
}

BOOST_AUTO_TEST_CASE(several_payloads_may_be_in_progress) {
  Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  std::vector<std::byte> memory(kOfferedBytes + 300'000);
  std::byte* const rest = memory.data() + kOfferedBytes;
  Engine& engine = job.engine(1);
  ReceiveRequest* const receive =
      engine.receive(Cursor(Shape::contiguous(memory.data(), memory.size())), {0, 5}, false);
  SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5,
                                               {});  // the test withholds its data
  const Message offer = job.wire(0, 1).front();
  BOOST_TEST(engine.offer_placement(0, offer.bytes, kOfferedBytes) == memory.data());
  BOOST_TEST(engine.offer_placement(0, offer.bytes, kOfferedBytes) == nullptr);
  const DataHeader first{receive->id, kOfferedBytes};
  const DataHeader second{receive->id, kOfferedBytes + 100'000};
  BOOST_TEST(engine.placement(0, am::bytes_of(first), 100'000) == rest);
  BOOST_TEST(engine.placement(0, am::bytes_of(second), 200'001) == nullptr);
  BOOST_TEST(engine.placement(0, am::bytes_of(second), 200'000) == rest + 100'000);
  engine.placed(0, am::bytes_of(first), 100'000);
  engine.offer_placed(0, kOfferedBytes);
  BOOST_TEST((send->phase == Phase::waiting));
  BOOST_TEST((receive->phase == Phase::waiting));
  engine.placed(0, am::bytes_of(second), 200'000);
  BOOST_TEST((receive->phase == Phase::complete));
  BOOST_TEST(job.platform(1).rejected == 0);
}

// A PE of another node requests an LMT that works only within a node.
BOOST_AUTO_TEST_CASE(an_lmt_of_this_node_is_rejected_from_another_one) {
  for (const LmtKind kind : {LmtKind::copy, LmtKind::mapped, LmtKind::cma, LmtKind::queue}) {
    Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
    std::vector<std::byte> memory(300'000);
    SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5, {});
    Described<CtsHeader> cts{{send->id, {0, 1}, 1000, kind, 0, 0}, {Space::heap, 1, {{nullptr, 1000}}}};
    job.engine(0).on_cts(1, {reinterpret_cast<const std::byte*>(&cts), cts.bytes()});
    BOOST_TEST(job.platform(0).rejected == 1);
    BOOST_TEST((send->phase == Phase::waiting));
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_process_is_never_read) {
  Job job(2, plain_settings(LmtChoice::cma));
  RtsHeader rts{};
  rts.probe.pid = 1;  // another process, or one that may not be read
  rts.probe.address = reinterpret_cast<std::uintptr_t>(&rts.probe.value);
  rts.probe.value = 1;
  SendQueue queue;
  Transfers transfers;
  Settings settings;
  settings.n_pes = 2;
  transfers.start(job.platform(0), settings, queue);
  BOOST_TEST(transfers.cma_pid(1, rts.probe) == 0);
}

// Requests to PEs whose numbers are equal in the low 16 bits wait in queues of their own.
BOOST_AUTO_TEST_CASE(send_queues_of_a_world_of_millions) {
  struct Network final : Pusher {
    Step push(Request& request) noexcept override {
      if (is_full) return Step::blocked;
      sent.push_back(request.peer);
      return Step::sent;
    }
    void pushed(Request&) noexcept override {}
    bool is_full = true;
    std::vector<int> sent;
  } network;
  SendQueue queue;
  queue.start(1 << 22, network);
  const std::vector<int> pes{(1 << 20) + 5, 5, 65'536 + 5, 5};
  std::vector<SendRequest> requests(pes.size());
  for (std::size_t i = 0; i < pes.size(); ++i) {
    requests[i].peer = pes[i];
    queue.enqueue(requests[i], Next::eager);
  }
  BOOST_TEST(!queue.drain());
  network.is_full = false;
  BOOST_TEST(queue.drain());
  BOOST_TEST(queue.is_empty());
  BOOST_TEST(network.sent == (std::vector<int>{(1 << 20) + 5, 65'536 + 5, 5, 5}), boost::test_tools::per_element());
}

// What has been sent may at once lead to a further message for the same PE, for which there is no room.
BOOST_AUTO_TEST_CASE(a_queue_that_fills_while_it_is_emptied_drains) {
  struct Network final : Pusher {
    Step push(Request&) noexcept override { return room-- > 0 ? Step::sent : Step::blocked; }
    void pushed(Request& request) noexcept override {
      if (std::exchange(request.next, Next::done) == Next::cts) queue->enqueue(request, Next::done);
    }
    SendQueue* queue = nullptr;
    int room = 0;
  } network;
  SendQueue queue;
  queue.start(2, network);
  network.queue = &queue;
  ReceiveRequest receive;
  receive.peer = 1;
  queue.enqueue(receive, Next::cts);
  for (int i = 0; i < 2; ++i) {
    network.room = 1;
    BOOST_TEST(queue.drain());
  }
  BOOST_TEST(queue.is_empty());
}

BOOST_AUTO_TEST_CASE(unexpected_messages_have_a_limit) {
  Job job(2, plain_settings(LmtChoice::automatic));
  std::vector<std::byte> data(8'000);
  job.cells = 1000;
  for (int i = 0; i < 200; ++i) {
    job.engine(0).send(Cursor(Shape::contiguous(data.data(), data.size())), 1, i, {});
    while (job.deliver(0, 1)) {
    }
  }
  BOOST_TEST(job.platform(1).exhaustions > 0);
  std::size_t kept = 0;
  for (int tag = 0; tag < 200; ++tag) kept += job.engine(1).probe({0, tag}) != nullptr;
  BOOST_TEST(kept * data.size() <= 1U << 20);
  BOOST_TEST(kept > 90U);
}

BOOST_AUTO_TEST_CASE(malformed_messages_are_rejected) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  Job job(2, plain_settings(LmtChoice::automatic));
  job.platform(0).reads_for_real = false;
  std::vector<std::byte> memory(50'000);
  constexpr am::HandlerId kIds[] = {am::kMessageEager,  am::kMessageRts,  am::kMessageCts,
                                    am::kMessageCookie, am::kMessageDone, am::kMessageData};
  for (int turn = 0; turn < 30'000; ++turn) {
    if (turn % 1000 == 0) {
      job.engine(0).stop();
      job.wire(0, 1).clear();
      job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 1, {});
      job.engine(0).receive(Cursor(Shape::contiguous(memory.data(), memory.size())), {1, kAny}, true);
    }
    std::vector<std::byte> payload(random() % 400);
    // Small words, since large ones are rejected by the first check.
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<std::byte>(i % 4 == 0 ? random() % 8 : random() % 32 == 0);
    Job::hand_over(job.engine(0), 1, kIds[random() % 6], payload);
    job.engine(0).progress();
    if (random() % 4 == 0) job.wire(0, 1).clear();
  }
  BOOST_TEST(job.platform(0).rejected > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
