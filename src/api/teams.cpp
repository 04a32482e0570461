// Teams, contexts and sessions.
#include <vector>

#include "api/arg_check.hpp"
#include "api/plain_define.hpp"
#include "base/fatal.hpp"
#include "check/leaks.hpp"
#include "check/owners.hpp"
#include "coll/background/begin.hpp"
#include "coll/barrier.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/select.hpp"
#include "coll/split.hpp"
#include "onesided/lane.hpp"
#include "onesided/order.hpp"
#include "runtime/contexts.hpp"

namespace api = shmemx::api;
namespace coll = shmemx::coll;
namespace context = shmemx::context;
using shmemx::check::TeamUse;

namespace {

template <class Handle>
Handle as_handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(value));
}

int contexts_asked(const shmem_team_config_t* config, long mask) {
  return config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 ? config->num_contexts : 0;
}

struct Split {
  const char* routine;
  coll::CallFamily family;
  const shmem_team_config_t* config;
  long mask;
};

// Writes the new handle, or SHMEM_TEAM_INVALID. Returns what the standard's routine returns.
int split_into(coll::Team& parent, const Split& call, const std::vector<coll::Triplet>& children,
               shmem_team_t* new_team) {
  const TeamUse use(parent.route.team_index, call.routine);
  coll::begin_call(parent, coll::call_word(call.family));
  const coll::SplitResult result = coll::split(parent, call.routine, children, contexts_asked(call.config, call.mask));
  if (result.ok && coll::team_table[result.team_index].me() == 0 && result.team_index != 0)
    shmemx::check::note_handle(shmemx::check::Handle::team, static_cast<std::uint32_t>(result.team_index),
                               call.routine);
  *new_team = result.ok ? as_handle<shmem_team_t>(coll::team_table[result.team_index].handle) : SHMEM_TEAM_INVALID;
  return result.ok ? 0 : 1;
}

void end_team(coll::Team& team, const char* routine) {
  // Once PE 0 of the team has left the barrier, it may use the slot for another team and clear the counters, which a
  // slower member of this team may still read. In a dissemination and in a tree each member waits on its own words
  // only.
  team.counting = team.counting && coll::takes_tree(team.size(), true);
  for (context::Context* const open : shmemx::runtime::contexts_of(team.route.team_index)) {
    shmemx::onesided::quiet(routine, {open});  // they end with the team
    shmemx::onesided::release_lane(*open);
  }
  const TeamUse use(team.route.team_index, routine);
  coll::begin_call(team, coll::call_word(coll::CallFamily::destroy));
  coll::barrier(team, routine);
  shmemx::runtime::drop_contexts_of(team.route.team_index);
  shmemx::check::forget_handle(shmemx::check::Handle::team, team.route.team_index);
  coll::release_team(team);
}

shmemx::check::Sharing sharing_of(long options) {
  using shmemx::check::Sharing;
  if ((options & SHMEM_CTX_PRIVATE) != 0) return Sharing::private_to_thread;
  return (options & SHMEM_CTX_SERIALIZED) != 0 ? Sharing::serialized : Sharing::free;
}

int create_context(const coll::Team& team, const char* routine, long options, shmem_ctx_t* ctx) {
  constexpr long kKnown = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  if ((options & ~kKnown) != 0)
    api::bad_argument(routine, "options", options, "0 and the SHMEM_CTX_ options joined by |");
  const std::uint64_t handle = shmemx::runtime::create_context(team);
  *ctx = as_handle<shmem_ctx_t>(handle);
  if (handle != 0) {
    const auto index = static_cast<std::uint32_t>(handle & context::kContextIndexMask);
    shmemx::check::note_handle(shmemx::check::Handle::context, index, routine);
    static_assert(context::kMaxContexts <= shmemx::check::kMostContexts);
    shmemx::check::note_sharing(index, sharing_of(options));
  }
  const bool one_at_a_time = (options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE)) != 0;
  if (handle != 0 && one_at_a_time) shmemx::onesided::want_lane(context::context_at(handle));
  if (handle == 0) shmemx::debug_line("%s: all %zu contexts are in use", routine, context::kMaxContexts - 2);
  return handle == 0 ? 1 : 0;
}

// Returns the rows of a mesh of PEs: full ones, then perhaps a shorter one.
std::vector<coll::Triplet> rows_of(int n_pes, int xrange) {
  std::vector<coll::Triplet> rows;
  for (int start = 0; start < n_pes; start += xrange)
    rows.push_back({start, 1, n_pes - start < xrange ? n_pes - start : xrange});
  return rows;
}

std::vector<coll::Triplet> columns_of(int n_pes, int xrange) {
  std::vector<coll::Triplet> columns;
  for (int x = 0; x < xrange; ++x) columns.push_back({x, xrange, (n_pes - x + xrange - 1) / xrange});
  return columns;
}

}  // namespace

extern "C" {

int pshmem_team_my_pe(shmem_team_t team) noexcept {
  const coll::Team* const entry = api::team_or_null(team, "shmem_team_my_pe");
  return entry == nullptr ? -1 : entry->me();
}

int pshmem_team_n_pes(shmem_team_t team) noexcept {
  const coll::Team* const entry = api::team_or_null(team, "shmem_team_n_pes");
  return entry == nullptr ? -1 : entry->size();
}

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t* config) noexcept {
  const coll::Team* const entry = api::team_or_null(team, "shmem_team_get_config");
  if (entry == nullptr) return 1;
  if (config != nullptr && (config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) config->num_contexts = entry->num_contexts;
  return 0;
}

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) noexcept {
  const coll::Team* const source = api::team_or_null(src_team, "shmem_team_translate_pe");
  const coll::Team* const dest = api::team_or_null(dest_team, "shmem_team_translate_pe");
  if (source == nullptr || dest == nullptr || src_pe < 0 || src_pe >= source->size()) return -1;
  const auto found = dest->route.set.find(source->route.set.world(shmemx::TeamPe{src_pe}));
  return found ? found->value : -1;
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team) noexcept {
  const char* const routine = "shmem_team_split_strided";
  api::check_result(routine, "new_team", new_team);
  *new_team = SHMEM_TEAM_INVALID;
  coll::Team* const parent = api::team_or_null(parent_team, routine);
  if (parent == nullptr) return 1;
  return split_into(*parent, {routine, coll::CallFamily::split_strided, config, config_mask}, {{start, stride, size}},
                    new_team);
}

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config, long xaxis_mask,
                         shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, long yaxis_mask,
                         shmem_team_t* yaxis_team) noexcept {
  const char* const routine = "shmem_team_split_2d";
  api::check_result(routine, "xaxis_team", xaxis_team);
  api::check_result(routine, "yaxis_team", yaxis_team);
  *xaxis_team = SHMEM_TEAM_INVALID;
  *yaxis_team = SHMEM_TEAM_INVALID;
  coll::Team* const parent = api::team_or_null(parent_team, routine);
  if (parent == nullptr) return 1;
  const int n_pes = parent->size();
  const int width = xrange > n_pes ? n_pes : xrange;
  // No row has a width below 1: the splits then fail on all PEs.
  const std::vector<coll::Triplet> impossible{{0, 0, 0}};
  if (split_into(*parent, {routine, coll::CallFamily::split_2d, xaxis_config, xaxis_mask},
                 width < 1 ? impossible : rows_of(n_pes, width), xaxis_team) != 0)
    return 1;
  if (split_into(*parent, {routine, coll::CallFamily::split_2d, yaxis_config, yaxis_mask}, columns_of(n_pes, width),
                 yaxis_team) == 0)
    return 0;
  end_team(coll::team_at(reinterpret_cast<std::uintptr_t>(*xaxis_team)), routine);
  *xaxis_team = SHMEM_TEAM_INVALID;
  return 1;
}

void pshmem_team_destroy(shmem_team_t team) noexcept {
  const char* const routine = "shmem_team_destroy";
  coll::Team* const entry = api::team_or_null(team, routine);
  if (entry == nullptr) return;
  if (entry->route.team_index <= coll::kSharedTeam) {
    shmemx::fatal(routine, "argument 'team' is %s, allowed are teams made by a split",
                  team == SHMEM_TEAM_WORLD ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
  }
  if (const std::size_t open = coll::background::open_requests_of(*entry); open != 0) {
    shmemx::fatal(
        routine,
        "argument 'team' has %zu collective%s that this PE has not completed, allowed is none: call shmemx_wait "
        "or shmemx_test for each request first",
        open, open == 1 ? "" : "s");
  }
  end_team(*entry, routine);
}

int pshmem_ctx_create(long options, shmem_ctx_t* ctx) noexcept {
  context::require_initialized("shmem_ctx_create");
  api::check_result("shmem_ctx_create", "ctx", ctx);
  return create_context(coll::team_table[coll::kWorldTeam], "shmem_ctx_create", options, ctx);
}

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) noexcept {
  const coll::Team* const entry = api::team_or_null(team, "shmem_team_create_ctx");
  api::check_result("shmem_team_create_ctx", "ctx", ctx);
  *ctx = SHMEM_CTX_INVALID;
  return entry == nullptr ? 1 : create_context(*entry, "shmem_team_create_ctx", options, ctx);
}

void pshmem_ctx_destroy(shmem_ctx_t ctx) noexcept {
  context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_destroy");
  if (entry == nullptr) return;
  if (ctx == SHMEM_CTX_DEFAULT)
    shmemx::fatal("shmem_ctx_destroy", "argument 'ctx' is SHMEM_CTX_DEFAULT, allowed are contexts that were created");
  shmemx::onesided::quiet("shmem_ctx_destroy", {entry});
  shmemx::onesided::release_lane(*entry);
  shmemx::runtime::destroy_context(*entry);
}

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) noexcept {
  const context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_get_team");
  api::check_result("shmem_ctx_get_team", "team", team);
  *team = entry == nullptr ? SHMEM_TEAM_INVALID : as_handle<shmem_team_t>(coll::team_table[entry->team_index].handle);
  return entry == nullptr ? 1 : 0;
}

// Sessions are hints. In one that batches, small operations between nodes gather for longer (onesided::options_of).
void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config,
                              long config_mask) noexcept {
  context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_session_start");
  if (entry == nullptr) return;
  entry->session_options |= static_cast<std::uint64_t>(options);
  const bool is_counted = config != nullptr && (config_mask & SHMEM_CTX_SESSION_TOTAL_OPS) != 0;
  entry->session_total_ops = is_counted ? config->total_ops : ~std::uint64_t{0};
  if (entry->session_total_ops <= 1) entry->session_options &= ~shmemx::context::kSessionBatch;
}

void pshmem_ctx_session_stop(shmem_ctx_t ctx) noexcept {
  context::Context* const entry = api::context_or_null(ctx, "shmem_ctx_session_stop");
  if (entry == nullptr) return;
  const bool batched = shmemx::context::batches(*entry);
  entry->session_options = 0;
  if (batched) shmemx::onesided::send_gathered();
}

}  // extern "C"

SHMEMX_ALIAS(shmem_team_my_pe)
SHMEMX_ALIAS(shmem_team_n_pes)
SHMEMX_ALIAS(shmem_team_get_config)
SHMEMX_ALIAS(shmem_team_translate_pe)
SHMEMX_ALIAS(shmem_team_split_strided)
SHMEMX_ALIAS(shmem_team_split_2d)
SHMEMX_ALIAS(shmem_team_destroy)
SHMEMX_ALIAS(shmem_ctx_create)
SHMEMX_ALIAS(shmem_team_create_ctx)
SHMEMX_ALIAS(shmem_ctx_destroy)
SHMEMX_ALIAS(shmem_ctx_get_team)
SHMEMX_ALIAS(shmem_ctx_session_start)
SHMEMX_ALIAS(shmem_ctx_session_stop)
