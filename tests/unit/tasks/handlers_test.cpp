#include "tasks/handlers.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(tasks_handlers)

namespace {

using namespace shmemx::tasks;

void one(int, const void*, std::size_t, void*) {}

}  // namespace

BOOST_AUTO_TEST_CASE(a_number_belongs_to_one_kind_until_it_is_removed) {
  HandlerTable table;
  int argument = 0;
  for (const std::uint16_t id : {std::uint16_t{0}, std::uint16_t{7}, std::uint16_t{65535}}) {
    BOOST_CHECK(table.find(id, HandlerKind::task).function == nullptr);
    BOOST_CHECK(table.set(id, HandlerKind::task, one, &argument));
    BOOST_CHECK(table.find(id, HandlerKind::task).function == one);
    BOOST_CHECK(table.find(id, HandlerKind::task).argument == &argument);
    BOOST_CHECK(table.find(id, HandlerKind::active).function == nullptr);
    BOOST_CHECK(!table.set(id, HandlerKind::active, one, nullptr));
    BOOST_CHECK(table.set(id, HandlerKind::task, nullptr, nullptr));
    BOOST_CHECK(table.set(id, HandlerKind::active, one, nullptr));
    BOOST_CHECK(table.find(id, HandlerKind::task).function == nullptr);
  }
}

BOOST_AUTO_TEST_SUITE_END()
