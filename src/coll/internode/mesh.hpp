// Nodes on a mesh, row by row, as square as possible; the last row may be short. A block goes along the row of its
// source to the column of its destination, and then along that column. If that corner is missing, it goes along the
// column first. Arithmetic only.
#pragma once

#include <vector>

namespace shmemx::coll {

class Mesh {
 public:
  explicit Mesh(int nodes) : nodes_(nodes) {
    while (width_ * width_ < nodes) ++width_;
  }

  // Returns the corner at which the block of `from` for `to` turns. If they share a row or a column, it is one of them.
  int via(int from, int to) const noexcept {
    const int corner = from / width_ * width_ + to % width_;
    return corner < nodes_ ? corner : to / width_ * width_ + from % width_;
  }
  // Returns the destinations of the blocks that `from` sends to `via`, another node, in the first hop.
  std::vector<int> destinations(int from, int via) const {
    std::vector<int> found;
    for (int to = 0; to < nodes_; ++to) {
      if (to != from && this->via(from, to) == via) found.push_back(to);
    }
    return found;
  }
  // Returns the sources of the blocks that `via` sends to `to`, another node, in the second hop; perhaps itself.
  std::vector<int> sources(int via, int to) const {
    std::vector<int> found;
    for (int from = 0; from < nodes_; ++from) {
      if (from != to && this->via(from, to) == via) found.push_back(from);
    }
    return found;
  }

 private:
  int nodes_;
  int width_ = 1;
};

}  // namespace shmemx::coll
