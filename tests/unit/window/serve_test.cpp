#include "window/serve.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "atomic/elements.hpp"

using namespace shmemx;
using window::Outcome;

namespace {

struct Exposed {
  alignas(64) std::uint64_t before = 0;
  std::uint64_t memory[16] = {};
  std::uint64_t behind = 0;
  windows::WindowName name{};
  Exposed() { BOOST_REQUIRE(windows::expose(reinterpret_cast<std::byte*>(memory), sizeof memory, name)); }
  ~Exposed() { BOOST_TEST(windows::withdraw(name)); }
  bool outside_is_untouched() const { return before == 0 && behind == 0; }
};

std::vector<std::byte> scratch(4096);

template <class Request>
window::Served run(am::HandlerId id, const Request& request, std::span<const std::byte> body = {}) {
  std::vector<std::byte> payload(sizeof request + body.size());
  std::memcpy(payload.data(), &request, sizeof request);
  if (!body.empty()) std::memcpy(payload.data() + sizeof request, body.data(), body.size());
  return window::serve(id, payload, {scratch, 4096});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(window_serve)

BOOST_AUTO_TEST_CASE(puts_land_inside_and_only_there) {
  Exposed window;
  const std::uint64_t word = 42;
  const auto body = std::as_bytes(std::span(&word, 1));
  BOOST_TEST(!run(am::kWindowPut, window::PutRequest{window.name, 8, 3, 0}, body).answered);
  BOOST_TEST(window.memory[1] == 42U);
  const window::Served last = run(am::kWindowPut, window::PutRequest{window.name, 16, 3, 1}, body);
  BOOST_TEST((last.answered && last.reply.ticket == 3 && last.reply.final == 1 && last.reply.outcome == Outcome::ok));
  const window::Served past = run(am::kWindowPut, window::PutRequest{window.name, 121, 3, 0}, body);
  BOOST_TEST((past.answered && past.reply.outcome == Outcome::range && past.reply.final == 0));
  const window::Served wrap = run(am::kWindowPut, window::PutRequest{window.name, ~std::uint64_t{0} - 3, 3, 1}, body);
  BOOST_TEST((wrap.reply.outcome == Outcome::range));
  const window::Served stale =
      run(am::kWindowPut, window::PutRequest{{window.name.index, window.name.generation + 2}, 0, 3, 1}, body);
  BOOST_TEST((stale.reply.outcome == Outcome::stale));
  BOOST_TEST(window.outside_is_untouched());
}

BOOST_AUTO_TEST_CASE(the_windows_of_the_library_are_not_reached) {
  std::uint64_t heap[4] = {};
  windows::expose_builtin(windows::kHeapWindow, reinterpret_cast<std::byte*>(heap), sizeof heap);
  const std::uint64_t word = 1;
  const auto body = std::as_bytes(std::span(&word, 1));
  const window::Served served = run(am::kWindowPut, window::PutRequest{windows::kHeapWindow, 0, 0, 1}, body);
  BOOST_TEST((served.reply.outcome == Outcome::stale));
  BOOST_TEST(heap[0] == 0U);
  windows::expose_builtin(windows::kHeapWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(bad_requests_are_answered_as_such) {
  Exposed window;
  const auto bad = [](const window::Served& served) { return served.answered && served.reply.outcome == Outcome::bad; };
  BOOST_TEST(bad(run(am::kWindowGet, window::GetRequest{window.name, 0, 1, 4097})));
  window::AtomicRequest atomic{window.name, 0, 1, 0, 1, 99, 1, 0};
  BOOST_TEST(bad(run(am::kWindowAtomic, atomic)));
  atomic = {window.name, 4, 1, 0, 1, static_cast<std::uint8_t>(atomic::ElementType::int64), 1, 0};
  BOOST_TEST(bad(run(am::kWindowAtomic, atomic)));  // not aligned
  window::AccumulateRequest accumulate{window.name, 0, 1, 4, 3, 1, 0, 0, 1};
  BOOST_TEST(bad(run(am::kWindowAccumulate, accumulate)));  // no elements
  accumulate = {window.name, 0, 1, ~0U, 3, static_cast<std::uint8_t>(atomic::ElementOp::no_op), 0, 1, 1};
  BOOST_TEST(bad(run(am::kWindowAccumulate, accumulate)));  // no room for the answer
  BOOST_TEST(!window::serve(am::kWindowPut, {}, {scratch, 4096}).answered);
  BOOST_TEST(!window::serve(am::kActive, std::vector<std::byte>(64), {scratch, 4096}).answered);
  for (const std::uint64_t word : window.memory) BOOST_TEST(word == 0U);
  BOOST_TEST(window.outside_is_untouched());
}

BOOST_AUTO_TEST_CASE(fetches_bring_what_was_there) {
  Exposed window;
  window.memory[2] = 10;
  window::AtomicRequest atomic{window.name,
                               16,
                               5,
                               0,
                               1,
                               static_cast<std::uint8_t>(atomic::ElementType::uint64),
                               static_cast<std::uint8_t>(atomic::ElementOp::sum),
                               0};
  window::Served served = run(am::kWindowAtomic, atomic);
  std::uint64_t old = 0;
  BOOST_REQUIRE(served.body.size() == sizeof old);
  std::memcpy(&old, served.body.data(), sizeof old);
  BOOST_TEST(old == 10U);
  BOOST_TEST(window.memory[2] == 15U);
  served = run(am::kWindowGet, window::GetRequest{window.name, 16, 1, 16});
  BOOST_TEST(served.body.data() == reinterpret_cast<std::byte*>(window.memory + 2));
}

// A long body is let in where all of it belongs to the window, and nowhere else.
BOOST_AUTO_TEST_CASE(puts_land_by_themselves_inside_only) {
  Exposed window;
  const auto place = [](const window::PutRequest& request, std::uint64_t bytes) {
    return window::find_placement(am::bytes_of(request), bytes);
  };
  auto* const base = reinterpret_cast<std::byte*>(window.memory);
  BOOST_TEST(place({window.name, 0, 3, 1}, sizeof window.memory) == base);
  BOOST_TEST(place({window.name, 8, 3, 1}, sizeof window.memory - 8) == base + 8);
  BOOST_TEST(place({window.name, 8, 3, 1}, sizeof window.memory) == nullptr);
  BOOST_TEST(place({window.name, ~std::uint64_t{0}, 3, 1}, 16) == nullptr);
  BOOST_TEST(place({{window.name.index, window.name.generation + 2}, 0, 3, 1}, 16) == nullptr);
  BOOST_TEST(place({windows::kHeapWindow, 0, 3, 1}, 16) == nullptr);
  const window::PutRequest request{window.name, 0, 7, 1};
  BOOST_TEST(window::find_placement(am::bytes_of(request).first(20), 16) == nullptr);
  const std::byte longer[sizeof request + 1] = {};
  BOOST_TEST(window::find_placement(longer, 16) == nullptr);
  const window::Served served = window::serve_placed(am::bytes_of(request));
  BOOST_TEST((served.answered && served.reply.ticket == 7 && served.reply.final == 1 &&
              served.reply.outcome == Outcome::ok && served.body.empty()));
  BOOST_TEST(!window::serve_placed(am::bytes_of(window::PutRequest{window.name, 0, 7, 0})).answered);
}

// What lies in the window may be longer than what has to be computed.
BOOST_AUTO_TEST_CASE(long_gets_need_no_scratch) {
  Exposed window;
  std::vector<std::byte> few(8);
  std::vector<std::byte> payload(sizeof(window::GetRequest));
  const window::GetRequest request{window.name, 0, 1, sizeof window.memory};
  std::memcpy(payload.data(), &request, sizeof request);
  window::Served served = window::serve(am::kWindowGet, payload, {few, 1U << 20});
  BOOST_TEST(served.body.data() == reinterpret_cast<std::byte*>(window.memory));
  served = window::serve(am::kWindowGet, payload, {few, sizeof window.memory - 1});
  BOOST_TEST((served.answered && served.reply.outcome == Outcome::bad));
}

BOOST_AUTO_TEST_SUITE_END()
