// What the library's own collectives have in the engine: tags that are matched apart, requests of their own kind.
#include <boost/test/unit_test.hpp>

#include "../../support/pattern.hpp"
#include "simulated_job.hpp"

BOOST_AUTO_TEST_SUITE(pt2pt_contexts)

using namespace simulated;

BOOST_AUTO_TEST_CASE(messages_of_the_library_itself_are_matched_apart) {
  for (const int node_pes : {0, 1}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{20'000}, std::size_t{200'000}}) {
      Job job(2, plain_settings(LmtChoice::automatic), kHeapBytes, node_pes);
      constexpr int kTag = -2;
      const std::vector<std::byte> internal = test_support::pattern<std::byte>(bytes, 4);
      const std::vector<std::byte> program = test_support::pattern<std::byte>(bytes, 5);
      std::vector<std::byte> any(bytes);
      std::vector<std::byte> got(bytes);
      ReceiveRequest* const wild =
          job.engine(1).receive(Cursor(Shape::contiguous(any.data(), bytes)), {kAny, kAny}, true);
      SendRequest* const first = job.engine(0).send(Cursor(Shape::contiguous(internal.data(), bytes)), 1, kTag, {});
      job.run();
      BOOST_TEST((wild->phase != Phase::complete));
      BOOST_TEST(job.engine(1).probe({kAny, kAny}) == nullptr);
      BOOST_TEST(job.engine(1).probe({0, kTag}) == nullptr);
      ReceiveRequest* const receive =
          job.engine(1).receive(Cursor(Shape::contiguous(got.data(), bytes)), {0, kTag}, false);
      SendRequest* const second = job.engine(0).send(Cursor(Shape::contiguous(program.data(), bytes)), 1, 3, {});
      job.run();
      for (const Request* request : {static_cast<Request*>(wild), static_cast<Request*>(receive),
                                     static_cast<Request*>(first), static_cast<Request*>(second)})
        BOOST_TEST((request->phase == Phase::complete));
      BOOST_TEST((got == internal));
      BOOST_TEST((any == program));
      BOOST_TEST(wild->result.tag == 3);
      BOOST_TEST(job.platform(0).rejected + job.platform(1).rejected == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(operations_are_requests_of_a_kind_of_their_own) {
  Job job(1, plain_settings(LmtChoice::automatic));
  Engine& engine = job.engine(0);
  Operation* const one = engine.open_operation(7);
  Operation* const other = engine.open_operation(9);
  BOOST_TEST(engine.find(one->id) == one);
  BOOST_TEST(engine.open_operations() == 2U);
  BOOST_TEST(engine.open_operations_of(7) == 1U);
  BOOST_TEST((one->phase != Phase::complete));
  complete(*one);
  BOOST_TEST((one->phase == Phase::complete));
  BOOST_TEST(one->result.tag == kAny);
  BOOST_TEST(engine.open_operations_of(7) == 1U);
  const RequestId id = one->id;
  engine.give_back(*one);
  BOOST_TEST(engine.find(id) == nullptr);
  BOOST_TEST(engine.open_operations_of(7) == 0U);
  BOOST_TEST(engine.open_operations_of(9) == 1U);
  engine.give_back(*other);
}

BOOST_AUTO_TEST_SUITE_END()
