#include "bootstrap/liveness.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(bootstrap_liveness)

namespace {

using namespace shmemx;
using namespace shmemx::bootstrap;

// An arena of two PEs, the first of which is this process.
struct Arena {
  UniqueFd fd = std::move(create_job_file(2, random_id()).value());
  JobHeader* header = nullptr;
  int report[2] = {-1, -1};  // a pipe by which the second PE says that it has begun

  Arena() {
    header =
        static_cast<JobHeader*>(::mmap(nullptr, header_bytes(2, 2), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
    BOOST_REQUIRE_EQUAL(::pipe(report), 0);
  }
  ~Arena() {
    ::close(report[0]);
    ::close(report[1]);
    unmap_job_header(header);
  }
  PeRecord& record() const { return *record_of(header, 1); }
  bool has_ended() const { return Liveness(fd.get()).has_ended(1, record()); }
  void say_ready() const {
    const char ready = 1;
    if (::write(report[1], &ready, 1) != 1) ::_exit(9);
  }
  void await_ready() const {
    char ready = 0;
    BOOST_REQUIRE_EQUAL(::read(report[0], &ready, 1), 1);
  }
};

// A child that ends with its parent, whatever happens.
pid_t fork_child() {
  const pid_t pid = ::fork();
  if (pid == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

// Starts the second PE: announces itself, then runs.
template <class Run>
pid_t start_pe(const Arena& arena, Run run) {
  const pid_t pid = fork_child();
  if (pid != 0) return pid;
  announce_liveness(arena.fd.get(), 1, arena.record());
  run();
  arena.say_ready();
  for (;;) ::pause();
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_process_lives_until_it_ends) {
  const Arena arena;
  const pid_t pe = start_pe(arena, [] {});
  arena.await_ready();
  BOOST_CHECK_EQUAL(arena.record().has_liveness_lock, 1U);
  BOOST_CHECK(!arena.has_ended());
  end(pe);
  BOOST_CHECK(arena.has_ended());
}

// A wrapper or a program may close all descriptors that it did not open itself.
BOOST_AUTO_TEST_CASE(descriptors_that_the_program_closes_do_not_matter) {
  const Arena arena;
  const pid_t pe = start_pe(arena, [&arena] {
    for (int fd = 3; fd < 1024; ++fd) {
      if (fd != arena.report[1]) ::close(fd);
    }
  });
  arena.await_ready();
  BOOST_CHECK(!arena.has_ended());
  end(pe);
  BOOST_CHECK(arena.has_ended());
}

BOOST_AUTO_TEST_CASE(a_forked_child_is_not_the_pe) {
  const Arena arena;
  pid_t* const child =
      static_cast<pid_t*>(::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t pe = start_pe(arena, [child] {
    const pid_t pid = ::fork();
    while (pid == 0) ::pause();
    *child = pid;
  });
  arena.await_ready();
  end(pe);
  BOOST_CHECK(arena.has_ended());
  BOOST_REQUIRE_GT(*child, 0);
  BOOST_CHECK_EQUAL(::kill(*child, SIGKILL), 0);  // it lived
  ::munmap(child, kPageBytes);
}

BOOST_AUTO_TEST_CASE(another_program_in_the_process_is_not_the_pe) {
  const Arena arena;
  const pid_t pe = fork_child();
  if (pe == 0) {
    announce_liveness(arena.fd.get(), 1, arena.record());
    ::dup2(arena.report[1], STDOUT_FILENO);
    ::execlp("sh", "sh", "-c", "echo; exec sleep 60", nullptr);
    ::_exit(9);
  }
  arena.await_ready();
  BOOST_CHECK(arena.has_ended());
  BOOST_CHECK_EQUAL(::kill(pe, 0), 0);
  end(pe);
}

// Its number there is 1, or means another process here.
BOOST_AUTO_TEST_CASE(a_process_of_another_pid_namespace_lives) {
  const Arena arena;
  const pid_t outer = fork_child();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      arena.record().networks = 77;
      arena.say_ready();
      ::_exit(0);
    }
    const pid_t pe = start_pe(arena, [] {});
    ::waitpid(pe, nullptr, 0);
    ::_exit(0);
  }
  arena.await_ready();
  if (arena.record().networks == 77) {
    BOOST_TEST_MESSAGE("skipped: no PID namespaces here");
  } else {
    BOOST_CHECK(!arena.has_ended());
    PeRecord& record = arena.record();
    record.has_liveness_lock = 0;  // as without /proc: nothing tells, so it counts as alive
    record.pid = 0x7fff'fff0;
    BOOST_CHECK(!arena.has_ended());
    record.has_liveness_lock = 1;
  }
  end(outer);  // and the PE with it
}

BOOST_AUTO_TEST_CASE(without_a_lock_the_process_number_counts) {
  const Arena arena;
  const pid_t pe = start_pe(arena, [&arena] { arena.record().has_liveness_lock = 0; });
  arena.await_ready();
  BOOST_CHECK(!arena.has_ended());
  end(pe);
  BOOST_CHECK(arena.has_ended());
}

// The program has closed the arena's descriptor here, and its number is another file's.
BOOST_AUTO_TEST_CASE(a_reused_descriptor_tells_nothing) {
  const Arena arena;
  const pid_t pe = start_pe(arena, [] {});
  arena.await_ready();
  const int fd = ::dup(arena.fd.get());
  const Liveness liveness(fd);
  const UniqueFd other(::open("/dev/null", O_RDWR));
  ::dup2(other.get(), fd);
  BOOST_CHECK(!liveness.has_ended(1, arena.record()));
  ::close(fd);
  BOOST_CHECK(!liveness.has_ended(1, arena.record()));
  end(pe);
}

BOOST_AUTO_TEST_SUITE_END()
