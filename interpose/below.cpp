#include "interpose/below.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "interpose/flavor.hpp"
#include "interpose/linkage.hpp"

namespace shmemx::interpose {
namespace {

[[noreturn]] void end_process(const char* what, const char* routine) {
  std::fprintf(stderr, "shmemx-rma: %s: %s\n", routine, what);
  std::fflush(nullptr);
  ::_exit(2);
}

// What stands for a routine until the MPI has been found. Several threads may be the first ones: each of them reads
// this or the routine.
template <auto Member, const char* Name>
struct Unfound;
template <class Result, class... Arguments, Result (*Below::*Member)(Arguments...), const char* Name>
struct Unfound<Member, Name> {
  static Result call(Arguments... arguments) {
    find_below(nullptr);
    const auto found = detail::below_table.*Member;
    if (found == &Unfound::call) end_process("the MPI of this program does not have this routine", Name);
    return found(arguments...);
  }
};

// Finds the routine of a tool, and calls it; `Own` where there is none.
template <auto Member, auto Own>
struct Unasked;
template <class Result, class... Arguments, Result (*Tools::*Member)(Arguments...), auto Own>
struct Unasked<Member, Own> {
  static Result call(Arguments... arguments) {
    find_below(nullptr);
    const auto found = detail::tools_table.*Member;
    return found != nullptr ? found(arguments...) : Own(arguments...);
  }
};

#define SHMEMX_NAME(name) constexpr char k##name[] = "MPI_" #name;
SHMEMX_TAKEN_OVER(SHMEMX_NAME)
SHMEMX_CALLED(SHMEMX_NAME)
#undef SHMEMX_NAME

}  // namespace

namespace detail {
#define SHMEMX_UNFOUND(name) .name = &Unfound<&Below::name, k##name>::call,
#define SHMEMX_ABSENT(name) .name = nullptr,
constinit Below below_table = {SHMEMX_TAKEN_OVER(SHMEMX_UNFOUND) SHMEMX_CALLED(SHMEMX_UNFOUND)
                                   SHMEMX_CALLED_IF_THERE(SHMEMX_ABSENT)};
#undef SHMEMX_ABSENT
#undef SHMEMX_UNFOUND
#define SHMEMX_UNASKED(name) .name = &Unasked<&Tools::name, &PMPI_##name>::call,
constinit Tools tools_table = {SHMEMX_TAKEN_OVER(SHMEMX_UNASKED)};
#undef SHMEMX_UNASKED
}  // namespace detail

namespace {

template <class Routine>
void find_routine(void* scope, const char* name, Routine& place) {
  if (void* const found = find_symbol(scope, name); found != nullptr) place = reinterpret_cast<Routine>(found);
}

template <class Routine>
void find_tool(const Scopes& scopes, const link_map* mpi, const char* name, Routine& place) {
  for (void* const scope : {RTLD_NEXT, scopes.module}) {
    void* const found = scope == nullptr ? nullptr : find_symbol(scope, name);
    if (found == nullptr || is_in(mpi, found) || !is_behind_this(object_of(found))) continue;
    place = reinterpret_cast<Routine>(found);
    has_tools = true;
    return;
  }
}

void find_all(const void* caller) {
  const Scopes scopes = scopes_of(caller);
  if (scopes.mpi == nullptr) end_process("no MPI library is loaded", "MPI_Init");
  Below found = detail::below_table;
  Tools tools{};
#define SHMEMX_FIND(name) find_routine(scopes.mpi, "PMPI_" #name, found.name);
  SHMEMX_TAKEN_OVER(SHMEMX_FIND)
  SHMEMX_CALLED(SHMEMX_FIND)
  SHMEMX_CALLED_IF_THERE(SHMEMX_FIND)
#undef SHMEMX_FIND
  const link_map* const mpi = object_of(reinterpret_cast<const void*>(found.Init));
  check_flavor(found.Get_library_version, mpi->l_name);
#define SHMEMX_FIND(name) find_tool(scopes, mpi, "MPI_" #name, tools.name);
  SHMEMX_TAKEN_OVER(SHMEMX_FIND)
#undef SHMEMX_FIND
  detail::below_table = found;
  detail::tools_table = tools;
}

}  // namespace

void find_below(const void* caller) {
  static std::once_flag found;
  std::call_once(found, find_all, caller);
}

}  // namespace shmemx::interpose
