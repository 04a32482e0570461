// How a derived datatype was made, as MPI tells it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shmemx::interpose {

// The arguments of the constructor. Counts, block lengths and displacements of the large constructors are brought into
// the order that those of the small ones have.
class Contents {
 public:
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner() const noexcept { return combiner_; }
  std::int64_t integer(std::size_t i) const { return integers_[i]; }
  std::int64_t address(std::size_t i) const { return addresses_[i]; }
  MPI_Datatype type(std::size_t i) const { return types_[i]; }

 private:
  void read_small(MPI_Datatype type);
  void read_large(MPI_Datatype type);
  void sort_large(const std::vector<std::int64_t>& counts);

  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> integers_;
  std::vector<std::int64_t> addresses_;
  std::vector<MPI_Datatype> types_;
};

// Returns how a datatype was made.
int combiner_of(MPI_Datatype type);
// Returns true for types that the program has not derived from others.
bool is_predefined(int combiner);

}  // namespace shmemx::interpose
