// Part of shmemx.hpp: the library, teams and contexts as objects.
#ifndef SHMEMX_LIBRARY_HPP
#define SHMEMX_LIBRARY_HPP

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "../shmem.h"
#include "dropped_memory.hpp"

namespace shmemx {

enum class thread_level : int {
  single = SHMEM_THREAD_SINGLE,
  funneled = SHMEM_THREAD_FUNNELED,
  serialized = SHMEM_THREAD_SERIALIZED,
  multiple = SHMEM_THREAD_MULTIPLE
};

// Starts the library, and ends it in the destructor. Both are collective. Teams and contexts are declared after it, so
// that they go first.
class library {
 public:
  library() noexcept {
    if (!face_detail::is_initialized()) face_detail::blocks().forget();
    shmem_init();
  }
  explicit library(thread_level wanted) noexcept {
    if (!face_detail::is_initialized()) face_detail::blocks().forget();
    int provided = 0;
    is_started_ = shmem_init_thread(static_cast<int>(wanted), &provided) == 0;
  }
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  ~library() {
    if (!is_started_) return;
    free_dropped();
    face_detail::blocks().free_votes();
    shmem_finalize();
    if (!face_detail::is_initialized()) face_detail::blocks().forget();
  }

  // False if shmem_init_thread reported a failure.
  explicit operator bool() const noexcept { return is_started_; }
  thread_level provided() const noexcept {
    int provided = 0;
    shmem_query_thread(&provided);
    return static_cast<thread_level>(provided);
  }

 private:
  bool is_started_ = true;
};

inline int my_pe() noexcept { return shmem_my_pe(); }
inline int n_pes() noexcept { return shmem_n_pes(); }
inline bool pe_accessible(int pe) noexcept { return shmem_pe_accessible(pe) != 0; }
// Ends all PEs. Destructors do not run.
[[noreturn]] inline void global_exit(int status) noexcept { shmem_global_exit(status); }
// Tells profiling libraries, and the counters of SHMEM_STATS, what to record.
inline void pcontrol(int level) noexcept { shmem_pcontrol(level); }

struct specification {
  int major = 0;
  int minor = 0;
};
inline specification info_get_version() noexcept {
  specification of;
  shmem_info_get_version(&of.major, &of.minor);
  return of;
}
inline std::string info_get_name() {
  char name[SHMEM_MAX_NAME_LEN];
  shmem_info_get_name(name);
  return name;
}

// Bits, which may be combined by |.
enum class context_options : long {
  none = 0,
  serialized = SHMEM_CTX_SERIALIZED,
  private_to_thread = SHMEM_CTX_PRIVATE,
  no_store = SHMEM_CTX_NOSTORE
};
constexpr context_options operator|(context_options a, context_options b) {
  return static_cast<context_options>(static_cast<long>(a) | static_cast<long>(b));
}

// A team of PEs. One that is not valid is no team: this PE is no member, the split failed, or it was moved from. The
// destructor is collective on the team; while an exception unwinds the stack of this PE, the team stays.
class team {
 public:
  team() noexcept = default;
  static team world() noexcept { return team(SHMEM_TEAM_WORLD); }
  static team shared() noexcept { return team(SHMEM_TEAM_SHARED); }
  // Takes over a handle of the C interface.
  explicit team(shmem_team_t handle) noexcept : handle_(handle) {}
  team(team&& other) noexcept : handle_(other.release()), unwound_(other.unwound_) {}
  team& operator=(team&& other) noexcept {
    team gone(std::move(*this));
    handle_ = other.release();
    return *this;
  }
  ~team() {
    const bool is_own = handle_ != SHMEM_TEAM_INVALID && handle_ != SHMEM_TEAM_WORLD && handle_ != SHMEM_TEAM_SHARED;
    if (is_own && unwound_ == std::uncaught_exceptions()) shmem_team_destroy(handle_);
  }

  explicit operator bool() const noexcept { return handle_ != SHMEM_TEAM_INVALID; }
  shmem_team_t handle() const noexcept { return handle_; }
  shmem_team_t release() noexcept { return std::exchange(handle_, SHMEM_TEAM_INVALID); }
  int my_pe() const noexcept { return shmem_team_my_pe(handle_); }
  int n_pes() const noexcept { return shmem_team_n_pes(handle_); }
  // Returns the number in `other` of PE `pe` of this team, or -1.
  int translate(int pe, const team& other) const noexcept {
    return shmem_team_translate_pe(handle_, pe, other.handle_);
  }
  int world_pe(int pe) const noexcept { return shmem_team_translate_pe(handle_, pe, SHMEM_TEAM_WORLD); }

  // Returns how many contexts the program has said that it needs on this team; 0 by default.
  int num_contexts() const noexcept {
    shmem_team_config_t config = {};
    shmem_team_get_config(handle_, SHMEM_TEAM_NUM_CONTEXTS, &config);
    return config.num_contexts;
  }

  // Collective on this team. `num_contexts`: how many contexts the program will have on the new team at once.
  team split_strided(int start, int stride, int size, int num_contexts = 0) const noexcept {
    const shmem_team_config_t config = {num_contexts};
    team made;
    shmem_team_split_strided(handle_, start, stride, size, &config, SHMEM_TEAM_NUM_CONTEXTS, &made.handle_);
    return made;
  }
  struct rows_and_columns;
  rows_and_columns split_2d(int x_range) const noexcept;

 private:
  shmem_team_t handle_ = SHMEM_TEAM_INVALID;
  int unwound_ = std::uncaught_exceptions();
};

struct team::rows_and_columns {
  team row;
  team column;
};
inline team::rows_and_columns team::split_2d(int x_range) const noexcept {
  rows_and_columns made;
  shmem_team_split_2d(handle_, x_range, nullptr, 0, &made.row.handle_, nullptr, 0, &made.column.handle_);
  return made;
}

// Orders and completes its own operations, apart from those of other contexts. Not valid if the creation failed. The
// destructor completes what is pending; it comes before that of the team.
class context {
 public:
  explicit context(context_options options = context_options::none) noexcept {
    shmem_ctx_create(static_cast<long>(options), &handle_);
  }
  // PE numbers of its operations count within the team.
  explicit context(const team& on, context_options options = context_options::none) noexcept {
    shmem_team_create_ctx(on.handle(), static_cast<long>(options), &handle_);
  }
  context(context&& other) noexcept : handle_(std::exchange(other.handle_, SHMEM_CTX_INVALID)) {}
  context& operator=(context&& other) noexcept {
    context gone(std::move(*this));
    handle_ = std::exchange(other.handle_, SHMEM_CTX_INVALID);
    return *this;
  }
  ~context() {
    if (handle_ != SHMEM_CTX_INVALID) shmem_ctx_destroy(handle_);
  }

  explicit operator bool() const noexcept { return handle_ != SHMEM_CTX_INVALID; }
  shmem_ctx_t handle() const noexcept { return handle_; }
  // Returns the handle of its team, which this context does not own.
  shmem_team_t team_handle() const noexcept {
    shmem_team_t of = SHMEM_TEAM_INVALID;
    shmem_ctx_get_team(handle_, &of);
    return of;
  }
  // Makes a call of the standard on this context.
  template <class Call>
  decltype(auto) call(Call make) const noexcept {
    return make(handle_);
  }

 private:
  shmem_ctx_t handle_ = SHMEM_CTX_INVALID;
};

enum class session_options : long { none = 0, batch = SHMEM_CTX_SESSION_BATCH };

// A phase of many operations on a context, from the construction to the end of the object. With `batch` they may be
// delayed and sent together. The context outlives it.
class session {
 public:
  explicit session(session_options options = session_options::batch) noexcept
      : session(SHMEM_CTX_DEFAULT, options, {}) {}
  // `total_ops`: how many operations the program expects to make.
  explicit session(const context& on, session_options options = session_options::batch,
                   std::optional<std::size_t> total_ops = {}) noexcept
      : session(on.handle(), options, total_ops) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { shmem_ctx_session_stop(handle_); }

 private:
  session(shmem_ctx_t on, session_options options, std::optional<std::size_t> total_ops) noexcept : handle_(on) {
    const shmem_ctx_session_config_t config = {total_ops.value_or(0)};
    shmem_ctx_session_start(handle_, static_cast<long>(options), &config, total_ops ? SHMEM_CTX_SESSION_TOTAL_OPS : 0);
  }

  shmem_ctx_t handle_;
};

// The context of operations that name none.
struct default_context {
  template <class Call>
  decltype(auto) call(Call make) const noexcept {
    return make();
  }
};

template <class C>
concept context_like = std::is_same_v<C, context> || std::is_same_v<C, default_context>;

}  // namespace shmemx

#endif
