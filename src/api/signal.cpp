#include "api/signal.hpp"

namespace shmemx::api {
namespace {

// The target would have to reject it.
void check_alignment(const char* routine, const std::uint64_t* sig_addr) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(sig_addr);
  if (address % sizeof *sig_addr != 0)
    bad_argument(routine, "sig_addr", static_cast<long long>(address), "addresses that are a multiple of 8");
}

}  // namespace

void update_signal_remote(const Context& context, const char* routine, const context::Place& at,
                          const Signal& signal) noexcept {
  check_alignment(routine, signal.address);
  onesided::order_message(routine, context);
  onesided::update_signal(routine, {at, signal.value, signal.sig_op}, onesided::options_of(context));
}

void put_signal_remote(const Context& context, const char* routine, const RemotePut& put, const Signal& signal,
                       int pe) noexcept {
  const Observed span(context, {routine, stats::Family::signal}, pe, sizeof *signal.address);
  const context::Location at =
      context::resolve(context, {routine, "sig_addr"}, signal.address, sizeof *signal.address, pe);
  check_alignment(routine, signal.address);
  onesided::order_message(routine, context);
  onesided::put_signal(routine, put.dest, put.source, put.bytes, {at.place, signal.value, signal.sig_op},
                       onesided::options_of(context));
}

}  // namespace shmemx::api
