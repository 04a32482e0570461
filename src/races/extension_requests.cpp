// Routines of shmemx.h that start operations which complete by requests, or release what they use; and their
// completion.
#include <pshmem.h>

#include <cstdint>

#include "races/extension.hpp"
#include "races/requests.hpp"
#include "races/routine.hpp"

namespace shmemx::races {
namespace {

std::size_t members_of(shmem_team_t team) noexcept {
  const int members = pshmem_team_n_pes(team);
  return members < 0 ? 0 : static_cast<std::size_t>(members);
}

std::size_t bytes_of_type(int type) noexcept {
  constexpr std::uint8_t kBytes[] = {0,  4, 4,  8,  8, 4,  8,  1, 1, 2,  2, 1,
                                     16, 8, 16, 32, 8, 16, 16, 8, 8, 32, 8, 16};  // by SHMEMX_INT32 and so on
  return type >= 0 && static_cast<std::size_t>(type) < sizeof kBytes ? kBytes[type] : 0;
}

// Blocks of an alltoallv, one for each member; without displacements one after the other.
struct MemberBlocks {
  const void* at;
  const std::size_t* counts;
  const std::size_t* displs;
};
template <class Use>
void for_blocks(std::size_t members, const MemberBlocks& blocks, const Use& use) noexcept {
  std::size_t next = 0;
  for (std::size_t i = 0; blocks.at != nullptr && blocks.counts != nullptr && i < members; ++i) {
    use(static_cast<const char*>(blocks.at) + (blocks.displs != nullptr ? blocks.displs[i] : next), blocks.counts[i]);
    next += blocks.counts[i];
  }
}

// Where blocks of unknown lengths go is not known, so they are left out.
void use_blocks(Start& call, shmem_team_t team, const MemberBlocks& dest, const MemberBlocks& source,
                std::size_t* received) noexcept {
  const std::size_t members = members_of(team);
  for (const std::size_t* const array : {dest.counts, dest.displs, source.counts, source.displs})
    call.reads(array, members * sizeof *array);
  call.writes(received, members * sizeof *received);
  for_blocks(members, source, [&](const void* at, std::size_t bytes) { call.reads(at, bytes); });
  for_blocks(members, dest, [&](const void* at, std::size_t bytes) { call.writes(at, bytes); });
}

// A payload that is in use until it is released.
struct Owned {
  shmemx_task_release_t release;
  void* argument;
};
struct Payload {
  Owned program;
  Stamp operation;
};

void release_payload(void* payload, void* of) {
  const Payload found = *static_cast<Payload*>(of);
  delete static_cast<Payload*>(of);
  complete(found.operation);
  found.program.release(payload, found.program.argument);
}

// Returns what the library is to call instead. Without a release it is left to the library to complain.
Owned own_payload(Start& call, const void* payload, std::size_t bytes, const Owned& program) noexcept {
  if (program.release == nullptr) return program;
  call.reads(payload, bytes);
  return {release_payload, new Payload{program, call.stamp()}};
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the library's

// clang-format off
#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]
#define SHMEMX_REAL(NAME) reinterpret_cast<decltype(&NAME)>(next_definition(#NAME))
// USES says what the operation uses, by `call`; AFTER follows the library's routine.
#define SHMEMX_STARTS_AS(R, NAME, ARGUMENTS, USES, AFTER, ...)      \
  SHMEMX_EXPORT R NAME(__VA_ARGS__) noexcept {                      \
    static const auto real = SHMEMX_REAL(NAME);                     \
    Start call({#NAME, __builtin_return_address(0)});               \
    USES;                                                           \
    return call_then([&] { return real ARGUMENTS; }, [&] { AFTER; }); \
  }
#define SHMEMX_STARTS(NAME, ARGUMENTS, USES, ...) \
  SHMEMX_STARTS_AS(int, NAME, ARGUMENTS, USES, call.has_begun(*request_), __VA_ARGS__, shmemx_request_t* request_)
// clang-format on

SHMEMX_STARTS(shmemx_isend, (source_, bytes_, pe_, tag_, request_), call.reads(source_, bytes_), const void* source_,
              size_t bytes_, int pe_, int tag_)
SHMEMX_STARTS(shmemx_issend, (source_, bytes_, pe_, tag_, request_), call.reads(source_, bytes_), const void* source_,
              size_t bytes_, int pe_, int tag_)
SHMEMX_STARTS(shmemx_irecv, (dest_, bytes_, pe_, tag_, request_), call.writes(dest_, bytes_), void* dest_,
              size_t bytes_, int pe_, int tag_)
SHMEMX_STARTS(shmemx_broadcast_nb, (team_, dest_, source_, bytes_, root_, request_),
              call.copies(dest_, bytes_, source_, pshmem_team_my_pe(team_) == root_ ? bytes_ : 0), shmem_team_t team_,
              void* dest_, const void* source_, size_t bytes_, int root_)
SHMEMX_STARTS(shmemx_fcollect_nb, (team_, dest_, source_, bytes_, request_),
              call.copies(dest_, bytes_* members_of(team_), source_, bytes_), shmem_team_t team_, void* dest_,
              const void* source_, size_t bytes_)
SHMEMX_STARTS(shmemx_alltoall_nb, (team_, dest_, source_, bytes_, request_),
              call.copies(dest_, bytes_* members_of(team_), source_, bytes_* members_of(team_)), shmem_team_t team_,
              void* dest_, const void* source_, size_t bytes_)
SHMEMX_STARTS(shmemx_reduce_nb, (team_, dest_, source_, count_, type_, op_, request_),
              call.copies(dest_, count_* bytes_of_type(type_), source_, count_* bytes_of_type(type_)),
              shmem_team_t team_, void* dest_, const void* source_, size_t count_, int type_, int op_)

SHMEMX_STARTS(shmemx_alltoallv_nb,
              (team_, dest_, dest_bytes_, dest_counts_, dest_displs_, source_, source_counts_, source_displs_,
               received_, request_),
              use_blocks(call, team_, {dest_, dest_counts_, dest_displs_}, {source_, source_counts_, source_displs_},
                         received_),
              shmem_team_t team_, void* dest_, size_t dest_bytes_, const size_t* dest_counts_,
              const size_t* dest_displs_, const void* source_, const size_t* source_counts_,
              const size_t* source_displs_, size_t* received_)
SHMEMX_STARTS_AS(void, shmemx_task_call, (pe_, id_, payload_, bytes_, result_, result_bytes_, request_),
                 call.writes(result_, result_bytes_), call.has_begun(*request_), int pe_, int id_, const void* payload_,
                 size_t bytes_, void* result_, size_t result_bytes_, shmemx_request_t* request_)
SHMEMX_STARTS_AS(void, shmemx_task_send_owned, (pe_, id_, payload_, bytes_, priority_, owned.release, owned.argument),
                 const Owned owned = own_payload(call, payload_, bytes_, {release_, argument_}), , int pe_, int id_,
                 void* payload_, size_t bytes_, int priority_, shmemx_task_release_t release_, void* argument_)

// ---- Completion ----
SHMEMX_EXPORT int shmemx_wait(shmemx_request_t* request_, shmemx_status_t* status_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_wait);
  const Completion call(request_, 1);
  return real(request_, status_);
}
SHMEMX_EXPORT int shmemx_test(shmemx_request_t* request_, int* flag_, shmemx_status_t* status_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_test);
  const Completion call(request_, 1);
  return real(request_, flag_, status_);
}
SHMEMX_EXPORT int shmemx_waitall(size_t count_, shmemx_request_t* requests_, shmemx_status_t* statuses_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_waitall);
  const Completion call(requests_, count_);
  return real(count_, requests_, statuses_);
}
SHMEMX_EXPORT int shmemx_waitany(size_t count_, shmemx_request_t* requests_, size_t* index_,
                                 shmemx_status_t* status_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_waitany);
  const Completion call(requests_, count_);
  return real(count_, requests_, index_, status_);
}
// The request becomes null at once, and its task runs when the operation is complete. This call counts as completion.
SHMEMX_EXPORT void shmemx_task_after(shmemx_request_t* request_, int id_, const void* payload_, size_t bytes_,
                                     int priority_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_task_after);
  const Completion call(request_, 1);
  real(request_, id_, payload_, bytes_, priority_);
}

// A request whose event has happened is complete, though not null yet.
namespace shmemx::races {
namespace {
template <class Real>
std::size_t event_of(const shmemx_event_t* events, std::size_t count, Real real) noexcept {
  exchange_knowledge();
  const std::size_t index = real(events, count);
  if (index < count && events[index].kind == SHMEMX_EVENT_REQUEST)
    complete(*static_cast<const shmemx_request_t*>(events[index].object));
  exchange_knowledge();
  return index;
}
}  // namespace
}  // namespace shmemx::races
SHMEMX_EXPORT size_t shmemx_event_wait(const shmemx_event_t* events_, size_t count_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_event_wait);
  return event_of(events_, count_, real);
}
SHMEMX_EXPORT size_t shmemx_event_test(const shmemx_event_t* events_, size_t count_) noexcept {
  static const auto real = SHMEMX_REAL(shmemx_event_test);
  return event_of(events_, count_, real);
}
