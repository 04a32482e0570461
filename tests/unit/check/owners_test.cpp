#include "check/owners.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

#include "../support/child.hpp"
#include "check/checks.hpp"
#include "stats/call_hooks.hpp"

BOOST_AUTO_TEST_SUITE(check_owners)

namespace {

using namespace shmemx;
using check::Sharing;

constexpr std::uint32_t kContext = 7;

stats::Call call_of(const char* routine) { return {routine, stats::Family::put, stats::Path::mapped, 0, kContext, 8}; }
void begin(const char* routine) { stats::call_hooks.begin(call_of(routine)); }
void end(const char* routine) { stats::call_hooks.end(call_of(routine)); }

// In a child, with all checks, of which this thread has made a context.
template <class Run>
std::string said_of(Sharing sharing, Run run) {
  return unit::in_child([&] {
           check::enabled = check::Checks(check::Checks::kAll);
           check::note_sharing(kContext, sharing);
           run();
           return 0;
         })
      .text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_private_context_is_of_its_thread) {
  BOOST_CHECK_EQUAL(said_of(Sharing::private_to_thread,
                            [] {
                              begin("shmem_ctx_put");
                              check::check_owner("shmem_ctx_quiet", kContext);
                              end("shmem_ctx_put");
                            }),
                    "");
  const std::string text =
      said_of(Sharing::private_to_thread, [] { std::thread([] { begin("shmem_ctx_put"); }).join(); });
  BOOST_CHECK_MESSAGE(
      text.find("shmem_ctx_put: argument 'ctx' was made with SHMEM_CTX_PRIVATE by another thread") != std::string::npos,
      text);
}

BOOST_AUTO_TEST_CASE(threads_take_turns_with_a_serialized_context) {
  const auto take_turns = [] {
    for (int i = 0; i < 3; ++i) {
      begin("shmem_ctx_put");
      end("shmem_ctx_put");
    }
  };
  BOOST_CHECK_EQUAL(said_of(Sharing::serialized,
                            [&] {
                              std::thread(take_turns).join();
                              take_turns();
                              check::check_owner("shmem_ctx_quiet", kContext);
                            }),
                    "");
}

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_uses_a_serialized_context) {
  const std::string line =
      "argument 'ctx' was made with SHMEM_CTX_SERIALIZED, and another thread is in shmem_ctx_put with it";
  const std::string put = said_of(Sharing::serialized, [] {
    begin("shmem_ctx_put");
    std::thread([] { begin("shmem_ctx_get"); }).join();
  });
  BOOST_CHECK_MESSAGE(put.find("shmem_ctx_get: " + line) != std::string::npos, put);
  const std::string quiet = said_of(Sharing::serialized, [] {
    begin("shmem_ctx_put");
    std::thread([] { check::check_owner("shmem_ctx_quiet", kContext); }).join();
  });
  BOOST_CHECK_MESSAGE(quiet.find("shmem_ctx_quiet: " + line) != std::string::npos, quiet);
}

BOOST_AUTO_TEST_CASE(other_contexts_are_for_all_threads) {
  BOOST_CHECK_EQUAL(said_of(Sharing::free,
                            [] {
                              check::note_sharing(kContext + 1, Sharing::serialized);
                              begin("shmem_ctx_put");
                              std::thread([] { begin("shmem_ctx_get"); }).join();
                            }),
                    "");
}

BOOST_AUTO_TEST_SUITE_END()
