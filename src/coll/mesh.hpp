// Nodes on a mesh, row by row, as square as possible; the last row may be short. A bundle goes along the row of its
// source to the column of its destination, and along that column; where that corner is missing, the other way round.
// Arithmetic only.
#pragma once

#include <vector>

namespace shmemx::coll {

class Mesh {
 public:
  explicit Mesh(int nodes) : nodes_(nodes) {
    while (width_ * width_ < nodes) ++width_;
  }

  // Where the bundle of `from` for `to` turns: one of the two, if they share a row or a column.
  int via(int from, int to) const noexcept {
    const int corner = from / width_ * width_ + to % width_;
    return corner < nodes_ ? corner : to / width_ * width_ + from % width_;
  }
  // What `from` sends to `via`, another one, first: the bundles for these.
  std::vector<int> destinations(int from, int via) const {
    std::vector<int> found;
    for (int to = 0; to < nodes_; ++to) {
      if (to != from && this->via(from, to) == via) found.push_back(to);
    }
    return found;
  }
  // What `via` sends to `to`, another one, then: the bundles of these, perhaps its own.
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
