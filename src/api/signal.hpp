// Signals, and put with signal: the signal is updated after the data are in place.
#pragma once

#include "api/rma.hpp"
#include "atomic/direct.hpp"

namespace shmemx::api {

inline std::uint64_t* signal_on(const context::Location& target) noexcept {
  return reinterpret_cast<std::uint64_t*>(target.address);
}

struct Signal {
  std::uint64_t* address;  // this PE's copy, as the user names it
  std::uint64_t value;
  int sig_op;
};

// The PE's memory is not mapped.
[[gnu::cold, gnu::noinline]] void update_signal_remote(const Context& context, const char* routine,
                                                       const context::Place& at, const Signal& signal) noexcept;
struct RemotePut {
  context::Place dest;
  const void* source;
  std::uint64_t bytes;
};
[[gnu::cold, gnu::noinline]] void put_signal_remote(const Context& context, const char* routine, const RemotePut& put,
                                                    const Signal& signal, int pe) noexcept;

inline void update_signal(const Context& context, context::Site site, std::uint64_t* sig_addr, std::uint64_t value,
                          int sig_op, int pe) noexcept {
  const Observed span(context, {site.routine, stats::Family::signal}, pe, sizeof *sig_addr);
  const context::Location target = context::resolve_word(context, site, sig_addr, pe);
  if (!target.is_mapped()) [[unlikely]]
    return update_signal_remote(context, site.routine, target.place, {sig_addr, value, sig_op});
  if (sig_op == SHMEM_SIGNAL_SET) {
    atomic::set(signal_on(target), value);  // a release store: after the data
  } else {
    atomic::add(signal_on(target), value);
  }
  wake(*target.doorbell);
}

// The data's place of a put with a signal.
[[gnu::noinline, gnu::cold]] context::Location resolve_signalled_cold(const Context& context, const char* routine,
                                                                      const Sides& sides, const std::uint64_t* sig_addr,
                                                                      std::uint32_t near) noexcept;

[[gnu::always_inline]] inline context::Location resolve_signalled(const Context& context, const char* routine,
                                                                  const Sides& sides, const std::uint64_t* sig_addr,
                                                                  std::uint32_t near) noexcept {
  if (context::is_near(context, sides.symmetric.at, sides.symmetric.block_bytes, near)) [[likely]]
    return context::locate_near(context, sides.symmetric.at, near);
  return resolve_signalled_cold(context, routine, sides, sig_addr, near);
}

// Inlined into each entry point, so that a span sees the caller: it has too many arguments for a jump.
template <class T, check::Use kUse = check::Use::source>
[[gnu::always_inline]] inline void put_signal(const Context& context, const char* routine, void* dest,
                                              const void* source, std::size_t nelems, std::uint64_t* sig_addr,
                                              std::uint64_t value, int sig_op, int pe) noexcept {
  check_signal_operator(routine, sig_op);
  const std::uint64_t bytes = checked_bytes(routine, nelems, sizeof(T));
  const Observed span(context, {routine, stats::Family::put}, pe, bytes);
  const context::Location target = resolve_signalled(context, routine, {{dest, bytes}, {source, bytes}, kUse}, sig_addr,
                                                     context::near_index(context, pe));
  if (!target.is_mapped()) [[unlikely]]
    return put_signal_remote(context, routine, {target.place, source, bytes}, {sig_addr, value, sig_op}, pe);
  rma::copy(target.address, source, bytes);
  update_signal(context, {routine, "sig_addr"}, sig_addr, value, sig_op, pe);
}

template <class T>
[[gnu::always_inline]] inline void put_signal_nbi(const Context& context, const char* routine, void* dest,
                                                  const void* source, std::size_t nelems, std::uint64_t* sig_addr,
                                                  std::uint64_t value, int sig_op, int pe) noexcept {
  put_signal<T, check::Use::kept_source>(context, routine, dest, source, nelems, sig_addr, value, sig_op, pe);
}

}  // namespace shmemx::api
