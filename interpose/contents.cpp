#include "interpose/contents.hpp"

#include "interpose/below.hpp"

namespace shmemx::interpose {

int combiner_of(MPI_Datatype type) {
  int combiner = 0;
#if MPI_VERSION >= 4
  MPI_Count counts[4];
  if (below().Type_get_envelope_c != nullptr) {
    below().Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner);
    return combiner;
  }
#endif
  int sizes[3];
  below().Type_get_envelope(type, &sizes[0], &sizes[1], &sizes[2], &combiner);
  return combiner;
}

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

Contents::Contents(MPI_Datatype type) {
#if MPI_VERSION >= 4
  if (below().Type_get_envelope_c != nullptr && below().Type_get_contents_c != nullptr) {
    read_large(type);
    return;
  }
#endif
  read_small(type);
}

Contents::~Contents() {
  // Predefined types are returned as they are, all others as new references.
  for (MPI_Datatype& type : types_)
    if (!is_predefined(combiner_of(type))) below().Type_free(&type);
}

#if MPI_VERSION >= 4
void Contents::read_large(MPI_Datatype type) {
  MPI_Count sizes[4] = {0, 0, 0, 0};
  below().Type_get_envelope_c(type, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &combiner_);
  if (combiner_ == MPI_COMBINER_NAMED) return;
  std::vector<int> integers(static_cast<std::size_t>(sizes[0]) + 1);
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(sizes[1]) + 1);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(sizes[2]) + 1);
  types_.resize(static_cast<std::size_t>(sizes[3]));
  below().Type_get_contents_c(type, sizes[0], sizes[1], sizes[2], sizes[3], integers.data(), addresses.data(),
                              counts.data(), types_.data());
  integers_.assign(integers.begin(), integers.end() - 1);
  addresses_.assign(addresses.begin(), addresses.end() - 1);
  if (sizes[2] != 0) sort_large({counts.begin(), counts.end() - 1});
}
#endif

void Contents::read_small(MPI_Datatype type) {
  int sizes[3] = {0, 0, 0};
  below().Type_get_envelope(type, &sizes[0], &sizes[1], &sizes[2], &combiner_);
  if (combiner_ == MPI_COMBINER_NAMED) return;
  std::vector<int> integers(static_cast<std::size_t>(sizes[0]) + 1);
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(sizes[1]) + 1);
  types_.resize(static_cast<std::size_t>(sizes[2]));
  below().Type_get_contents(type, sizes[0], sizes[1], sizes[2], integers.data(), addresses.data(), types_.data());
  integers_.assign(integers.begin(), integers.end() - 1);
  addresses_.assign(addresses.begin(), addresses.end() - 1);
}

// The large constructors return all that is a count, a length or a displacement in one array, in the order of the
// constructor's arguments.
void Contents::sort_large(const std::vector<std::int64_t>& counts) {
  const auto from = counts.begin();
  switch (combiner_) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      integers_.assign(from, from + 2);
      addresses_.assign(from + 2, counts.end());
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      integers_.assign(from, from + 1 + counts[0]);
      addresses_.assign(from + 1 + counts[0], counts.end());
      break;
    case MPI_COMBINER_RESIZED:
      addresses_ = counts;
      break;
    case MPI_COMBINER_SUBARRAY:  // dimensions; sizes, parts, starts; order
      integers_.insert(integers_.begin() + 1, from, counts.end());
      break;
    case MPI_COMBINER_DARRAY:  // processes, rank, dimensions; sizes; the rest
      integers_.insert(integers_.begin() + 3, from, counts.end());
      break;
    default:
      integers_ = counts;
  }
}

}  // namespace shmemx::interpose
