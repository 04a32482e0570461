// Children of fork have their own copy of the globals, and no sockets of networks, however the library is linked.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/pe_test.hpp"

using namespace pe_test;

static volatile long global = 5;
static volatile char zeroed[1 << 20];

namespace {

// Returns the exit status of a forked child that runs `run`; -1 if it was killed.
template <class Run>
int in_child(const Run& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  global = global + 1000;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// Returns the number of this process's sockets of networks.
int network_sockets() {
  constexpr int kMostDescriptors = 256;
  int count = 0;
  for (int fd = STDERR_FILENO + 1; fd < kMostDescriptors; ++fd) {
    int domain = 0;
    socklen_t bytes = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain != AF_UNIX && domain != AF_NETLINK)
      ++count;
  }
  return count;
}

}  // namespace

PE_TEST(globals_of_parent_and_child_are_separate) {
  Symmetric<long> word;
  zeroed[1000] = 7;
  for (int i = 0; i < 40; ++i) {
    global = i;
    const int status = in_child([i] {
      const bool as_at_the_fork = global == i && zeroed[1000] == 7;
      global = -1;
      zeroed[1000] = 9;
      usleep(100);
      return as_at_the_fork && global == -1 && zeroed[1000] == 9 ? 0 : 9;
    });
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(global, long{i + 1000});
    CHECK_EQUAL(int{zeroed[1000]}, 7);
    shmem_long_p(word.get(), i, right());
  }
}

// The library prints a diagnostic and ends the child; the parent's contexts still work.
PE_TEST(a_child_is_not_a_pe) {
  Symmetric<long> word;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
  const auto quietly = [](auto&& call) {
    return in_child([&] {
      close(STDERR_FILENO);
      call();
      return 0;
    });
  };
  CHECK_EQUAL(quietly([&] { shmem_long_p(word.get(), 9, me()); }), 1);
  CHECK_EQUAL(quietly([&] { shmem_ctx_long_p(ctx, word.get(), 9, me()); }), 1);
  CHECK_EQUAL(*word, 0L);
  shmem_barrier_all();
  shmem_ctx_long_p(ctx, word.get(), 3, right());
  shmem_barrier_all();
  CHECK_EQUAL(*word, 3L);
  shmem_ctx_destroy(ctx);
}

// As long as it had them, others would not notice the end of its PE. Those of the parent stay open.
PE_TEST(a_child_has_no_sockets_of_networks) {
  Symmetric<long> word;
  shmem_long_p(word.get(), 1, right());
  shmem_barrier_all();
  const int before = network_sockets();
  CHECK_EQUAL(in_child([] { return network_sockets(); }), 0);
  CHECK_EQUAL(network_sockets(), before);
  shmem_long_p(word.get(), 2, right());
  shmem_barrier_all();
  CHECK_EQUAL(*word, 2L);
}
