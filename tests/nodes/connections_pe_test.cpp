// Who connects to whom: what all PEs of a job do together goes through the leaders of the nodes, so that the number of
// a PE's connections grows with the logarithm of the nodes, and a PE that leads no node has none; or few, on nodes of
// two PEs: whichever of them arrives last in a collective sends to other nodes.
#include <dirent.h>
#include <shmem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

// Sockets of the networks: PEs of a node also wake each other through sockets that name no network.
int open_sockets() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder)) {
    int domain = AF_UNSPEC;
    socklen_t size = sizeof domain;
    if (::getsockopt(std::atoi(entry->d_name), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX)
      ++count;
  }
  ::closedir(folder);
  return count;
}

const int sockets_before_init = open_sockets();
constexpr int kSocketsOfTransport = 1;  // which accepts connections

int pes_of_node() { return shmem_team_n_pes(SHMEM_TEAM_SHARED); }
int nodes() { return (pes() + pes_of_node() - 1) / pes_of_node(); }
bool leads() { return shmem_team_my_pe(SHMEM_TEAM_SHARED) == 0; }

bool any_may_send() { return pes_of_node() <= 2; }

// A leader awaits the leaders 2^k nodes behind and sends to those 2^k ahead. Members of two nodes send to it in a
// barrier and in a reduction, which may be different nodes; their numbers are not known here.
int connections_of_leader() {
  const auto rounds = std::bit_width(static_cast<unsigned>(nodes() - 1));
  return 2 * static_cast<int>(rounds) + 2 + (any_may_send() ? 2 * pes_of_node() : 0);
}
int connections_of_member() { return any_may_send() ? std::min(nodes() - 1, 2) : 0; }

PE_TEST_MIN(what_all_do_together_needs_few_connections, 2) {
  const Symmetric<long> word(2);
  for (int i = 0; i < 10; ++i) {
    void* const block = shmem_malloc(64 + static_cast<std::size_t>(i));
    CHECK(block != nullptr);
    shmem_barrier_all();
    word.get()[0] = me();
    CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word.get() + 1, word.get(), 1), 0);
    CHECK_EQUAL(word.get()[1], static_cast<long>(pes()) * (pes() - 1) / 2);
    shmem_free(block);
  }
  shmem_team_t copy = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &copy), 0);
  shmem_team_sync(copy);
  shmem_team_destroy(copy);
  shmem_barrier_all();
  const int opened = open_sockets() - sockets_before_init - kSocketsOfTransport;
  CHECK(opened <= (leads() ? connections_of_leader() : connections_of_member()));
  if (leads() && nodes() > 1) CHECK(opened >= 1);  // they are seen
}

// Members may differ in what they may use: then all see it, and find what is common.
PE_TEST_MIN(a_split_finds_a_slot_that_is_free_on_all_members, 2) {
  shmem_team_t low = SHMEM_TEAM_INVALID;
  shmem_team_t all = SHMEM_TEAM_INVALID;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, &low), 0);
  CHECK_EQUAL(low != SHMEM_TEAM_INVALID, me() == 0);
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &all), 0);
  CHECK_EQUAL(shmem_team_n_pes(all), pes());
  const Symmetric<long> word(2);
  word.get()[0] = 1;
  CHECK_EQUAL(shmem_long_sum_reduce(all, word.get() + 1, word.get(), 1), 0);
  CHECK_EQUAL(word.get()[1], static_cast<long>(pes()));
  shmem_team_sync(all);
  shmem_team_destroy(all);
  if (me() == 0) shmem_team_destroy(low);
  shmem_barrier_all();
}

}  // namespace
