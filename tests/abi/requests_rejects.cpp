// What requests.hpp must not compile: one case for each value of CASE, as in cpp_rejects.cpp.
#include <shmemx/requests.hpp>
#include <shmemx/shmemx.hpp>

#include <string>
#include <vector>

static std::vector<std::string> texts(4);
static std::vector<int*> addresses(4);
static std::vector<double> numbers(4);
static const std::vector<double> constants(4);
static std::vector<int> integers(4);
static const std::vector<std::size_t> lengths(1, 4);

void use(const shmemx::team& world) {
  shmemx::block_lengths<double> known(lengths);
#if CASE == 0
  shmemx::sendv({numbers, constants}, 0, 1);
  shmemx::recvv({numbers}, 0, 1);
  shmemx::send_strided(constants, 1, 2, 0, 1);
  shmemx::alltoallv(world, numbers, known, constants, known);
#elif CASE == 1   // this type is not trivially copyable: its bytes alone are no copy of it on another PE
  shmemx::send(texts, 0, 1);
#elif CASE == 2   // this type is or has a pointer, which means nothing on another PE
  shmemx::recv(addresses, 0, 1);
#elif CASE == 3   // this type is not trivially copyable
  shmemx::sendv({texts, numbers}, 0, 1);
#elif CASE == 4   // this type is or has a pointer
  shmemx::recvv({numbers, addresses}, 0, 1);
#elif CASE == 5   // the target of this operation is const
  shmemx::recvv({constants}, 0, 1);
#elif CASE == 6   // no matching function
  const shmemx::request sent = shmemx::isendv({std::vector<double>(4)}, 0, 1);
#elif CASE == 7   // this type is not trivially copyable
  shmemx::send_strided(texts, 1, 2, 0, 1);
#elif CASE == 8   // this type is or has a pointer
  shmemx::recv_strided(addresses, 1, 2, 0, 1);
#elif CASE == 9   // the target of this operation is const
  const shmemx::request got = shmemx::irecv_strided(constants, 1, 2, 0, 1);
#elif CASE == 10  // this type is not trivially copyable
  shmemx::alltoallv(world, texts, texts, lengths);
#elif CASE == 11  // this type is or has a pointer
  shmemx::alltoallv(world, addresses, addresses, lengths);
#elif CASE == 12  // source and memory have one type
  shmemx::alltoallv(world, numbers, integers, lengths);
#elif CASE == 13  // the target of this operation is const
  shmemx::alltoallv(world, constants, numbers, lengths);
#elif CASE == 14  // deleted
  const shmemx::request open =
      shmemx::alltoallv_nb(world, numbers, known, constants, shmemx::block_lengths<double>(lengths));
#elif CASE == 15  // no matching function
  shmemx::block_lengths<int> of_integers(lengths);
  shmemx::alltoallv(world, numbers, known, numbers, of_integers);
#endif
}
