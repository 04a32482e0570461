// Where the data of a datatype lie: a list of pieces of memory, made once for each datatype.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/element.hpp"
#include "interpose/handle_map.hpp"
#include "interpose/pieces.hpp"

namespace shmemx::interpose {

// One item of a datatype.
struct Layout {
  std::size_t plain_bytes = 0;       // those of all data if the items are dense and begin at 0, else 0
  std::size_t bytes = 0;             // of all data; what each operation reads comes first
  std::size_t elements = 0;          // of all data
  std::ptrdiff_t extent = 0;         // from one item to the next
  std::ptrdiff_t low = 0;            // the lowest byte of data
  const Element* element = nullptr;  // null if the elements are of several types
  bool dense = false;                // items follow each other without gaps, and each is one piece
  bool dense_elements = false;       // the same of whole elements, with their padding
  bool mixed = false;                // the elements are of several types
  int error_class = MPI_SUCCESS;     // if operations cannot use the datatype; then there is nothing else
  const char* error = "";            // why
  std::ptrdiff_t high = 0;           // the end of the highest byte of data; a pair's padding is none
  std::size_t block_bytes = 0;       // of each piece; 0: they differ
  std::ptrdiff_t step = 0;  // from each piece of an item to the next one; of one piece, the extent; 0: they differ
  PieceList data;
  PieceList padded;  // pairs with their padding; empty if no pair has any

  const PieceList& whole_elements() const noexcept { return padded.pieces.empty() ? data : padded; }
};

// The layouts of all types that have been used.
inline constinit LastingMap<MPI_Datatype, const Layout> known_layouts;

// Returns null if the datatype has not been used.
inline const Layout* find_known_layout(MPI_Datatype type) noexcept { return known_layouts.map.find(type); }
// The same for the datatype that was used last. May return null for any other.
inline const Layout* recent_layout(MPI_Datatype type) noexcept { return known_layouts.map.find_recent(type); }

// Returns the layout of a datatype; null if the datatype is null. It lives as long as the datatype.
const Layout* layout_of(MPI_Datatype type);

}  // namespace shmemx::interpose
