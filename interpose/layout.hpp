// Where the data of a datatype lie: a list of pieces of memory, made once for each datatype.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/element.hpp"
#include "interpose/errors.hpp"
#include "interpose/handle_map.hpp"
#include "interpose/pieces.hpp"

namespace shmemx::interpose {

// Why operations cannot use a datatype.
struct Refusal {
  int error_class = MPI_SUCCESS;  // they can
  const char* text = "";

  int note() const noexcept { return wrong(error_class, text); }
};

// Pieces of one length at equal distances.
struct Blocks {
  std::size_t bytes = 0;    // of each; 0: they differ
  std::ptrdiff_t step = 0;  // from each to the next one; of one piece, the extent; 0: it differs
};

// One item of a datatype.
struct Layout {
  std::size_t plain_bytes = 0;       // those of all data if the items are dense and begin at 0, else 0
  std::size_t bytes = 0;             // of all data; what each operation reads comes first
  std::size_t elements = 0;          // of all data
  std::ptrdiff_t extent = 0;         // from one item to the next
  const Element* element = nullptr;  // null if the elements are of several types, or there are none
  bool dense = false;                // items follow each other without gaps, and each is one piece
  bool dense_elements = false;       // the same of whole elements, with their padding
  Bounds bounds;                     // a pair's padding is no data
  Refusal refusal;                   // if there is one there is nothing else
  Blocks blocks;                     // the pieces of data
  PieceList data;
  PieceList padded;  // pairs with their padding; empty if no pair has any

  const PieceList& whole_elements() const noexcept { return padded.pieces.empty() ? data : padded; }
};

// The layouts of all types that have been used.
inline constinit LastingMap<MPI_Datatype, const Layout> known_layouts;

// Returns the layout of a datatype; null if the datatype is null. It lives as long as the datatype.
const Layout* layout_of_slow(MPI_Datatype type);
inline const Layout* layout_of(MPI_Datatype type) {
  const Layout* const recent = known_layouts.map.find_recent(type);
  return recent != nullptr ? recent : layout_of_slow(type);
}

}  // namespace shmemx::interpose
