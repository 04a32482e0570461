// Predefined datatypes and operators of MPI as element types and operators of shmemx.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace shmemx::interpose {

// Opaque elements can only be moved, replaced and fetched.
enum class Kind { integer, real, complex, logical, byte, character, pair, opaque };

// A predefined datatype. Datatypes with the same meaning share one element, such as MPI_INT and MPI_INT32_T.
struct Element {
  MPI_Datatype type = MPI_DATATYPE_NULL;  // one of those
  Kind kind = Kind::byte;
  int shmemx_type = 0;    // SHMEMX_INT32 and so on; 0: shmemx has no such element
  std::size_t bytes = 0;  // from one element to the next
  // Pairs may have padding after the first part and at the end.
  std::size_t first_bytes = 0;  // of the first part; all of an element that is no pair
  std::size_t second_offset = 0;
  std::size_t second_bytes = 0;  // 0: no pair

  bool has_padding() const noexcept { return second_offset != first_bytes || second_offset + second_bytes != bytes; }
};

// Returns null if the type is none of those that this library computes with.
const Element* find_element(MPI_Datatype type);

// Returns the element of any other predefined type, which is opaque; null if it has no data. One thread at a time.
const Element* opaque_element(MPI_Datatype type);

// Returns the operator of shmemx; 0 if the operator is not predefined, or not for elements of this kind.
int find_operator(MPI_Op op, Kind kind) noexcept;

}  // namespace shmemx::interpose
