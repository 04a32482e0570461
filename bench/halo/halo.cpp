// How long does an exchange of one or two rows and columns with all neighbours take, for four PEs with square tiles?
// Two tiles take turns, as in a Jacobi iteration: a neighbour that is one exchange ahead does not disturb.
// Ours has three ways: two-sided messages, put with signal, and the same with SHMEMX_NODE_PATH=queue. MPI has two:
// started messages of a vector type, and MPI_Sendrecv with packed columns; the better one counts. The raw program
// stores into the neighbour's tile and sets flags.
#include <array>

#include "../support/program.hpp"
#include "../two_sided/messages.hpp"
#include "tile.hpp"
#if defined(BENCH_RAW)
#include "../support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kTileBytes = tile_cells(kMostEdge, kMostWidth) * sizeof(double);
constexpr std::size_t kPackedCells = kMostWidth * (kMostEdge + 2 * kMostWidth);

Tile tile_of(const Work& work, std::size_t edge, std::size_t width) {
  return {reinterpret_cast<double*>(work.sequence % 2 == 0 ? work.source : work.dest), edge, width};
}

#if defined(BENCH_RAW)

// Sets the flag of one side, in the neighbour that waits for it.
void set_flag(const Work& work, Edge side) {
  Shared* there = work.job->remote(work.shared, neighbour(work.pe, side));
  there->mailbox[opposite(side)].sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
}

void exchange_two_sides(Work& work, const Tile& tile, Edge first) {
  for (const Edge side : {first, opposite(first)}) {
    const double* from = tile.inner(side);
    double* to = work.job->remote(tile.outer(opposite(side)), neighbour(work.pe, side));
    if (first == kUp) {
      std::memcpy(to, from, tile.row_bytes());
    } else {
      for (std::size_t row = 0; row < tile.pitch(); ++row)
        for (std::size_t k = 0; k < tile.width; ++k) to[row * tile.pitch() + k] = from[row * tile.pitch() + k];
    }
    set_flag(work, side);
  }
  for (const Edge side : {first, opposite(first)}) raw_await(work, work.shared->mailbox[side].sequence, work.sequence);
}

template <std::size_t edge, std::size_t width>
void exchange(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    const Tile tile = tile_of(work, edge, width);
    exchange_two_sides(work, tile, kUp);
    exchange_two_sides(work, tile, kLeft);
    forget_memory();
  }
}
template <std::size_t edge, std::size_t width>
constexpr auto exchange_messages = exchange<edge, width>;
template <std::size_t edge, std::size_t width>
constexpr auto exchange_puts = exchange<edge, width>;

#else

void exchange_rows(Work& work, const Tile& tile) {
  MessageRequest requests[4];
  const int peer = neighbour(work.pe, kUp);
  start_receive(&requests[0], tile.outer(kUp), tile.row_bytes(), peer, kDown);
  start_receive(&requests[1], tile.outer(kDown), tile.row_bytes(), peer, kUp);
  start_send(&requests[2], tile.inner(kUp), tile.row_bytes(), peer, kUp);
  start_send(&requests[3], tile.inner(kDown), tile.row_bytes(), peer, kDown);
  complete(requests, 4);
}

#if defined(BENCH_MPI)

// Creates one vector type for each shape, once.
MPI_Datatype columns_of(const Tile& tile) {
  struct Shape {
    std::size_t edge, width;
    MPI_Datatype type;
  };
  static std::vector<Shape> shapes;
  for (const Shape& shape : shapes)
    if (shape.edge == tile.edge && shape.width == tile.width) return shape.type;
  Shape shape{tile.edge, tile.width, MPI_DATATYPE_NULL};
  MPI_Type_vector(static_cast<int>(tile.pitch()), static_cast<int>(tile.width), static_cast<int>(tile.pitch()),
                  MPI_DOUBLE, &shape.type);
  MPI_Type_commit(&shape.type);
  shapes.push_back(shape);
  return shape.type;
}

void exchange_columns(Work& work, const Tile& tile) {
  MessageRequest requests[4];
  const MPI_Datatype columns = columns_of(tile);
  const int peer = neighbour(work.pe, kLeft);
  MPI_Irecv(tile.outer(kLeft), 1, columns, peer, kRight, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(tile.outer(kRight), 1, columns, peer, kLeft, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(tile.inner(kLeft), 1, columns, peer, kLeft, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(tile.inner(kRight), 1, columns, peer, kRight, MPI_COMM_WORLD, &requests[3]);
  complete(requests, 4);
}

void sendrecv(const double* source, double* dest, std::size_t bytes, int pe, Edge side) {
  const int count = static_cast<int>(bytes);
  MPI_Sendrecv(source, count, MPI_BYTE, pe, side, dest, count, MPI_BYTE, pe, side, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void exchange_packed(Work& work, const Tile& tile) {
  static double out[kPackedCells], in[kPackedCells];
  for (const Edge side : {kUp, kDown})
    sendrecv(tile.inner(side), tile.outer(opposite(side)), tile.row_bytes(), neighbour(work.pe, side), side);
  for (const Edge side : {kLeft, kRight}) {
    pack(out, tile, tile.inner(side));
    sendrecv(out, in, tile.row_bytes(), neighbour(work.pe, side), side);
    unpack(tile.outer(opposite(side)), tile, in);
  }
}

#else

void exchange_columns(Work& work, const Tile& tile) {
  MessageRequest requests[4];
  const int peer = neighbour(work.pe, kLeft);
  const std::size_t block = tile.width * sizeof(double);
  const auto stride = static_cast<std::ptrdiff_t>(tile.pitch() * sizeof(double));
  shmemx_irecv_strided(tile.outer(kLeft), block, stride, tile.pitch(), peer, kRight, &requests[0]);
  shmemx_irecv_strided(tile.outer(kRight), block, stride, tile.pitch(), peer, kLeft, &requests[1]);
  shmemx_isend_strided(tile.inner(kLeft), block, stride, tile.pitch(), peer, kLeft, &requests[2]);
  shmemx_isend_strided(tile.inner(kRight), block, stride, tile.pitch(), peer, kRight, &requests[3]);
  complete(requests, 4);
}

// Returns the signal of one side, in the PE that waits for it.
std::uint64_t* signal_of(const Work& work, Edge side) {
  return reinterpret_cast<std::uint64_t*>(&work.shared->mailbox[side].value);
}

void await_signals(const Work& work, Edge first) {
  for (const Edge side : {first, opposite(first)})
    shmem_signal_wait_until(signal_of(work, side), SHMEM_CMP_GE, static_cast<std::uint64_t>(work.sequence));
}

void put_rows(Work& work, const Tile& tile) {
  for (const Edge side : {kUp, kDown})
    shmem_putmem_signal_nbi(tile.outer(opposite(side)), tile.inner(side), tile.row_bytes(),
                            signal_of(work, opposite(side)), static_cast<std::uint64_t>(work.sequence),
                            SHMEM_SIGNAL_SET, neighbour(work.pe, side));
  await_signals(work, kUp);
}

void put_columns(Work& work, const Tile& tile) {
  const auto pitch = static_cast<std::ptrdiff_t>(tile.pitch());
  for (const Edge side : {kLeft, kRight})
    shmem_double_ibput(tile.outer(opposite(side)), tile.inner(side), pitch, pitch, tile.width, tile.pitch(),
                       neighbour(work.pe, side));
  shmem_fence();
  for (const Edge side : {kLeft, kRight})
    shmem_signal_set(signal_of(work, opposite(side)), static_cast<std::uint64_t>(work.sequence),
                     neighbour(work.pe, side));
  await_signals(work, kLeft);
}

// The cells that nbi puts read change two exchanges later. The neighbour's signal of the next exchange implies that
// they have been read.
template <std::size_t edge, std::size_t width>
void exchange_puts(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    const Tile tile = tile_of(work, edge, width);
    put_rows(work, tile);
    put_columns(work, tile);
  }
}

#endif

template <std::size_t edge, std::size_t width>
void exchange_messages(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    const Tile tile = tile_of(work, edge, width);
#if defined(BENCH_MPI)
    if (work.method == 1) {
      exchange_packed(work, tile);
      continue;
    }
#endif
    exchange_rows(work, tile);
    exchange_columns(work, tile);
  }
}
#if defined(BENCH_MPI)
template <std::size_t edge, std::size_t width>
constexpr auto exchange_puts = exchange_messages<edge, width>;
#endif

#endif

// `bytes`: the bytes that a PE sends in one exchange.
template <std::size_t edge, std::size_t width>
constexpr Case row(const char* note, void (*kernel)(Work&, long)) {
  return {"halo",   4 * width * (edge + 2 * width) * sizeof(double),
          Unit::us, Role::together,
          note,     one_operation,
          kernel,   nullptr,
          1,        2};
}
#define HALO_ROWS(EDGE, WIDTH)                                                                         \
  row<EDGE, WIDTH>("two-sided " #EDGE "x" #EDGE " by " #WIDTH, exchange_messages<EDGE, WIDTH>),        \
      row<EDGE, WIDTH>("one-sided direct " #EDGE "x" #EDGE " by " #WIDTH, exchange_puts<EDGE, WIDTH>), \
      row<EDGE, WIDTH>("one-sided queue " #EDGE "x" #EDGE " by " #WIDTH, exchange_puts<EDGE, WIDTH>)

constexpr std::array kCases = {HALO_ROWS(16, 1),  HALO_ROWS(16, 2),   HALO_ROWS(128, 1),
                               HALO_ROWS(128, 2), HALO_ROWS(1024, 1), HALO_ROWS(1024, 2)};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kTileBytes); }
