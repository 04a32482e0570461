// The routines that wait for requests, or test them. Operations of one-sided requests complete them first.
#include <vector>

#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/request.hpp"
#include "interpose/serving.hpp"
#include "interpose/waiting.hpp"

using shmemx::interpose::before_test;
using shmemx::interpose::below;
using shmemx::interpose::has_open_requests;
using shmemx::interpose::OpenOnes;
using shmemx::interpose::serves_in_waits;
using shmemx::interpose::test_until_done;

namespace {

// While operations are open this process has to make progress with them, whatever else it waits for.
bool waits_here() noexcept { return serves_in_waits() || has_open_requests(); }

// Waits for those of the requests that are of one-sided operations.
void await_own(int count, const MPI_Request* requests) {
  if (!has_open_requests() || count <= 0) return;
  OpenOnes open({requests, static_cast<std::size_t>(count)});
  shmemx::interpose::wait_until([&] { return open.complete_those_done(); });
}

// Calls test(&flag) of the MPI until one of the requests is complete.
template <class Test>
int test_until_any(int count, const MPI_Request* requests, Test test) {
  const auto all = static_cast<std::size_t>(count > 0 && has_open_requests() ? count : 0);
  OpenOnes open({requests, all});
  return test_until_done([&](int* done) {
    open.complete_those_done();
    return test(done);
  });
}

// Statuses for MPI_Testall. MPICH tests requests in batches of 64. Without statuses it takes all of them for messages
// if those of the last batch are, and aborts at a generalized one.
class Statuses {
 public:
  Statuses(int count, MPI_Status* of_caller) : all_(of_caller) {
#ifdef MPICH_VERSION
    constexpr int kBatch = 64;
    if (of_caller != MPI_STATUSES_IGNORE || count <= kBatch) return;
    own_.resize(static_cast<std::size_t>(count));
    all_ = own_.data();
#else
    static_cast<void>(count);
#endif
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;

  MPI_Status* get() noexcept { return all_; }

 private:
  MPI_Status* all_;
  std::vector<MPI_Status> own_;
};

}  // namespace

SHMEMX_ENTRY int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  await_own(1, request);
  if (!waits_here()) return below().Wait(request, status);
  return test_until_done([&](int* done) { return below().Test(request, done, status); });
}
SHMEMX_BOTH_NAMES(Wait, 2)

SHMEMX_ENTRY int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  await_own(count, requests);
  if (!waits_here()) return below().Waitall(count, requests, statuses);
  Statuses all(count, statuses);
  return test_until_done([&](int* done) { return below().Testall(count, requests, done, all.get()); });
}
SHMEMX_BOTH_NAMES(Waitall, 3)

SHMEMX_ENTRY int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!waits_here()) return below().Waitany(count, requests, index, status);
  return test_until_any(count, requests,
                        [&](int* done) { return below().Testany(count, requests, index, done, status); });
}
SHMEMX_BOTH_NAMES(Waitany, 4)

SHMEMX_ENTRY int PMPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (!waits_here()) return below().Waitsome(count, requests, done, indices, statuses);
  return test_until_any(count, requests, [&](int* any) {
    const int code = below().Testsome(count, requests, done, indices, statuses);
    *any = *done != 0 ? 1 : 0;
    return code;
  });
}
SHMEMX_BOTH_NAMES(Waitsome, 5)

SHMEMX_ENTRY int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  before_test(1, request);
  return below().Test(request, flag, status);
}
SHMEMX_BOTH_NAMES(Test, 3)

SHMEMX_ENTRY int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  before_test(count, requests);
  return below().Testall(count, requests, flag, Statuses(count, statuses).get());
}
SHMEMX_BOTH_NAMES(Testall, 4)

SHMEMX_ENTRY int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  before_test(count, requests);
  return below().Testany(count, requests, index, flag, status);
}
SHMEMX_BOTH_NAMES(Testany, 5)

SHMEMX_ENTRY int PMPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  before_test(count, requests);
  return below().Testsome(count, requests, done, indices, statuses);
}
SHMEMX_BOTH_NAMES(Testsome, 5)

SHMEMX_ENTRY int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  before_test(1, &request);
  return below().Request_get_status(request, flag, status);
}
SHMEMX_BOTH_NAMES(Request_get_status, 3)

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

SHMEMX_ENTRY int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                             MPI_Status statuses[]) {
  before_test(count, requests);
  return below().Request_get_status_all(count, requests, flag, statuses);
}
SHMEMX_BOTH_NAMES(Request_get_status_all, 4)

SHMEMX_ENTRY int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                             MPI_Status* status) {
  before_test(count, requests);
  return below().Request_get_status_any(count, requests, index, flag, status);
}
SHMEMX_BOTH_NAMES(Request_get_status_any, 5)

SHMEMX_ENTRY int PMPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                              MPI_Status statuses[]) {
  before_test(count, requests);
  return below().Request_get_status_some(count, requests, done, indices, statuses);
}
SHMEMX_BOTH_NAMES(Request_get_status_some, 5)

#endif
