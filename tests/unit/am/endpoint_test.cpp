// The endpoints of forked processes that play the PEs of a node.
#include "am/endpoint.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "nemesis/message.hpp"
#include "progress/policy.hpp"
#include "progress/send.hpp"
#include "progress/threads.hpp"
#include "progress/wait.hpp"

BOOST_AUTO_TEST_SUITE(am_endpoint)

namespace {

using namespace shmemx;
using namespace shmemx::am;
using nemesis::Layout;
using nemesis::make_layout;
using nemesis::Parts;

struct Node {
  explicit Node(int n, std::size_t cell_bytes = 1024, std::size_t cell_count = 16)
      : n_pes(n), layout(make_layout(static_cast<std::size_t>(n), cell_bytes, cell_count)) {
    memory = static_cast<std::byte*>(::mmap(nullptr, layout.total_bytes + kPageBytes, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  ~Node() { ::munmap(memory, layout.total_bytes + kPageBytes); }
  Node(const Node&) = delete;

  // A page that all share, for results.
  std::atomic<std::uint64_t>* shared() const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(memory + layout.total_bytes);
  }

  void enter(int me, bool many_threads) const {
    const Parts parts(memory, layout);
    doorbell_hooks.own = &parts.control(me).doorbell;
    progress::policy().bare_polls = 1;
    diagnostic_identity().pe = me;
    diagnostic_identity().n_pes = n_pes;
    const Doorbells doorbells{
        reinterpret_cast<std::byte*>(&parts.control(0).doorbell), static_cast<std::ptrdiff_t>(layout.part_bytes), {}};
    set_up({parts, me, n_pes, doorbells, many_threads, 1U << 20});
    progress::open();
  }

  // Runs run_pe(pe) in a process for each PE; the exit statuses.
  std::vector<int> run(const std::function<int(int)>& run_pe, bool many_threads = false) const {
    std::vector<pid_t> children;
    for (int pe = 0; pe < n_pes; ++pe) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);
        enter(pe, many_threads);
        ::_exit(run_pe(pe));
      }
      children.push_back(child);
    }
    std::vector<int> statuses;
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    return statuses;
  }

  void expect_success(const std::function<int(int)>& run_pe, bool many_threads = false) const {
    for (const int status : run(run_pe, many_threads)) BOOST_CHECK_EQUAL(status, 0);
  }

  int n_pes;
  Layout layout;
  std::byte* memory;
};

// What the handlers of a child have seen.
struct Seen {
  std::vector<std::uint64_t> last;
  std::uint64_t count = 0;
  std::uint64_t bad = 0;
  std::uint64_t refused = 0;
};
Seen seen;
std::atomic<std::uint64_t> answers{0};  // the agent may be the one that counts
constexpr HandlerId kNumbered = kFlag;  // the number of a message and as many bytes as its value mod 500
constexpr HandlerId kRequest = kGet;
constexpr HandlerId kReplyId = kReply;

std::uint64_t bytes_for(std::uint64_t number) { return number * 37 % 400; }

Verdict on_numbered(Endpoint&, const Message& message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.payload.data(), sizeof number);
  std::uint64_t& last = seen.last[static_cast<std::size_t>(message.source)];
  if (number != last + 1 || message.payload.size() != sizeof number + bytes_for(number)) ++seen.bad;
  for (std::size_t i = sizeof number; i < message.payload.size(); ++i) {
    if (message.payload[i] != static_cast<std::byte>(number + i)) ++seen.bad;
  }
  last = number;
  ++seen.count;
  return Verdict::done;
}

// Its reply is as long as a cell, so it needs one.
Verdict on_request(Endpoint& endpoint, const Message& message) {
  const std::vector<std::byte> answer(max_payload_bytes());
  if (endpoint.try_send({message.source, kReplyId, message.payload, Bytes(answer).subspan(message.payload.size())}))
    return Verdict::done;
  ++seen.refused;
  return Verdict::later;
}

Verdict on_reply(Endpoint&, const Message&) {
  answers.fetch_add(1);
  return Verdict::done;
}

void use_handlers(int n_pes) {
  seen = Seen{};
  answers.store(0);
  seen.last.assign(static_cast<std::size_t>(n_pes), 0);
  set_handler(kNumbered, on_numbered);
  set_handler(kRequest, on_request);
  set_handler(kReplyId, on_reply);
}

void send_numbered(int pe, std::uint64_t number) {
  std::vector<std::byte> payload(bytes_for(number));
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(number + i + sizeof number);
  progress::send("send_numbered", {pe, kNumbered, bytes_of(number), payload});
}

void meet(const Node& node, int slot) {
  node.shared()[slot].fetch_add(1);
  progress::wait_until("meet", -1,
                       [&] { return node.shared()[slot].load() >= static_cast<std::uint64_t>(node.n_pes); });
}

BOOST_AUTO_TEST_CASE(everybody_to_everybody_in_order_through_boxes_and_cells) {
  for (const int n_pes : {1, 2, 3, 8}) {
    const Node node(n_pes);
    node.expect_success([&](int) {
      use_handlers(n_pes);
      constexpr std::uint64_t kEach = 2000;
      for (std::uint64_t number = 1; number <= kEach; ++number) {
        for (int pe = 0; pe < n_pes; ++pe) send_numbered(pe, number);
      }
      progress::wait_until("test", -1, [&] { return seen.count == kEach * static_cast<std::uint64_t>(n_pes); });
      meet(node, 0);
      return seen.bad == 0 ? 0 : 1;
    });
  }
}

BOOST_AUTO_TEST_CASE(handlers_that_find_no_cell_are_run_again) {
  const Node node(3, 512, 2);
  node.expect_success([&](int me) {
    use_handlers(3);
    constexpr std::uint64_t kEach = 500;
    for (std::uint64_t i = 0; i < kEach; ++i) {
      for (int pe = 0; pe < 3; ++pe) progress::send("test", {.pe = pe, .handler = kRequest, .header = bytes_of(i)});
    }
    progress::wait_until("test", -1, [&] { return answers.load() == 3 * kEach; });
    meet(node, 0);
    static_cast<void>(me);
    node.shared()[1].fetch_add(seen.refused);
    meet(node, 2);
    return node.shared()[1].load() > 0 ? 0 : 1;  // or the test has not tested anything
  });
}

BOOST_AUTO_TEST_CASE(flush_returns_when_the_target_has_handled_all) {
  const Node node(4);
  node.expect_success([&](int me) {
    use_handlers(4);
    static std::atomic<std::uint64_t>* handled;
    handled = node.shared() + 8;
    set_handler(kSignal, [](Endpoint& endpoint, const Message&) {
      handled[endpoint.me()].fetch_add(1);
      return Verdict::done;
    });
    int status = 0;
    if (me == 0) {
      for (std::uint64_t i = 1; i <= 300; ++i) {
        for (int pe = 1; pe < 4; ++pe) progress::send("test", {.pe = pe, .handler = kSignal, .header = bytes_of(i)});
        if (i % 30 != 0) continue;
        progress::flush("test", 2);
        if (handled[2].load() != i) status = 1;
        progress::flush_all("test");
        for (int pe = 1; pe < 4; ++pe) status |= handled[pe].load() != i ? 2 : 0;
      }
    }
    meet(node, 0);
    return status;
  });
}

// A target that does nothing but compute: its agent does the work, and sleeps when there is none.
BOOST_AUTO_TEST_CASE(the_agent_answers_while_the_target_computes) {
  const Node node(2);
  node.expect_success(
      [&](int me) {
        use_handlers(2);
        progress::start_node_thread();
        meet(node, 0);
        if (me == 1) {
          volatile std::uint64_t sink = 0;
          while (node.shared()[1].load() == 0) sink = sink + 1;
        } else {
          for (std::uint64_t i = 1; i <= 200; ++i) {
            progress::send("test", {.pe = 1, .handler = kRequest, .header = bytes_of(i)});
            progress::wait_until("test", 1, [&] { return answers.load() == i; });
            if (i % 20 == 0) ::usleep(3000);  // the agent goes to sleep
          }
          node.shared()[1].store(1);
        }
        meet(node, 2);
        progress::stop_threads();
        return 0;
      },
      true);
}

// The agent keeps the replies that find no cell, and goes to sleep. Whenever cells come back, the others must leave.
BOOST_AUTO_TEST_CASE(the_agent_sends_kept_replies_when_cells_come_back_while_it_goes_to_sleep) {
  const Node node(2, 512, 2);
  node.expect_success(
      [&](int me) {
        use_handlers(2);
        set_handler(kRequest, [](Endpoint& endpoint, const Message& message) {
          const std::vector<std::byte> answer(max_payload_bytes() - message.payload.size());
          endpoint.reply({.pe = message.source, .handler = kReplyId, .header = message.payload, .payload = answer});
          return Verdict::done;
        });
        if (me == 1) progress::start_node_thread();
        meet(node, 0);
        if (me == 1) {
          while (node.shared()[1].load() == 0) ::usleep(1000);  // not in the library
        } else {
          constexpr std::uint64_t kBurst = 6;  // of requests, which need no cells
          for (std::uint64_t i = 1; i <= 10'000; ++i) {
            for (std::uint64_t j = 0; j < kBurst; ++j)
              progress::send("test", {.pe = 1, .handler = kRequest, .header = bytes_of(i)});
            const std::uint64_t begin = now_ns();
            while (now_ns() - begin < i * 37 % 40'000) {
            }
            progress::wait_until("test", 1, [&] { return answers.load() == i * kBurst; });
          }
          node.shared()[1].store(1);
        }
        meet(node, 2);
        progress::stop_threads();
        return 0;
      },
      true);
}

BOOST_AUTO_TEST_CASE(threads_send_at_the_same_time) {
  const Node node(2);
  node.expect_success(
      [&](int me) {
        use_handlers(2);
        static std::atomic<std::uint64_t> handled;
        handled = 0;
        set_handler(kSignal, [](Endpoint&, const Message&) {
          handled.fetch_add(1);
          return Verdict::done;
        });
        meet(node, 0);
        constexpr std::uint64_t kEach = 3000;
        std::vector<pthread_t> threads(3);
        static int target;
        target = 1 - me;
        for (pthread_t& thread : threads) {
          ::pthread_create(
              &thread, nullptr,
              [](void*) -> void* {
                for (std::uint64_t i = 0; i < kEach; ++i) {
                  progress::send("test", {.pe = target, .handler = kSignal, .header = bytes_of(i)});
                  if (i % 64 == 0) progress::flush("test", target);
                }
                progress::flush_all("test");
                return nullptr;
              },
              nullptr);
        }
        for (pthread_t& thread : threads) ::pthread_join(thread, nullptr);
        progress::wait_until("test", -1, [&] { return handled.load() == 3 * kEach; });
        meet(node, 1);
        return 0;
      },
      true);
}

// One PE that does not poll keeps a part of the sender's cells only.
BOOST_AUTO_TEST_CASE(a_stalled_target_does_not_stop_what_goes_to_others) {
  const Node node(3, 512, 16);
  node.expect_success([&](int me) {
    use_handlers(3);
    const std::vector<std::byte> large(300);
    if (me == 0) {
      int taken = 0;
      {
        const Locked endpoint;
        while (endpoint->try_send({.pe = 1, .handler = kReplyId, .header = Bytes(large)})) ++taken;
      }
      if (taken >= 16) return 1;
      for (std::uint64_t i = 1; i <= 100; ++i) send_numbered(2, i);
      progress::flush("test", 2);
      node.shared()[1].store(1);
    }
    if (me == 1) {
      while (node.shared()[1].load() == 0) ::usleep(1000);  // not in the library
    }
    meet(node, 0);
    return me == 2 && (seen.bad != 0 || seen.count != 100) ? 1 : 0;
  });
}

// What is wrong with a message in a cell of PE 0 to PE 1, and the receiver's line about it.
struct Forged {
  std::uint32_t source;
  std::uint8_t handler;
  nemesis::Number number;
  std::uint32_t bytes;
  const char* line;
};

void enqueue(const Parts& parts, const Forged& forged) {
  nemesis::Cell* const cell = parts.cell(0, 3);
  nemesis::CellHeader& header = nemesis::CellHeader::of(cell);
  header.target = 1;
  header.source = forged.source;
  header.number = forged.number;
  header.bytes = forged.bytes;
  header.handler = forged.handler;
  parts.control(1).receive.enqueue(cell);
}

std::string content_of(int fd) {
  std::string text(4096, '\0');
  const ssize_t bytes = ::pread(fd, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

// Rubbish in the shared region ends the receiver with a line and status 1, not by a signal.
void expect_diagnosis(const Forged& forged) {
  const Node node(2);
  const Parts parts(node.memory, node.layout);
  const int lines = ::memfd_create("lines", MFD_CLOEXEC);
  const std::vector<int> statuses = node.run([&](int me) {
    use_handlers(2);
    if (me == 0) {
      enqueue(parts, forged);
      node.shared()[0].store(1);
      return 0;
    }
    ::dup2(lines, STDERR_FILENO);
    while (node.shared()[0].load() == 0) ::usleep(100);
    for (int i = 0; i < 100; ++i) poll();
    return 7;
  });
  const std::string line = content_of(lines);
  ::close(lines);
  BOOST_CHECK_EQUAL(statuses[0], 0);
  BOOST_CHECK_EQUAL(statuses[1], forged.line == nullptr ? 7 : 1);
  BOOST_CHECK_MESSAGE(forged.line == nullptr ? line.empty() : line.find(forged.line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(forged_cells_end_the_receiver) {
  expect_diagnosis({0, kReplyId, 1, 8, nullptr});  // nothing is wrong
  expect_diagnosis({2, kReplyId, 1, 8, "comes from PE 2,"});
  expect_diagnosis({0x10000, kReplyId, 1, 8, "comes from PE 65536,"});
  expect_diagnosis({0, kHandlerIds - 1, 1, 8, "names handler 63,"});  // an id that nobody has registered
  expect_diagnosis({0, 255, 1, 8, "names handler 255,"});             // no id
  expect_diagnosis({0, kReplyId, 1, 1U << 30, "has 1073741824 bytes"});
  expect_diagnosis({0, kReplyId, 5, 8, "has number 5, expected is 1"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
