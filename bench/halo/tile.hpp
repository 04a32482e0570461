// The tile of a PE with its halo, and the PE's neighbours: four PEs in two rows and two columns form a torus. Each
// has one neighbour above and below, and another one at the left and the right.
#pragma once

#include <cstddef>

namespace shmemx::bench {

constexpr std::size_t kMostEdge = 1024;
constexpr std::size_t kMostWidth = 2;

enum Edge : int { kUp, kDown, kLeft, kRight, kSides };
inline Edge opposite(Edge side) { return static_cast<Edge>(side ^ 1); }

// Rows of `edge` + 2 `width` doubles. A neighbour receives a block of rows or columns, `width` wide and as long as a
// row with its halo. Columns are sent after the rows, so corners arrive too.
struct Tile {
  double* cells;
  std::size_t edge;
  std::size_t width;

  std::size_t pitch() const { return edge + 2 * width; }
  // Bytes sent to one neighbour.
  std::size_t row_bytes() const { return width * pitch() * sizeof(double); }

  // Returns the cells of this PE that the neighbour on this side needs.
  double* inner(Edge side) const { return at(side, width, edge); }
  // Returns the place for the neighbour's cells.
  double* outer(Edge side) const { return at(side, 0, edge + width); }

 private:
  double* at(Edge side, std::size_t near, std::size_t far) const {
    switch (side) {
      case kUp:
        return cells + near * pitch();
      case kDown:
        return cells + far * pitch();
      case kLeft:
        return cells + near;
      default:
        return cells + far;
    }
  }
};

constexpr std::size_t tile_cells(std::size_t edge, std::size_t width) {
  return (edge + 2 * width) * (edge + 2 * width);
}

inline int neighbour(int pe, Edge side) { return side == kUp || side == kDown ? pe ^ 2 : pe ^ 1; }

// Copies columns into contiguous memory.
inline void pack(double* packed, const Tile& tile, const double* from) {
  for (std::size_t row = 0; row < tile.pitch(); ++row)
    for (std::size_t k = 0; k < tile.width; ++k) *packed++ = from[row * tile.pitch() + k];
}
inline void unpack(double* to, const Tile& tile, const double* packed) {
  for (std::size_t row = 0; row < tile.pitch(); ++row)
    for (std::size_t k = 0; k < tile.width; ++k) to[row * tile.pitch() + k] = *packed++;
}

}  // namespace shmemx::bench
