#include "interpose/element.hpp"

#include <shmemx.h>

#include <deque>
#include <type_traits>

#include "interpose/below.hpp"
#include "interpose/handle_map.hpp"

namespace shmemx::interpose {
namespace {

struct Row {
  MPI_Datatype type;
  Kind kind;
  bool is_signed;
};

// The sizes of its parts determine where a pair has padding.
struct PairRow {
  MPI_Datatype type;
  int shmemx_type;
  std::size_t first_bytes;
  std::size_t second_bytes;
};

int integer_type(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? SHMEMX_INT8 : SHMEMX_UINT8;
    case 2:
      return is_signed ? SHMEMX_INT16 : SHMEMX_UINT16;
    case 4:
      return is_signed ? SHMEMX_INT32 : SHMEMX_UINT32;
    case 8:
      return is_signed ? SHMEMX_INT64 : SHMEMX_UINT64;
    default:
      return 0;
  }
}

int shmemx_type_of(const Row& row, std::size_t bytes) {
  switch (row.kind) {
    case Kind::real:
      if (bytes == sizeof(float)) return SHMEMX_FLOAT;
      if (bytes == sizeof(double)) return SHMEMX_DOUBLE;
      return bytes == sizeof(long double) ? SHMEMX_LONG_DOUBLE : 0;
    case Kind::complex:
      if (bytes == 2 * sizeof(float)) return SHMEMX_COMPLEX_FLOAT;
      if (bytes == 2 * sizeof(double)) return SHMEMX_COMPLEX_DOUBLE;
      return bytes == 2 * sizeof(long double) ? SHMEMX_COMPLEX_LONG_DOUBLE : 0;
    case Kind::logical:
      return bytes == 1 ? SHMEMX_BOOL : integer_type(bytes, true);
    default:
      return integer_type(bytes, row.is_signed);
  }
}

// A type of the same size, by which an element is replaced and fetched. Its bytes may mean something else.
int type_of_size(std::size_t bytes) {
  if (bytes == 2 * sizeof(double)) return SHMEMX_COMPLEX_DOUBLE;
  return bytes == 2 * sizeof(long double) ? SHMEMX_COMPLEX_LONG_DOUBLE : integer_type(bytes, false);
}

// All elements. They are never destroyed.
class Elements {
 public:
  Elements() {
    add_integers();
    add_fortran();
    add_others();
    add_pairs();
  }
  const Element* find(MPI_Datatype type) const noexcept { return map_.find(type); }
  const Element* add_opaque(MPI_Datatype type) {
    int bytes = 0;
    below().Type_size(type, &bytes);
    if (bytes <= 0) return nullptr;
    const auto size = static_cast<std::size_t>(bytes);
    all_.push_back({type, Kind::opaque, type_of_size(size), size, size, size, 0});
    map_.insert(type, &all_.back());
    return &all_.back();
  }

 private:
  void add(const Row& row) {
    if (row.type == MPI_DATATYPE_NULL) return;
    int bytes = 0;
    below().Type_size(row.type, &bytes);
    const auto size = static_cast<std::size_t>(bytes);
    const int shmemx_type = shmemx_type_of(row, size);
    if (size != 0) insert({row.type, row.kind, shmemx_type, size, size, size, 0});
  }
  void add_pair(const PairRow& row) {
    if (row.type == MPI_DATATYPE_NULL) return;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    below().Type_get_extent(row.type, &lower, &extent);
    const std::size_t align = row.second_bytes;
    const std::size_t offset = (row.first_bytes + align - 1) / align * align;
    insert({row.type, Kind::pair, row.shmemx_type, static_cast<std::size_t>(extent), row.first_bytes, offset,
            row.second_bytes});
  }
  void insert(const Element& element) {
    for (Element& known : all_) {
      if (known.shmemx_type == element.shmemx_type && known.kind == element.kind && known.bytes == element.bytes &&
          element.shmemx_type != 0)
        return map_.insert(element.type, &known);
    }
    all_.push_back(element);
    map_.insert(element.type, &all_.back());
  }

  void add_integers();
  void add_fortran();
  void add_others();
  void add_pairs();

  std::deque<Element> all_;
  HandleMap<MPI_Datatype, Element> map_;
};

void Elements::add_integers() {
  for (const MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
                                  MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT})
    add({type, Kind::integer, true});
  for (const MPI_Datatype type : {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                                  MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})
    add({type, Kind::integer, false});
  add({MPI_CHAR, Kind::integer, std::is_signed_v<char>});  // printable in MPI's text, an integer in both MPIs
}

void Elements::add_fortran() {
  for (const MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8})
    add({type, Kind::integer, true});
  for (const MPI_Datatype type : {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) add({type, Kind::real, true});
  for (const MPI_Datatype type : {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16})
    add({type, Kind::complex, true});
  add({MPI_LOGICAL, Kind::logical, true});
#ifdef MPI_LOGICAL1
  add({MPI_LOGICAL1, Kind::logical, true});
#endif
#ifdef MPI_LOGICAL2
  add({MPI_LOGICAL2, Kind::logical, true});
#endif
#ifdef MPI_LOGICAL4
  add({MPI_LOGICAL4, Kind::logical, true});
#endif
#ifdef MPI_LOGICAL8
  add({MPI_LOGICAL8, Kind::logical, true});
#endif
  add({MPI_CHARACTER, Kind::character, false});
}

void Elements::add_others() {
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE}) add({type, Kind::real, true});
  for (const MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                                  MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX})
    add({type, Kind::complex, true});
  for (const MPI_Datatype type : {MPI_C_BOOL, MPI_CXX_BOOL}) add({type, Kind::logical, false});
  for (const MPI_Datatype type : {MPI_BYTE, MPI_PACKED}) add({type, Kind::byte, false});
  add({MPI_WCHAR, Kind::character, false});
}

void Elements::add_pairs() {
  add_pair({MPI_FLOAT_INT, SHMEMX_FLOAT_INT, sizeof(float), sizeof(int)});
  add_pair({MPI_DOUBLE_INT, SHMEMX_DOUBLE_INT, sizeof(double), sizeof(int)});
  add_pair({MPI_LONG_INT, SHMEMX_LONG_INT, sizeof(long), sizeof(int)});
  add_pair({MPI_2INT, SHMEMX_INT_INT, sizeof(int), sizeof(int)});
  add_pair({MPI_SHORT_INT, SHMEMX_SHORT_INT, sizeof(short), sizeof(int)});
  add_pair({MPI_LONG_DOUBLE_INT, SHMEMX_LONG_DOUBLE_INT, sizeof(long double), sizeof(int)});
  add_pair({MPI_2INTEGER, SHMEMX_INT_INT, sizeof(int), sizeof(int)});
  add_pair({MPI_2REAL, SHMEMX_FLOAT_FLOAT, sizeof(float), sizeof(float)});
  add_pair({MPI_2DOUBLE_PRECISION, SHMEMX_DOUBLE_DOUBLE, sizeof(double), sizeof(double)});
}

Elements& elements() {
  static Elements& all = *new Elements;
  return all;
}

}  // namespace

const Element* find_element(MPI_Datatype type) { return elements().find(type); }
const Element* opaque_element(MPI_Datatype type) { return elements().add_opaque(type); }

int find_operator(MPI_Op op, Kind kind) noexcept {
  if (op == MPI_REPLACE) return SHMEMX_OP_REPLACE;
  if (op == MPI_NO_OP) return SHMEMX_OP_NO_OP;
  const bool integer = kind == Kind::integer;
  const bool number = integer || kind == Kind::real;
  if (op == MPI_SUM) return number || kind == Kind::complex ? SHMEMX_OP_SUM : 0;
  if (op == MPI_PROD) return number || kind == Kind::complex ? SHMEMX_OP_PROD : 0;
  if (op == MPI_MIN) return number ? SHMEMX_OP_MIN : 0;
  if (op == MPI_MAX) return number ? SHMEMX_OP_MAX : 0;
  const bool bits = integer || kind == Kind::byte;
  if (op == MPI_BAND) return bits ? SHMEMX_OP_BAND : 0;
  if (op == MPI_BOR) return bits ? SHMEMX_OP_BOR : 0;
  if (op == MPI_BXOR) return bits ? SHMEMX_OP_BXOR : 0;
  const bool logical = integer || kind == Kind::logical;
  if (op == MPI_LAND) return logical ? SHMEMX_OP_LAND : 0;
  if (op == MPI_LOR) return logical ? SHMEMX_OP_LOR : 0;
  if (op == MPI_LXOR) return logical ? SHMEMX_OP_LXOR : 0;
  if (op == MPI_MINLOC) return kind == Kind::pair ? SHMEMX_OP_MINLOC : 0;
  if (op == MPI_MAXLOC) return kind == Kind::pair ? SHMEMX_OP_MAXLOC : 0;
  return 0;
}

}  // namespace shmemx::interpose
