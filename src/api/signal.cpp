#include "api/signal.hpp"

namespace shmemx::api {

context::Location resolve_signalled_cold(const Context& context, const char* routine, const Sides& sides,
                                         const std::uint64_t* sig_addr, std::uint32_t near) noexcept {
  const context::Location target = resolve_transfer_cold(context, {routine, "dest"}, sides, near);
  check::check_signal(routine, sides.symmetric, sig_addr);
  return target;
}

void update_signal_remote(const Context& context, const char* routine, const context::Place& at,
                          const Signal& signal) noexcept {
  onesided::order_message(routine, context);
  onesided::update_signal(routine, {at, signal.value, signal.sig_op}, onesided::options_of(context));
}

void put_signal_remote(const Context& context, const char* routine, const RemotePut& put, const Signal& signal,
                       int pe) noexcept {
  const Observed span(context, {routine, stats::Family::signal}, pe, sizeof *signal.address);
  const context::Location at = context::resolve_word(context, {routine, "sig_addr"}, signal.address, pe);
  onesided::order_message(routine, context);
  onesided::put_signal(routine, put.dest, put.source, put.bytes, {at.place, signal.value, signal.sig_op},
                       onesided::options_of(context));
}

}  // namespace shmemx::api
