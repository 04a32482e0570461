// links [rate|failover]: two PEs on two hosts, run by run.sh.
//   rate      megabytes per second of puts and gets of 4 MiB, and of puts of 64 KiB, of one or two links
//   failover  the longest time between two puts of 8 B that complete, in ms, when the link in use is cut
#include <shmem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLong = std::size_t{4} << 20;
constexpr std::size_t kShort = std::size_t{64} << 10;
constexpr int kRounds = 2;  // the first one is not counted: the shares of the links are found

int me;
int peer;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class Move>
void measure(const char* name, std::size_t bytes, int count, const Move& move) {
  double seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    shmem_barrier_all();
    const Clock::time_point begin = Clock::now();
    if (me == 0) {
      for (int i = 0; i < count; ++i) move();
      shmem_quiet();
    }
    shmem_barrier_all();
    seconds = seconds_since(begin);
  }
  if (me == 0) std::printf("%s %zu %.2f\n", name, bytes, static_cast<double>(bytes) * count / seconds / 1e6);
}

void measure_rate() {
  auto* const there = static_cast<char*>(shmem_malloc(kLong));
  std::vector<char> here(kLong, 1);
  measure("put", kShort, 200, [&] { shmem_putmem(there, here.data(), kShort, peer); });
  measure("put", kLong, 8, [&] { shmem_putmem(there, here.data(), kLong, peer); });
  measure("get", kLong, 8, [&] { shmem_getmem(here.data(), there, kLong, peer); });
}

void cut() {
  const char* const folder = std::getenv("VHOSTS_DIR");
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/requests", folder == nullptr ? "" : folder);
  const char what[] = "cut h1/0";
  if (::sendto(socket, what, sizeof what - 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
    std::perror("links: send to vhosts");
  ::close(socket);
}

void measure_failover() {
  static long word;
  shmem_barrier_all();
  if (me == 0) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = begin;
    double longest = 0;
    bool is_cut = false;
    while (seconds_since(begin) < 2.5) {
      shmem_long_p(&word, 1, peer);
      shmem_quiet();
      longest = std::max(longest, seconds_since(last));
      last = Clock::now();
      if (!is_cut && seconds_since(begin) > 0.5) {
        cut();
        is_cut = true;
      }
    }
    std::printf("failover 8 %.0f\n", longest * 1e3);
  }
  shmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  me = shmem_my_pe();
  peer = 1 - me;
  if (argc > 1 && std::strcmp(argv[1], "failover") == 0) {
    measure_failover();
  } else {
    measure_rate();
  }
  shmem_finalize();
  return 0;
}
