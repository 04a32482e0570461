// The stencil of stencil.cpp as a program of MPI that does not block: a process has one block, sends its faces,
// computes the cells inside while those of the neighbours travel, waits for them, and computes the border. Its figures
// stand beside those of the same computation in eight objects.
//   stencil_mpi [--rounds n]
#include <mpi.h>

#include <algorithm>
#include <array>

#include "processes.hpp"
#include "program.hpp"
#include "stencil.hpp"

namespace {
using namespace shmemx::bench;

// Of a block that is as long as its face. The cells inside need none of a neighbour's.
constexpr long kCells = kFaceEdge * kFaceEdge * kFaceEdge;
constexpr long kInnerCells = (kFaceEdge - 2) * (kFaceEdge - 2) * (kFaceEdge - 2);
constexpr std::int64_t kInnerNs = kComputationNs * kInnerCells / kCells;

// The neighbours of this process on a periodic grid: two of each axis. Along a short axis it is its own neighbour.
std::array<int, kFaces> neighbours() {
  std::array<int, 3> extents{}, periods{1, 1, 1};
  MPI_Dims_create(pes(), 3, extents.data());
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 3, extents.data(), periods.data(), 0, &grid);
  std::array<int, kFaces> found{};
  for (int axis = 0; axis < 3; ++axis) MPI_Cart_shift(grid, axis, 1, &found[2 * axis], &found[2 * axis + 1]);
  MPI_Comm_free(&grid);
  return found;
}

class Block {
 public:
  explicit Block(std::int64_t delay_ns) : delay_ns_(delay_ns), neighbours_(neighbours()), out_(kFaces), in_(kFaces) {}

  void step() {
    std::array<MPI_Request, 2 * kFaces> requests;
    int open = 0;
    for (int i = 0; i < kFaces; ++i)
      if (is_other(i)) transfer(MPI_Irecv, in_, i, i, &requests[open++]);
    for (int i = 0; i < kFaces; ++i) {
      out_[i].due_ns = now_ns() + delay_ns_;
      if (is_other(i)) transfer(MPI_Isend, out_, i, i ^ 1, &requests[open++]);
    }
    compute_ns(kInnerNs);
    MPI_Waitall(open, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < kFaces; ++i)
      while (is_other(i) && now_ns() < in_[i].due_ns) {
      }
    compute_ns(kComputationNs - kInnerNs);
  }

 private:
  bool is_other(int i) const { return neighbours_[i] != me(); }
  // The tag is the side of the receiver.
  template <class Call>
  void transfer(Call call, std::vector<Face>& faces, int i, int tag, MPI_Request* request) {
    call(&faces[i], sizeof(Face), MPI_BYTE, neighbours_[i], tag, MPI_COMM_WORLD, request);
  }

  const std::int64_t delay_ns_;
  const std::array<int, kFaces> neighbours_;
  std::vector<Face> out_, in_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  begin_job(&argc, &argv);
  const int steps = options.rounds <= 1 ? 5 : 50;
  for (const std::int64_t delay : {kDelayNs, std::int64_t{0}}) {
    std::vector<double> samples;
    for (int round = 0; round < options.rounds; ++round) {
      Block block(delay);
      synchronize();
      const std::int64_t begin = now_ns();
      for (int i = 0; i < steps; ++i) block.step();
      synchronize();
      samples.push_back(seconds_since(begin) * 1e3 / steps);
    }
    if (me() == 0)
      print_figure({"tasks_stencil", sizeof(Face), "ms", state_of_stencil(8, delay != 0)}, pes(), samples, "");
  }
  end_job();
  return 0;
}
