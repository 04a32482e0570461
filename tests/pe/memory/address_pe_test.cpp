// Programs that take the addresses of symmetric objects of another PE for their own: the standard does not promise it,
// but other libraries keep to it.
#include <shmemx.h>

#include <string>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

}  // namespace

PE_TEST(an_address_in_a_message_is_that_of_the_receivers_object) {
  const Symmetric<long> value(1);
  long* const own = value.get();
  *own = -1;
  shmem_barrier_all();
  shmemx_request_t sending = SHMEMX_REQUEST_NULL;
  shmemx_isend(&own, sizeof own, right(), 5, &sending);
  long* theirs = nullptr;
  shmemx_recv(&theirs, sizeof theirs, left(), 5, nullptr);
  shmemx_wait(&sending, nullptr);
  CHECK_EQUAL(static_cast<void*>(theirs), static_cast<void*>(own));
  shmem_long_p(theirs, me(), left());
  shmem_barrier_all();
  CHECK_EQUAL(*own, right());
}

PE_TEST(an_array_of_pointers_can_be_broadcast) {
  constexpr int kObjects = 40;
  const Symmetric<long*> table(kObjects);
  const Symmetric<long*> received(kObjects);
  std::vector<long*> objects;
  for (int i = 0; i < kObjects; ++i) {
    objects.push_back(static_cast<long*>(shmem_malloc((1 + i) * sizeof(long))));
    table.get()[i] = objects.back();
  }
  shmem_team_sync(SHMEM_TEAM_WORLD);
  CHECK_EQUAL(shmem_broadcastmem(SHMEM_TEAM_WORLD, received.get(), table.get(), kObjects * sizeof(long*), pes() - 1),
              0);
  for (int i = 0; i < kObjects; ++i) {
    CHECK_EQUAL(static_cast<void*>(received.get()[i]), static_cast<void*>(objects[static_cast<std::size_t>(i)]));
    shmem_long_p(received.get()[i] + i, 100 * me() + i, right());
  }
  shmem_barrier_all();
  for (int i = 0; i < kObjects; ++i) CHECK_EQUAL(objects[static_cast<std::size_t>(i)][i], 100 * left() + i);
  shmem_barrier_all();
  for (long* const object : objects) shmem_free(object);
}
