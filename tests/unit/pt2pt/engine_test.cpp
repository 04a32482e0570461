// Whole jobs of engines in one process, driven at random: matching is compared with lists that are walked, data and
// untouched memory byte by byte, with every LMT.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <list>
#include <random>

#include "played_job.hpp"
#include "pt2pt/thresholds.hpp"

using namespace played;

#include "../../support/pattern.hpp"

namespace {

struct Memory {
  std::vector<std::byte> own;
  std::vector<Place> list;
  Shape shape;
  std::byte* base = nullptr;
  std::size_t span = 0;
};

struct Sent {
  int id, from, to, tag;
  std::size_t bytes;
  Memory memory;
  SendRequest* request;
  bool synchronous;
};

struct Received {
  Key key;
  int at;
  Memory memory;
  ReceiveRequest* request;
  Sent* expected = nullptr;
  bool cancelled = false;
};

std::byte pattern(int id, std::size_t i) {
  return std::byte{test_support::pattern_byte(static_cast<std::size_t>(id), i)};
}
constexpr std::byte kUntouched{0xee};

class Round {
 public:
  Round(unsigned seed, LmtChoice choice)
      : random_(seed), settings_(make_settings(choice)), job_(1 + pick(4), settings_, kHeapBytes, pick(3)) {
    job_.cells = 1 + pick(8);
    const bool maps = pick(4) != 0;
    const bool buffers = pick(4) != 0;
    const bool reads = pick(4) != 0;
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
      job_.platform(pe).maps_others = maps;
      job_.platform(pe).has_buffers = buffers;
      job_.platform(pe).may_read = reads;
    }
    heap_used_.resize(static_cast<std::size_t>(job_.n_pes()));
    posted_.resize(heap_used_.size());
    came_.resize(heap_used_.size());
    under_way_.resize(heap_used_.size() * heap_used_.size());
  }

  void run() {
    for (int turn = 0; turn < 600; ++turn) {
      switch (pick(8)) {
        case 0:
          if (sent_.size() < 60) start_send();
          break;
        case 1:
          if (received_.size() < 60) start_receive(random_key(), random_size());
          break;
        case 2:
          cancel();
          break;
        case 3:
          probe();
          break;
        case 4:
          job_.engine(pick_pe()).progress();
          break;
        default:
          deliver(pick_pe(), pick_pe());
      }
    }
    finish();
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  int pick_pe() { return pick(job_.n_pes()); }
  std::size_t random_size() {
    static constexpr int kMost[] = {1, 9, 600, 9000, 20'000, 70'000, 200'000};
    return static_cast<std::size_t>(pick(kMost[pick(7)]));
  }
  Key random_key() { return {pick(4) == 0 ? kAny : pick_pe(), pick(4) == 0 ? kAny : pick(3)}; }
  Settings make_settings(LmtChoice choice) {
    Settings settings;
    settings.payload_bytes = std::size_t{480} << pick(6);
    settings.unexpected_max = std::size_t{1} << 30;
    settings.lmt = choice;
    settings.crowded = pick(2) == 0;
    return settings;
  }

  // `bytes` in one place, in a list or in blocks, in private memory or in the heap.
  Memory make_memory(int pe, std::size_t bytes) {
    Memory memory;
    const int kind = pick(3);
    const std::size_t pieces = 1 + static_cast<std::size_t>(pick(bytes < 100 ? 3 : 70));
    memory.span = bytes + (kind == 0 ? 0 : pieces * 24) + 32;
    std::size_t& used = heap_used_[static_cast<std::size_t>(pe)];
    if (pick(2) == 0 && used + memory.span <= kHeapBytes) {
      memory.base = job_.platform(pe).heap.data() + used;
      used += memory.span;
    } else {
      memory.own.resize(memory.span);
      memory.base = memory.own.data();
    }
    if (kind == 1) {
      std::size_t left = bytes;
      std::byte* at = memory.base;
      for (std::size_t i = 0; i < pieces; ++i) {
        const std::size_t here = i + 1 == pieces ? left : std::min<std::size_t>(left, bytes / pieces + 1);
        memory.list.push_back({at, here});
        at += here + 8;
        left -= here;
      }
      memory.shape = Shape::of_list(memory.list.data(), memory.list.size());
    } else if (kind == 2 && bytes % 4 == 0 && bytes != 0) {
      const std::size_t count = bytes / 4 < pieces ? 1 : 4;
      memory.shape = Shape::strided(memory.base, bytes / count, static_cast<std::ptrdiff_t>(bytes / count + 5), count);
    } else {
      memory.shape = Shape::contiguous(memory.base, bytes);
    }
    std::fill_n(memory.base, memory.span, kUntouched);
    return memory;
  }

  void start_send() {
    Sent& sent = sent_.emplace_back();
    sent.id = static_cast<int>(sent_.size());
    sent.from = pick_pe();
    sent.to = pick_pe();
    sent.tag = pick(3);
    sent.bytes = random_size();
    sent.memory = make_memory(sent.from, sent.bytes);
    sent.synchronous = pick(5) == 0;
    std::vector<std::byte> data(sent.bytes);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = pattern(sent.id, i);
    Cursor(sent.memory.shape).scatter(data.data(), data.size());
    if (sent.from == sent.to) {
      arrives(sent);
    } else {
      under_way(sent.from, sent.to).push_back(&sent);
    }
    sent.request = job_.engine(sent.from).send(Cursor(sent.memory.shape), sent.to, sent.tag,
                                               {sent.synchronous, sent.from == sent.to && pick(2) == 0});
    BOOST_REQUIRE(sent.request != nullptr);
  }

  void start_receive(Key key, std::size_t room, int at = -1) {
    Received& received = received_.emplace_back();
    received.key = key;
    received.at = at >= 0 ? at : pick_pe();
    received.memory = make_memory(received.at, room);
    auto& came = came_[static_cast<std::size_t>(received.at)];
    const auto found =
        std::find_if(came.begin(), came.end(), [&](Sent* sent) { return key.fits(sent->from, sent->tag); });
    if (found != came.end()) {
      received.expected = *found;
      came.erase(found);
    } else {
      posted_[static_cast<std::size_t>(received.at)].push_back(&received);
    }
    received.request = job_.engine(received.at).receive(Cursor(received.memory.shape), key, pick(2) == 0);
    BOOST_REQUIRE(received.request != nullptr);
  }

  // The envelope of a message is at its receiver.
  void arrives(Sent& sent) {
    auto& posted = posted_[static_cast<std::size_t>(sent.to)];
    const auto found = std::find_if(posted.begin(), posted.end(),
                                    [&](Received* receive) { return receive->key.fits(sent.from, sent.tag); });
    if (found == posted.end()) return came_[static_cast<std::size_t>(sent.to)].push_back(&sent);
    (*found)->expected = &sent;
    posted.erase(found);
  }

  std::deque<Sent*>& under_way(int from, int to) {
    return under_way_[static_cast<std::size_t>(from * job_.n_pes() + to)];
  }

  bool deliver(int from, int to) {
    if (job_.wire(from, to).empty()) return false;
    const Packet& packet = job_.wire(from, to).front();
    if (packet.id == am::kMessageEager || packet.id == am::kMessageRts) {
      Sent& sent = *under_way(from, to).front();  // not overtaken
      under_way(from, to).pop_front();
      arrives(sent);
    }
    return job_.deliver(from, to);
  }

  void cancel() {
    if (received_.empty()) return;
    auto at = received_.begin();
    std::advance(at, pick(static_cast<int>(received_.size())));
    if (at->cancelled || at->request->phase != Phase::posted) return;
    auto& posted = posted_[static_cast<std::size_t>(at->at)];
    const auto model = std::find(posted.begin(), posted.end(), &*at);
    BOOST_REQUIRE(model != posted.end());
    posted.erase(model);
    BOOST_REQUIRE(job_.engine(at->at).cancel(*at->request));
    at->cancelled = true;
  }

  void probe() {
    const int pe = pick_pe();
    const Key key = random_key();
    const auto& came = came_[static_cast<std::size_t>(pe)];
    const auto model =
        std::find_if(came.begin(), came.end(), [&](Sent* sent) { return key.fits(sent->from, sent->tag); });
    const Unexpected* const found = job_.engine(pe).probe(key);
    BOOST_REQUIRE_EQUAL(found != nullptr, model != came.end());
    if (found == nullptr) return;
    BOOST_REQUIRE_EQUAL(found->source, (*model)->from);
    BOOST_REQUIRE_EQUAL(found->tag, (*model)->tag);
    BOOST_REQUIRE_EQUAL(found->bytes, (*model)->bytes);
  }

  void flush() {
    for (bool any = true; any;) {
      any = false;
      for (int from = 0; from < job_.n_pes(); ++from) {
        any |= job_.engine(from).progress();
        for (int to = 0; to < job_.n_pes(); ++to) any |= deliver(from, to);
      }
    }
  }

  void finish() {
    flush();
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
      while (!came_[static_cast<std::size_t>(pe)].empty()) start_receive({kAny, kAny}, random_size(), pe);
    }
    flush();
    for (const Sent& sent : sent_) {
      BOOST_REQUIRE(sent.request->phase == Phase::complete);
      BOOST_REQUIRE_EQUAL(sent.request->result.bytes, sent.bytes);
      job_.engine(sent.from).give_back(*sent.request);
    }
    for (Received& received : received_) check(received);
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
      BOOST_REQUIRE(job_.engine(pe).probe({kAny, kAny}) == nullptr);
      BOOST_REQUIRE_EQUAL(job_.platform(pe).rejected, 0);
      BOOST_REQUIRE(!job_.engine(pe).has_progress());
    }
  }

  void check(Received& received) {
    const Sent* const sent = received.expected;
    const bool open = sent == nullptr && !received.cancelled;
    BOOST_REQUIRE_EQUAL(received.request->phase != Phase::complete, open);
    std::size_t written = 0;
    if (sent != nullptr) {
      const pt2pt::Result& result = received.request->result;
      written = std::min(sent->bytes, received.memory.shape.bytes);
      BOOST_REQUIRE_EQUAL(result.source, sent->from);
      BOOST_REQUIRE_EQUAL(result.tag, sent->tag);
      BOOST_REQUIRE_EQUAL(result.bytes, written);
      BOOST_REQUIRE_EQUAL(result.truncated, written < sent->bytes);
      BOOST_REQUIRE(!result.cancelled);
      std::vector<std::byte> data(received.memory.shape.bytes);
      Cursor(received.memory.shape).gather(data.data(), data.size());
      std::size_t right = 0;
      while (right < data.size() && data[right] == (right < written ? pattern(sent->id, right) : kUntouched)) ++right;
      BOOST_REQUIRE_EQUAL(right, data.size());
      // Between the places nothing has been written.
      std::vector<std::byte> blank(data.size(), kUntouched);
      Cursor(received.memory.shape).scatter(blank.data(), blank.size());
    } else {
      BOOST_REQUIRE_EQUAL(received.request->result.cancelled, received.cancelled);
    }
    const auto untouched = [](std::byte byte) { return byte == kUntouched; };
    BOOST_REQUIRE(std::all_of(received.memory.base, received.memory.base + received.memory.span, untouched));
    if (!open) job_.engine(received.at).give_back(*received.request);
  }

  std::mt19937 random_;
  Settings settings_;
  Job job_;
  std::vector<std::size_t> heap_used_;
  std::list<Sent> sent_;
  std::list<Received> received_;
  std::vector<std::deque<Received*>> posted_;  // at each PE, oldest first
  std::vector<std::deque<Sent*>> came_;        // at each PE, not yet received, oldest first
  std::vector<std::deque<Sent*>> under_way_;   // of each pair
};

// A long message between PEs of two nodes. Each buffer lies in one place or in many.
struct Internode {
  LmtKind kind;
  std::size_t placed;
  int memory_reads;
};
Internode send_between_nodes(LmtChoice choice, bool list_at_sender, bool list_at_receiver, std::size_t bytes) {
  Settings settings;
  settings.payload_bytes = 8160;
  settings.unexpected_max = 1U << 20;
  settings.lmt = choice;
  Job job(2, settings, kHeapBytes, 1);
  std::vector<std::byte> from(bytes);
  std::vector<std::byte> to(bytes);
  for (std::size_t i = 0; i < bytes; ++i) from[i] = pattern(9, i);
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
  for (bool any = true; any;) {
    any = job.engine(0).progress() || job.engine(1).progress();
    any |= job.deliver(0, 1) || job.deliver(1, 0);
  }
  BOOST_TEST((send->phase == Phase::complete && receive->phase == Phase::complete));
  std::vector<std::byte> sent(bytes);
  std::vector<std::byte> received(bytes);
  Cursor(source).gather(sent.data(), bytes);
  Cursor(dest).gather(received.data(), bytes);
  BOOST_TEST((sent == received));
  BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
  return {receive->transfer.kind, job.placed, job.platform(0).memory_reads + job.platform(1).memory_reads};
}

Settings plain_settings(LmtChoice choice) {
  Settings settings;
  settings.payload_bytes = 8160;
  settings.unexpected_max = 1U << 20;
  settings.lmt = choice;
  return settings;
}

// Sends 300,000 bytes from PE 0 to PE 1 and returns the LMT that the receive chose.
LmtKind lmt_used(Job& job, Memory&& from, Memory&& to) {
  std::vector<std::byte> data(300'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = pattern(3, i);
  std::memcpy(from.base, data.data(), data.size());
  SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(from.base, data.size())), 1, 5, {});
  ReceiveRequest* const receive = job.engine(1).receive(Cursor(Shape::contiguous(to.base, data.size())), {0, 5}, true);
  for (bool any = true; any;) {
    any = job.engine(0).progress() || job.engine(1).progress();
    any |= job.deliver(0, 1) || job.deliver(1, 0);
  }
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

BOOST_AUTO_TEST_SUITE(pt2pt_engine)

BOOST_AUTO_TEST_CASE(random_jobs_match_and_move_as_the_model_says) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  for (unsigned i = 0; i < 250; ++i) {
    BOOST_TEST_CONTEXT("seed " << seed << " round " << i) {
      Round round(seed + i, static_cast<LmtChoice>(i % 5));
      round.run();
    }
  }
}

BOOST_AUTO_TEST_CASE(the_lmt_follows_memory_and_permission) {
  {
    Job job(2, plain_settings(LmtChoice::automatic));
    BOOST_TEST((lmt_used(job, of_heap(job, 0), of_malloc()) == LmtKind::mapped));
    BOOST_TEST((lmt_used(job, of_malloc(), of_heap(job, 1)) == LmtKind::mapped));
    BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::copy));
    job.platform(1).has_buffers = false;
    BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::cma));
  }
  Settings crowded = plain_settings(LmtChoice::automatic);
  crowded.crowded = true;
  Job job(2, crowded);
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::cma));
}

BOOST_AUTO_TEST_CASE(an_lmt_that_is_forbidden_is_replaced) {
  Job job(2, plain_settings(LmtChoice::automatic));
  job.platform(1).may_read = false;
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::copy));
  job.platform(1).has_buffers = false;
  BOOST_TEST((lmt_used(job, of_malloc(), of_malloc()) == LmtKind::queue));
  job.platform(0).maps_others = job.platform(1).maps_others = false;
  BOOST_TEST((lmt_used(job, of_heap(job, 0), of_malloc()) == LmtKind::queue));
}

// With any SHMEMX_LMT, no address, buffer or process number of another node is used.
BOOST_AUTO_TEST_CASE(between_nodes_everything_goes_through_the_network) {
  for (int i = 0; i < 5; ++i) {
    const auto choice = static_cast<LmtChoice>(i);
    const Internode plain = send_between_nodes(choice, false, false, 20'000'000);
    BOOST_TEST((plain.kind == LmtKind::network));
    BOOST_TEST(plain.placed == 2U);  // straight into the receive's memory
    const Internode packed = send_between_nodes(choice, true, false, 200'000);
    BOOST_TEST((packed.kind == LmtKind::network));
    BOOST_TEST(packed.placed == 1U);
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
  BOOST_TEST(place({receive->id, 0}, 300'001) == nullptr);
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
  const DataHeader begin{receive->id, 0};
  engine.placed(0, am::bytes_of(begin), 20'000);  // without a call of placement()
  BOOST_TEST(job.platform(1).rejected == 2);
  BOOST_TEST(place(begin, 20'000) == memory.data());
  BOOST_TEST(place(begin, 20'000) == nullptr);
  BOOST_TEST((receive->phase == Phase::waiting));
}

BOOST_AUTO_TEST_CASE(payloads_may_be_under_way_together) {
  Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
  std::vector<std::byte> memory(300'000);
  Engine& engine = job.engine(1);
  ReceiveRequest* const receive =
      engine.receive(Cursor(Shape::contiguous(memory.data(), memory.size())), {0, 5}, false);
  job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5, {});  // the test withholds its data
  BOOST_REQUIRE(job.deliver(0, 1));
  const DataHeader first{receive->id, 0};
  const DataHeader second{receive->id, 100'000};
  BOOST_TEST(engine.placement(0, am::bytes_of(first), 100'000) == memory.data());
  BOOST_TEST(engine.placement(0, am::bytes_of(second), 200'001) == nullptr);
  BOOST_TEST(engine.placement(0, am::bytes_of(second), 200'000) == memory.data() + 100'000);
  engine.placed(0, am::bytes_of(first), 100'000);
  BOOST_TEST((receive->phase == Phase::waiting));
  engine.placed(0, am::bytes_of(second), 200'000);
  BOOST_TEST((receive->phase == Phase::complete));
  BOOST_TEST(job.platform(1).rejected == 0);
}

// A PE of another node names an LMT that works only within a node.
BOOST_AUTO_TEST_CASE(an_lmt_of_this_node_is_rejected_from_another_one) {
  for (const LmtKind kind : {LmtKind::copy, LmtKind::mapped, LmtKind::cma, LmtKind::queue}) {
    Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, 1);
    std::vector<std::byte> memory(300'000);
    SendRequest* const send = job.engine(0).send(Cursor(Shape::contiguous(memory.data(), memory.size())), 1, 5, {});
    Described<CtsHeader> cts{{send->id, {0, 1}, 1000, kind, 0}, {Space::heap, 1, {{nullptr, 1000}}}};
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
  BOOST_TEST(transfers.cma_pid(1, rts) == 0);
}

BOOST_AUTO_TEST_CASE(unexpected_messages_have_a_limit) {
  Job job(2, plain_settings(LmtChoice::automatic));
  std::vector<std::byte> data(10'000);
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

BOOST_AUTO_TEST_CASE(rubbish_is_rejected) {
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
    // Small words, as rubbish of large ones is found at the first look.
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<std::byte>(i % 4 == 0 ? random() % 8 : random() % 32 == 0);
    Job::hand_over(job.engine(0), 1, kIds[random() % 6], payload);
    job.engine(0).progress();
    if (random() % 4 == 0) job.wire(0, 1).clear();
  }
  BOOST_TEST(job.platform(0).rejected > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
