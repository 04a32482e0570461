#include "am/dispatch.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "am/endpoint.hpp"

BOOST_AUTO_TEST_SUITE(am_dispatch)

namespace {

using namespace shmemx;
using namespace shmemx::am;

// What the handlers have seen, and what they return.
struct Seen {
  std::string order;  // the first byte of each payload
  int refusals = 0;   // how often the handler says "later" first
  bool in_handler = false;
};
Seen seen;
Dispatch* dispatch_under_test = nullptr;

Verdict on_message(Endpoint&, const Message& message) {
  seen.in_handler = dispatch_under_test->is_in_handler();
  if (seen.refusals > 0) {
    --seen.refusals;
    return Verdict::later;
  }
  seen.order += static_cast<char>(message.payload[0]);
  return Verdict::done;
}

struct Fixture {
  Fixture() {
    seen = {};
    dispatch_under_test = &dispatch;
    set_handler(kFlag, on_message, {.counted = false});
  }
  bool deliver(char name, nemesis::Cell* cell = nullptr) {
    payload.assign(16, static_cast<std::byte>(name));
    return dispatch.deliver(nemesis::ShmMessage{3, kFlag, payload, cell});
  }
  bool run_deferred() {
    return dispatch.run_deferred([this](nemesis::Cell* cell) { returned.push_back(cell); });
  }

  Dispatch dispatch{*Locked{}};
  std::vector<std::byte> payload;
  std::vector<nemesis::Cell*> returned;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_handler_runs_at_once) {
  Fixture f;
  BOOST_CHECK(f.deliver('a'));
  BOOST_CHECK_EQUAL(seen.order, "a");
  BOOST_CHECK(seen.in_handler && !f.dispatch.is_in_handler());
  BOOST_CHECK(!f.dispatch.has_deferred());
  BOOST_CHECK(f.dispatch.as_handler([&] { return f.dispatch.is_in_handler(); }));
  BOOST_CHECK(!f.dispatch.is_in_handler());
}

BOOST_AUTO_TEST_CASE(deferred_messages_keep_their_order) {
  Fixture f;
  seen.refusals = 3;
  for (const char name : {'a', 'b', 'c'}) BOOST_CHECK(!f.deliver(name));
  BOOST_CHECK(f.deliver('d'));  // overtakes them
  seen.refusals = 1;
  BOOST_CHECK(f.run_deferred());
  BOOST_CHECK_EQUAL(seen.order, "dbc");
  BOOST_CHECK(f.dispatch.has_deferred());
  seen.refusals = 1;
  BOOST_CHECK(!f.run_deferred());
  BOOST_CHECK(f.run_deferred());
  BOOST_CHECK_EQUAL(seen.order, "dbca");
  BOOST_CHECK(!f.dispatch.has_deferred() && !f.run_deferred());
}

BOOST_AUTO_TEST_CASE(a_kept_cell_is_returned_when_its_message_is_done) {
  Fixture f;
  nemesis::Cell cell{};
  std::vector<std::byte> in_cell(16, std::byte{'x'});
  seen.refusals = 2;
  BOOST_CHECK(!f.dispatch.deliver(nemesis::ShmMessage{1, kFlag, in_cell, &cell}));
  BOOST_CHECK(!f.run_deferred());
  BOOST_CHECK(f.returned.empty());
  BOOST_CHECK(f.run_deferred());
  BOOST_CHECK((f.returned == std::vector<nemesis::Cell*>{&cell}));
  BOOST_CHECK_EQUAL(seen.order, "x");
}

BOOST_AUTO_TEST_CASE(messages_are_deferred_while_resting) {
  Fixture f;
  f.dispatch.set_resting(true);
  BOOST_CHECK(!f.deliver('a'));
  BOOST_CHECK(!f.run_deferred());
  f.dispatch.set_resting(false);
  BOOST_CHECK(f.run_deferred());
  BOOST_CHECK_EQUAL(seen.order, "a");
}

BOOST_AUTO_TEST_CASE(traits_and_placements_of_ids_that_are_not_registered_are_the_defaults) {
  const Fixture f;
  BOOST_CHECK(!traits_of(kFlag).counted);
  BOOST_CHECK(traits_of(kHandlerIds).counted && traits_of(9999).role == Role::operation);
  BOOST_CHECK(placement_of(kHandlerIds).placement == nullptr && placement_of(kFlag).placement == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
