#include "coll/common/call_text.hpp"

namespace shmemx::coll {
namespace {

constexpr const char* kTypes[kKindTypes] = {"uint8", "int8",  "uint16", "int16",      "uint32",   "int32",   "uint64",
                                            "int64", "float", "double", "longdouble", "complexf", "complexd"};
constexpr const char* kOperators[kKindOperators] = {"and", "or", "xor", "max", "min", "sum", "prod"};

bool has_count(CallFamily family) { return family > CallFamily::broadcast && family != CallFamily::collect; }

bool moves_data(CallFamily family) { return family >= CallFamily::broadcast && family < CallFamily::reduce; }

std::string with_type(CallWord call, const std::string& operation) {
  return std::string("shmem_") + kTypes[kind_in(call) % kKindsOfOperator] + "_" + operation;
}

// Of families whose routines differ in no more than the size of their elements, if in that.
const char* name_of(CallFamily family) {
  switch (family) {
    case CallFamily::sync:
      return "a synchronisation";
    case CallFamily::barrier:
      return "a barrier";
    case CallFamily::finalize:
      return "shmem_finalize";
    case CallFamily::start:
      return "shmem_init";
    case CallFamily::allocate:
      return "an allocation";
    case CallFamily::release:
      return "shmem_free";
    case CallFamily::reallocate:
      return "shmem_realloc";
    case CallFamily::split_strided:
      return "shmem_team_split_strided";
    case CallFamily::split_2d:
      return "shmem_team_split_2d";
    case CallFamily::destroy:
      return "shmem_team_destroy";
    case CallFamily::broadcast:
      return "shmem_broadcast";
    case CallFamily::collect:
      return "shmem_collect";
    case CallFamily::fcollect:
      return "shmem_fcollect";
    case CallFamily::alltoall:
      return "shmem_alltoall";
    case CallFamily::alltoallv:
      return "shmemx_alltoallv";
    case CallFamily::alltoalls:
      return "shmem_alltoalls";
    default:
      return "another collective";
  }
}

std::string name_of(CallWord call) {
  const CallFamily family = family_in(call);
  switch (family) {
    case CallFamily::reduce:
      return with_type(call, std::string(kOperators[(kind_in(call) - kind_of(family)) / kKindsOfOperator]) + "_reduce");
    case CallFamily::inclusive_scan:
      return with_type(call, "sum_inscan");
    case CallFamily::exclusive_scan:
      return with_type(call, "sum_exscan");
    default:
      return name_of(family);
  }
}

// Returns "4 elements", with their size where no name of a routine tells it.
std::string count_text(const std::string& routine, CallWord call) {
  const std::uint64_t count = count_in(call);
  const CallFamily family = family_in(call);
  const bool is_of_bytes = routine.ends_with("mem");
  std::string text = std::to_string(count) + (is_of_bytes ? " byte" : " element") + (count == 1 ? "" : "s");
  if (!routine.empty() || !moves_data(family)) return text;
  const std::uint32_t bytes = 1U << (kind_in(call) - kind_of(family));
  return text + " of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// Of both strides as the routine has them, without those that are not known.
std::string strides_text(CallWord call) {
  std::string text;
  if (dest_stride_in(call) != 0) text += ", dst " + std::to_string(dest_stride_in(call));
  if (source_stride_in(call) != 0) text += ", sst " + std::to_string(source_stride_in(call));
  return text;
}

}  // namespace

bool is_call(CallWord call, int size) noexcept {
  const CallFamily family = family_in(call);
  if (family == CallFamily::none || (call & 0xffff) != 0) return false;
  if (family == CallFamily::broadcast) return root_in(call) < size;
  if (family == CallFamily::alltoalls) return true;
  return root_in(call) == 0 &&
         (has_count(family) || family == CallFamily::finalize || family == CallFamily::allocate || count_in(call) == 0);
}

std::string call_text(const std::string& routine, CallWord call, int team_size) {
  const std::string name = routine.empty() ? name_of(call) : routine;
  if (static_cast<std::size_t>(team_size) > kMostRoots) return name;
  const CallFamily family = family_in(call);
  if (family == CallFamily::broadcast)
    return name + " (root " + std::to_string(root_in(call)) + ", " + count_text(routine, call) + ")";
  if (family == CallFamily::alltoalls) return name + " (" + count_text(routine, call) + strides_text(call) + ")";
  return has_count(family) ? name + " (" + count_text(routine, call) + ")" : name;
}

std::string members_text(const team::PeSet& set) {
  const std::string first = std::to_string(set.start());
  if (set.size() == 1) return "PE " + first;
  const std::string last = std::to_string(set.world(TeamPe{set.size() - 1}).value);
  if (set.size() == 2) return "PEs " + first + ", " + last;
  if (set.stride() == 1) return "PEs " + first + ".." + last;
  return "PEs " + first + ", " + std::to_string(set.world(TeamPe{1}).value) + ".." + last;
}

}  // namespace shmemx::coll
