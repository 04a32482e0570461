// The parts of vhosts that need no privileges: the launcher's side of PMI-1, the syntax of faults, requests to hosts.
#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "../support/pmi1_server.hpp"
#include "vhosts/faults.hpp"
#include "vhosts/message.hpp"

using namespace vhosts;

BOOST_AUTO_TEST_SUITE(cluster_pmi1_server)

BOOST_AUTO_TEST_CASE(a_value_is_visible_to_all_pes_and_cannot_be_put_twice) {
  test_support::Pmi1Server server({0, 0, 1});
  BOOST_CHECK_EQUAL(server.handle(1, "cmd=put kvsname=kvs_0 key=a value=x=1").at(0).line,
                    "cmd=put_result rc=0 msg=success");
  BOOST_CHECK_EQUAL(server.handle(2, "cmd=get kvsname=kvs_0 key=a").at(0).line,
                    "cmd=get_result rc=0 msg=success value=x=1");
  BOOST_CHECK_EQUAL(server.handle(0, "cmd=put kvsname=kvs_0 key=a value=2").at(0).line,
                    "cmd=put_result rc=-1 msg=duplicate_key");
  BOOST_CHECK_EQUAL(server.handle(0, "cmd=get kvsname=kvs_0 key=b").at(0).line,
                    "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

BOOST_AUTO_TEST_CASE(a_barrier_completes_when_the_last_pe_has_entered) {
  test_support::Pmi1Server server({0, 1, 2});
  for (int round = 0; round < 2; ++round) {
    BOOST_CHECK(server.handle(2, "cmd=barrier_in").empty());
    BOOST_CHECK(server.handle(0, "cmd=barrier_in").empty());
    const auto replies = server.handle(1, "cmd=barrier_in");
    BOOST_REQUIRE_EQUAL(replies.size(), 3U);
    for (int pe = 0; pe < 3; ++pe) BOOST_CHECK_EQUAL(replies[static_cast<std::size_t>(pe)].pe, pe);
    BOOST_CHECK_EQUAL(replies[0].line, "cmd=barrier_out");
  }
}

BOOST_AUTO_TEST_CASE(phases_and_the_first_abort_are_remembered) {
  test_support::Pmi1Server server({0, 0});
  BOOST_CHECK(!server.has_begun(1));
  server.handle(1, "cmd=init pmi_version=1 pmi_subversion=1");
  BOOST_CHECK(server.has_begun(1) && !server.has_begun(0) && !server.has_finalized(1));
  BOOST_CHECK_EQUAL(server.handle(1, "cmd=finalize").at(0).line, "cmd=finalize_ack");
  BOOST_CHECK(server.has_finalized(1));
  BOOST_CHECK_EQUAL(server.aborting_pe(), -1);
  server.handle(1, "cmd=abort exitcode=5");
  server.handle(0, "cmd=abort exitcode=6");
  BOOST_CHECK_EQUAL(server.aborting_pe(), 1);
  BOOST_CHECK_EQUAL(server.abort_code(), 5);
}

BOOST_AUTO_TEST_CASE(the_mapping_names_the_host_of_each_pe) {
  test_support::Pmi1Server server({0, 1, 1});
  BOOST_CHECK_EQUAL(server.handle(0, "cmd=get kvsname=kvs_0 key=PMI_process_mapping").at(0).line,
                    "cmd=get_result rc=0 msg=success value=(vector,(0,1,1),(1,1,1),(1,1,1))");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cluster_faults)

BOOST_AUTO_TEST_CASE(faults_are_parsed_with_and_without_a_time) {
  const Fault cut = parse_fault("cut h1@2s");
  BOOST_CHECK(cut.kind == FaultKind::cut && !cut.on_pe);
  BOOST_CHECK_EQUAL(cut.target, 1);
  BOOST_CHECK_EQUAL(cut.at_seconds, 2.0);
  const Fault kill = parse_fault("kill pe13@250ms");
  BOOST_CHECK(kill.kind == FaultKind::kill && kill.on_pe);
  BOOST_CHECK_EQUAL(kill.target, 13);
  BOOST_CHECK_EQUAL(kill.at_seconds, 0.25);
  BOOST_CHECK_EQUAL(parse_fault("off h0").at_seconds, 0.0);
  BOOST_CHECK_EQUAL(parse_fault("off h0").network, -1);
  const Fault join = parse_fault("join h2/1@3s");
  BOOST_CHECK(join.kind == FaultKind::join && join.target == 2 && join.network == 1);
  BOOST_CHECK_EQUAL(describe(join), "join h2/1");
  BOOST_CHECK_EQUAL(describe(kill), "kill pe13");
}

BOOST_AUTO_TEST_CASE(texts_that_are_no_faults_are_refused) {
  for (const char* text : {"", "cut", "cut ", "cut x1", "cut h", "cut h1x", "burn h1", "cut pe1", "cut h1@",
                           "cut h1@2m", "cut h1@-1s", "cut h1/", "cut h1/x", "off h1/1"}) {
    BOOST_CHECK_THROW(parse_fault(text), Failure);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cluster_message)

BOOST_AUTO_TEST_CASE(a_command_arrives_unchanged_with_its_descriptors) {
  int ends[2];
  BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Fd from(ends[0]), to(ends[1]);
  const Command sent{{"prog", "", "a b\n"}, {"X=1", "EMPTY="}, "/", true};
  send_message(from.get(), {Kind::start, 7, -3, sent.encode()}, {STDIN_FILENO, to.get()});
  Message message;
  BOOST_REQUIRE(receive_message(to.get(), message));
  BOOST_CHECK(message.kind == Kind::start);
  BOOST_CHECK_EQUAL(message.token, 7U);
  BOOST_CHECK_EQUAL(message.value, -3);
  const Command got = Command::decode(message.text);
  BOOST_CHECK(got.argv == sent.argv && got.environment == sent.environment && got.own_session);
  BOOST_CHECK_EQUAL(got.folder, "/");
  BOOST_REQUIRE_EQUAL(message.fds.size(), 2U);
  struct stat theirs {
  }, ours{};
  BOOST_CHECK(::fstat(message.fds[1].get(), &theirs) == 0 && ::fstat(to.get(), &ours) == 0 &&
              theirs.st_ino == ours.st_ino);
  from.reset();
  BOOST_CHECK(!receive_message(to.get(), message));
}

BOOST_AUTO_TEST_SUITE_END()
