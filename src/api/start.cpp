// The start inside another parallel program, where arguments are checked, and what a library needs that stands on this
// one.
#include <shmemx/start.h>
#include <shmemx/types.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "api/arg_check.hpp"
#include "base/fatal.hpp"
#include "coll/common/team.hpp"
#include "runtime/job.hpp"

namespace coll = shmemx::coll;
namespace context = shmemx::context;
namespace runtime = shmemx::runtime;

namespace {

constexpr char kRoutine[] = "shmemx_init_attr";
constexpr std::size_t kFirstVersionBytes = offsetof(shmemx_init_attr_t, user) + sizeof(void*);
constexpr std::size_t kLargestBytes = 4096;  // a later version's size is below; anything else is not a size
static_assert(sizeof(shmemx_init_attr_t) == 56 && kFirstVersionBytes == sizeof(shmemx_init_attr_t));

// Returns true if this version knows all members that the program has set.
bool is_known_version(const shmemx_init_attr_t& attributes) {
  if (attributes.bytes < kFirstVersionBytes || attributes.bytes > kLargestBytes) {
    shmemx::warn("%s: member 'bytes' is %zu, allowed are %zu (sizeof(shmemx_init_attr_t)) and sizes of later versions",
                 kRoutine, attributes.bytes, kFirstVersionBytes);
    return false;
  }
  const auto* const begin = reinterpret_cast<const unsigned char*>(&attributes);
  const bool known =
      std::all_of(begin + kFirstVersionBytes, begin + attributes.bytes, [](auto byte) { return byte == 0; });
  if (!known)
    shmemx::warn("%s: a member behind the first %zu bytes is set, which this version of the library does not know",
                 kRoutine, kFirstVersionBytes);
  return known;
}

bool are_valid(const shmemx_init_attr_t& attributes) {
  if (attributes.n_pes < 1) {
    shmemx::warn("%s: member 'n_pes' is %d, allowed are numbers from 1", kRoutine, attributes.n_pes);
  } else if (attributes.my_pe < 0 || attributes.my_pe >= attributes.n_pes) {
    shmemx::warn("%s: member 'my_pe' is %d, allowed are 0..%d", kRoutine, attributes.my_pe, attributes.n_pes - 1);
  } else if (attributes.thread_level < SHMEM_THREAD_SINGLE || attributes.thread_level > SHMEM_THREAD_MULTIPLE) {
    shmemx::warn("%s: member 'thread_level' is %d, allowed are SHMEM_THREAD_SINGLE (0) to SHMEM_THREAD_MULTIPLE (3)",
                 kRoutine, attributes.thread_level);
  } else if (attributes.allgather == nullptr || attributes.barrier == nullptr) {
    shmemx::warn("%s: member '%s' is null, both functions are required", kRoutine,
                 attributes.allgather == nullptr ? "allgather" : "barrier");
  } else {
    return true;
  }
  return false;
}

}  // namespace

extern "C" {

int shmemx_init_attr(const shmemx_init_attr_t* attributes, int* provided) noexcept {
  if (attributes == nullptr) {
    shmemx::warn("%s: argument 'attributes' is null", kRoutine);
    return SHMEMX_ERR_ARGUMENT;
  }
  if (!is_known_version(*attributes)) return SHMEMX_ERR_VERSION;
  if (!are_valid(*attributes)) return SHMEMX_ERR_ARGUMENT;
  const shmemx::bootstrap::Caller caller{{attributes->my_pe, attributes->n_pes},
                                         attributes->allgather,
                                         attributes->barrier,
                                         attributes->abort,
                                         attributes->user};
  switch (runtime::initialize_for_caller(
      {kRoutine, attributes->thread_level, runtime::StartedBy::init_attr, true, &caller})) {
    case runtime::InitResult::started:
      if (provided != nullptr) *provided = runtime::thread_level();
      return SHMEMX_SUCCESS;
    case runtime::InitResult::already_started:
      return SHMEMX_ERR_STARTED;
    case runtime::InitResult::wrong_caller:
      return SHMEMX_ERR_ARGUMENT;
    case runtime::InitResult::failed:
      break;
  }
  return SHMEMX_ERR_START;
}

int shmemx_init_thread(int requested, int* provided) noexcept {
  if (!runtime::initialize({"shmemx_init_thread", requested, runtime::StartedBy::init, true})) return 1;
  shmemx::api::check_result("shmemx_init_thread", "provided", provided);
  *provided = runtime::thread_level();
  return 0;
}
void shmemx_finalize(void) noexcept { runtime::finalize("shmemx_finalize"); }
int shmemx_is_initialized(void) noexcept { return runtime::is_initialized() ? 1 : 0; }

int shmemx_my_pe(void) noexcept {
  context::require_initialized("shmemx_my_pe");
  return shmemx::api::default_context().my_pe;
}
int shmemx_n_pes(void) noexcept {
  context::require_initialized("shmemx_n_pes");
  return static_cast<int>(shmemx::api::default_context().n_pes);
}
int shmemx_node_n_pes(void) noexcept {
  context::require_initialized("shmemx_node_n_pes");
  return coll::team_table[coll::kSharedTeam].size();
}
int shmemx_node_pe(int pe) noexcept {
  context::require_initialized("shmemx_node_pe");
  const coll::Team& world = coll::team_table[coll::kWorldTeam];
  if (pe < 0 || pe >= world.size()) return -1;
  const auto found = coll::team_table[coll::kSharedTeam].route.set.find(world.route.set.world(shmemx::TeamPe{pe}));
  return found ? found->value : -1;
}

}  // extern "C"
