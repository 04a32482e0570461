#include "coll/background/call_tag.hpp"

#include <iterator>

namespace shmemx::coll::background {
namespace {

constexpr const char* kTypes[] = {
    "none",  "int32", "uint32", "int64", "uint64",      "float",         "double",         "int8",
    "uint8", "int16", "uint16", "bool",  "long double", "complex float", "complex double", "complex long double"};
constexpr const char* kOperators[] = {"none", "sum",     "prod",  "min",         "max",        "and",        "or",
                                      "xor",  "replace", "no_op", "logical and", "logical or", "logical xor"};

template <std::size_t kNames>
const char* name_of(const char* const (&names)[kNames], std::uint64_t number) {
  return number < kNames ? names[number] : "another";
}

const char* name_of(CallFamily family) {
  switch (family) {
    case CallFamily::sync:
      return "shmemx_barrier_nb";
    case CallFamily::broadcast:
      return "shmemx_broadcast_nb";
    case CallFamily::fcollect:
      return "shmemx_fcollect_nb";
    case CallFamily::alltoall:
      return "shmemx_alltoall_nb";
    case CallFamily::alltoallv:
      return "shmemx_alltoallv";
    case CallFamily::reduce:
      return "shmemx_reduce_nb";
    default:
      return "another collective";
  }
}

std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::string background_text(const char* routine, std::uint64_t call) {
  const CallFamily family = background_family(call);
  const std::string name = routine != nullptr ? routine : name_of(family);
  const std::uint64_t count = count_in(call);
  switch (family) {
    case CallFamily::broadcast:
      return name + " (root " + std::to_string(root_in(call)) + ", " + counted(count, "byte") + ")";
    case CallFamily::fcollect:
    case CallFamily::alltoall:
      return name + " (" + counted(count, "byte") + ")";
    case CallFamily::reduce:
      return name + " (" + counted(count, "element") + ", " + name_of(kTypes, call >> 8 & 0x7f) + " " +
             name_of(kOperators, call & 0xff) + ")";
    default:
      return name;
  }
}

}  // namespace shmemx::coll::background
