#include "base/fatal.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(base_fatal)

namespace {

using namespace shmemx;

std::string host() {
  char name[64] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Only ever set in the children.
void be_pe_3_of_8() {
  diagnostic_identity().pe = 3;
  diagnostic_identity().n_pes = 8;
}

bool claims(int status) {
  const std::string text = "<claim " + std::to_string(status) + ">";
  return ::write(STDERR_FILENO, text.data(), text.size()) > 0;
}
void ends(int status) {
  const std::string text = "<end " + std::to_string(status) + ">";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(99);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_diagnostic_names_pe_host_routine_and_text_and_ends_with_status_1) {
  const auto end = unit::in_child([]() -> int {
    be_pe_3_of_8();
    fatal("shmem_int_put", "argument 'pe' is %d, allowed are 0..%d", 12, 7);
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_EQUAL(end.text,
                    "[pe 3/8 " + host() + "] shmem_int_put: argument 'pe' is 12, allowed are 0..7. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(before_init_the_line_has_no_pe) {
  const auto end = unit::in_child([]() -> int { fatal("shmem_put", "called before shmem_init"); });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_EQUAL(end.text, "shmem_put: called before shmem_init. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(the_routine_may_be_missing) {
  const auto end = unit::in_child([]() -> int { fatal(nullptr, "no arena"); });
  BOOST_CHECK_EQUAL(end.text, "no arena. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(the_job_is_claimed_before_the_line_and_ended_after_it) {
  const auto end = unit::in_child([]() -> int {
    diagnostic_identity().claim_job_end = claims;
    diagnostic_identity().end_job = ends;
    fatal("r", "t");
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_EQUAL(end.text, "<claim 1>r: t. Job ended.\n<end 1>");
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_to_one_line) {
  const auto end = unit::in_child([]() -> int {
    be_pe_3_of_8();
    fatal("routine", "%s", std::string(5000, 'x').c_str());
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_LE(end.text.size(), 1024U);
  BOOST_CHECK_GT(end.text.size(), 1000U);
  BOOST_CHECK_EQUAL(end.text.find('\n'), end.text.size() - 1);
  BOOST_CHECK_EQUAL(end.text.find('\0'), std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_warning_is_one_line_and_returns) {
  const auto end = unit::in_child([] {
    be_pe_3_of_8();
    warn("unknown variable %s", "SHMEM_X");
    return 5;
  });
  BOOST_CHECK_EQUAL(end.status, 5);
  BOOST_CHECK_EQUAL(end.text, "[pe 3/8 " + host() + "] shmemx warning: unknown variable SHMEM_X\n");
}

BOOST_AUTO_TEST_CASE(debug_lines_are_printed_only_if_enabled) {
  const auto end = unit::in_child([] {
    debug_line("not shown");
    diagnostic_identity().debug = true;
    debug_line("block %d", 4);
    return 0;
  });
  BOOST_CHECK_EQUAL(end.text, "shmemx: block 4\n");
}

BOOST_AUTO_TEST_SUITE_END()
