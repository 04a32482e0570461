// Makes a layout out of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "interpose/layout.hpp"

namespace shmemx::interpose {

class LayoutBuilder {
 public:
  explicit LayoutBuilder(Layout& made) : made_(made) {}

  // Adds an item that begins at `at`, repeated by loops, the innermost one first.
  void add(const Layout& item, std::ptrdiff_t at, const std::vector<Loop>& loops);
  // Adds `count` items that follow each other.
  void add(const Layout& item, std::ptrdiff_t at, std::int64_t count) { add(item, at, {{count, item.extent}}); }
  // Derives the rest from the pieces.
  void finish(std::ptrdiff_t extent);
  // Returns true if it makes no sense to go on.
  bool has_failed() const noexcept { return made_.refusal.error_class != MPI_SUCCESS; }

  // Drops all that has been added.
  void fail(int error_class, const char* error) {
    made_ = {};
    made_.refusal = {error_class, error};
  }

 private:
  Layout& made_;
};

}  // namespace shmemx::interpose
