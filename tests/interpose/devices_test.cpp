// Memory of a device: operations refuse it, and windows over it are left to the MPI. It is memory that nobody can
// access, which a stand-in for the driver's library says to be a device's.
#include <sys/mman.h>

#include "error_classes.hpp"
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::Returning;
using mpi_test::right;
using mpi_test::TestWindow;

extern "C" {
void fake_cuda_set_device(void* begin, std::size_t bytes);
unsigned fake_cuda_calls();
}

namespace {

class Device {
 public:
  Device() : memory(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    fake_cuda_set_device(memory, kBytes);
  }
  ~Device() {
    fake_cuda_set_device(nullptr, 0);
    ::munmap(memory, kBytes);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  void* memory;
};

}  // namespace

CASE(data_of_a_device_are_refused) {
  const Device device;
  Returning window;
  long value = 0;
  void* const data = device.memory;
  MPI_Win win = window.win;
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; ++round) {  // the later ones might take a short way
    MPI_Put(&value, 1, MPI_LONG, right(), 0, 1, MPI_LONG, win);
    CHECK_CLASS(MPI_Put(data, 1, MPI_LONG, right(), 0, 1, MPI_LONG, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Get(data, 1, MPI_LONG, right(), 0, 1, MPI_LONG, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Accumulate(data, 1, MPI_LONG, right(), 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Fetch_and_op(data, &value, MPI_LONG, right(), 0, MPI_SUM, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Fetch_and_op(&value, data, MPI_LONG, right(), 0, MPI_NO_OP, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Compare_and_swap(&value, &value, data, MPI_LONG, right(), 0, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Get_accumulate(&value, 1, MPI_LONG, data, 1, MPI_LONG, right(), 0, 1, MPI_LONG, MPI_SUM, win),
                MPI_ERR_BUFFER);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Rput(data, 1, MPI_LONG, right(), 0, 1, MPI_LONG, win, &request), MPI_ERR_BUFFER);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(window.data[0], 0L);
  CHECK(fake_cuda_calls() != 0);
}

CASE(memory_of_a_device_is_not_attached) {
  const Device device;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Win_attach(win, device.memory, 64), MPI_ERR_RMA_ATTACH);
  MPI_Win_free(&win);
}

// Memory of this process is moved as ever.
CASE(other_memory_is_none_of_a_device) {
  const Device device;
  TestWindow<long> window(2, TestWindow<long>::Memory::own, -1);
  const long value = rank;
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < 2; ++i) MPI_Put(&value, 1, MPI_LONG, right(), i, 1, MPI_LONG, window.win);
  MPI_Win_fence(0, window.win);
  CHECK(window.data[0] == left() && window.data[1] == left());
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
