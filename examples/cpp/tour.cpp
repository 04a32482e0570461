// The parts of shmemx.hpp, one after the other. docs/cpp.md explains them.
#include <shmemx/requests.hpp>
#include <shmemx/shmemx.hpp>

#include <array>
#include <cstdio>
#include <mutex>
#include <vector>

namespace {

struct Particle {
  double x, y, z;
  int kind;
};

void memory_and_transfers() {
  const int right = (shmemx::my_pe() + 1) % shmemx::n_pes();
  shmemx::symmetric_array<Particle> particles(100);  // collective; zeroed
  std::vector<Particle> mine(10, Particle{1, 2, 3, 4});
  shmemx::put(particles, mine, right);        // elements 0 to 9 of the right neighbour
  shmemx::put(particles + 50, mine, right);   // 50 to 59
  shmemx::p(particles + 99, mine[0], right);  // one element
  shmemx::quiet();
  const Particle one = shmemx::g(particles + 99, right);
  shmemx::get(mine, particles.subspan(50, 10), right);  // as many as `mine` has
  if (const Particle *mapped = particles.ptr().on(right)) mine[0] = mapped[99];
  std::vector<double> column(4);
  static double matrix[4][8];  // static variables are symmetric
  shmemx::iget(column.data(), shmemx::symmetric_ptr(&matrix[0][2]), 1, 8, 4, right);
  shmemx::barrier_all();
  if (one.kind != 4) std::puts("wrong");
}

void memory_that_may_be_missing() {
  const auto large = shmemx::symmetric_array<double>::try_allocate(std::size_t{1} << 45);
  if (!large && shmemx::my_pe() == 0) std::puts("no room for 256 TiB");
}

void memory_that_is_dropped() {
  const int right = (shmemx::my_pe() + 1) % shmemx::n_pes();
  {
    const shmemx::symmetric_array<double> scratch(1000);
    shmemx::p(scratch, 1.5, right);
  }
  // No PE has waited: each one has dropped its part of scratch, and the next array frees what all PEs have dropped.
  shmemx::symmetric_array<double> large(1000);
  shmemx::barrier_all();
  large.free();  // collective: freed at once
  shmemx::free_dropped();
}

void contexts() {
  const int right = (shmemx::my_pe() + 1) % shmemx::n_pes();
  const shmemx::symmetric_array<double> halo(64);
  const shmemx::symmetric_array<double> result(64);
  const std::vector<double> data(64, 1.5);
  const shmemx::context ahead(shmemx::context_options::private_to_thread);
  shmemx::put_nbi(halo, data, right, ahead);
  shmemx::put_nbi(result, data, right);
  shmemx::quiet(ahead);  // completes the first put, not the second
  shmemx::quiet();
  shmemx::barrier_all();
}

void teams_and_collectives() {
  const shmemx::team world = shmemx::team::world();
  const shmemx::symmetric_array<long> source(4);
  const shmemx::symmetric_array<long> dest(4);
  if (const shmemx::team even = world.split_strided(0, 2, (world.n_pes() + 1) / 2)) {  // not valid on odd PEs
    source[0] = even.my_pe();
    shmemx::reduce(even, dest, source, shmemx::ops::max);
    shmemx::broadcast(even, dest, source, 0);
    shmemx::sync(even);
  }
  shmemx::sum_exscan(world, dest.subspan(0, 1), source.subspan(0, 1));
  const auto [row, column] = world.split_2d(2);
  const shmemx::context in_row(row);  // PE numbers count within the row
  shmemx::p(source, 7L, 0, in_row);
}

void atomics_waits_and_locks() {
  const shmemx::symmetric_array<long> counter(1);
  shmemx::symmetric_mutex mutex;
  const long ticket = shmemx::atomic_fetch_add(counter, 1L, 0);
  if (shmemx::my_pe() == 0) shmemx::wait_until(counter, shmemx::cmp::eq, shmemx::n_pes() + 0L);
  shmemx::barrier_all();
  {
    const std::scoped_lock guard(mutex);
    shmemx::p(counter, shmemx::g(counter, 0) + 1, 0);
  }
  shmemx::barrier_all();
  if (ticket == 0) std::printf("counted to %ld\n", shmemx::g(counter, 0));
  shmemx::barrier_all();
}

void messages_and_collectives_in_the_background() {
  constexpr int kTag = 1;
  const int right = (shmemx::my_pe() + 1) % shmemx::n_pes();
  const int left = (shmemx::my_pe() + shmemx::n_pes() - 1) % shmemx::n_pes();
  std::vector<double> halo(100);
  const std::vector<double> mine(100, shmemx::my_pe());
  shmemx::request arrives = shmemx::irecv(halo, left, kTag);
  shmemx::send(mine, right, kTag);
  const shmemx::message_status status = arrives.wait();
  if (status.count<double>() != 100 || halo[0] != left) std::puts("wrong");

  std::vector<double> sum(100);
  shmemx::request summed = shmemx::reduce_nb(shmemx::team::world(), sum, mine, shmemx::op::sum);
  summed.wait();

  // Messages in several pieces, and columns of a matrix of 8 columns.
  const std::array<int, 2> head{shmemx::my_pe(), 100};
  std::array<int, 2> its_head{};
  const shmemx::request both = shmemx::isendv({head, mine}, right, kTag);
  shmemx::recvv({its_head, halo}, left, kTag);
  std::vector<double> matrix(4 * 8);
  const shmemx::request column = shmemx::isend_strided(std::span(matrix).subspan(2), 1, 8, right, kTag);
  shmemx::recv_strided(std::span(matrix).subspan(3), 1, 8, left, kTag);

  // PE p sends p + 1 elements to each PE.
  const std::vector<std::size_t> lengths(static_cast<std::size_t>(shmemx::n_pes()),
                                         static_cast<std::size_t>(shmemx::my_pe()) + 1);
  const std::vector<long> blocks(lengths.size() * lengths[0], shmemx::my_pe());
  std::vector<long> arrived(lengths.size() * (lengths.size() + 1) / 2);
  const std::vector<std::size_t> come = shmemx::alltoallv(shmemx::team::world(), arrived, blocks, lengths);
  if (come.back() != lengths.size() || arrived.back() != shmemx::n_pes() - 1) std::puts("wrong");
}

}  // namespace

int main() {
  const shmemx::library library(shmemx::thread_level::funneled);
  if (!library) return 1;
  memory_and_transfers();
  memory_that_may_be_missing();
  memory_that_is_dropped();
  contexts();
  teams_and_collectives();
  atomics_waits_and_locks();
  messages_and_collectives_in_the_background();
  return 0;
}
