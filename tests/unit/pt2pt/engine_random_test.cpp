// Jobs of engines in one process with random operations: matching is compared with a linear search of lists, data and
// untouched memory are compared byte by byte, with every LMT.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <list>
#include <random>

#include "../../support/pattern.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_engine_random)

using namespace simulated;

namespace {

struct Memory {
  std::vector<std::byte> own;
  std::vector<Place> list;
  Shape shape;
  std::byte* base = nullptr;
  std::size_t span = 0;
};

struct Sent {
  int from, to, tag;
  std::size_t seed;  // of the pattern
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

constexpr std::byte kUntouched{0xee};
bool is_untouched(std::byte byte) { return byte == kUntouched; }

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
    unexpected_.resize(heap_used_.size());
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

  // A buffer of `bytes`: contiguous, a list or strided blocks, in private memory or in the heap.
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
    sent.seed = sent_.size();
    sent.from = pick_pe();
    sent.to = pick_pe();
    sent.tag = pick(3);
    sent.bytes = random_size();
    sent.memory = make_memory(sent.from, sent.bytes);
    sent.synchronous = pick(5) == 0;
    const auto data = test_support::pattern<std::byte>(sent.bytes, sent.seed);
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
    auto& came = unexpected_[static_cast<std::size_t>(received.at)];
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

  // The envelope of a message has arrived at its receiver.
  void arrives(Sent& sent) {
    auto& posted = posted_[static_cast<std::size_t>(sent.to)];
    const auto found = std::find_if(posted.begin(), posted.end(),
                                    [&](Received* receive) { return receive->key.fits(sent.from, sent.tag); });
    if (found == posted.end()) return unexpected_[static_cast<std::size_t>(sent.to)].push_back(&sent);
    (*found)->expected = &sent;
    posted.erase(found);
  }

  std::deque<Sent*>& under_way(int from, int to) {
    return under_way_[static_cast<std::size_t>(from * job_.n_pes() + to)];
  }

  bool deliver(int from, int to) {
    if (job_.wire(from, to).empty()) return false;
    const Message& message = job_.wire(from, to).front();
    if (message.id == am::kMessageEager || message.id == am::kMessageRts) {
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
    const auto& came = unexpected_[static_cast<std::size_t>(pe)];
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
      while (!unexpected_[static_cast<std::size_t>(pe)].empty()) start_receive({kAny, kAny}, random_size(), pe);
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
      BOOST_REQUIRE(test_support::has_pattern(data.data(), written, sent->seed));
      BOOST_REQUIRE(std::all_of(data.begin() + static_cast<std::ptrdiff_t>(written), data.end(), is_untouched));
      // Memory between the pieces has not been written.
      std::vector<std::byte> blank(data.size(), kUntouched);
      Cursor(received.memory.shape).scatter(blank.data(), blank.size());
    } else {
      BOOST_REQUIRE_EQUAL(received.request->result.cancelled, received.cancelled);
    }
    BOOST_REQUIRE(std::all_of(received.memory.base, received.memory.base + received.memory.span, is_untouched));
    if (!open) job_.engine(received.at).give_back(*received.request);
  }

  std::mt19937 random_;
  Settings settings_;
  Job job_;
  std::vector<std::size_t> heap_used_;
  std::list<Sent> sent_;
  std::list<Received> received_;
  std::vector<std::deque<Received*>> posted_;  // at each PE, oldest first
  std::vector<std::deque<Sent*>> unexpected_;  // at each PE, unexpected, oldest first
  std::vector<std::deque<Sent*>> under_way_;   // of each pair
};

}  // namespace

BOOST_AUTO_TEST_CASE(random_jobs_match_and_transfer_like_the_model) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  for (unsigned i = 0; i < 250; ++i) {
    BOOST_TEST_CONTEXT("seed " << seed << " round " << i) {
      Round round(seed + i, static_cast<LmtChoice>(i % 5));
      round.run();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
