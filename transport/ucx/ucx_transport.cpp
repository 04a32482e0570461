#include "transport/ucx/ucx_transport.hpp"

#include <algorithm>
#include <utility>

#include "base/bulk_copy.hpp"
#include "base/clock.hpp"
#include "transport/ucx/limits.hpp"

namespace shmemx::ucx {
namespace {

constexpr std::size_t kKindBytes = 1;  // in front of an endpoint address: says whether the PE has RMA in hardware
// Polls in a round of the keepalive after which this PE has read what had arrived before the round ended.
constexpr std::uint32_t kEnoughPolls = 1000;
constexpr std::size_t kMostDeclined = std::size_t{1} << 30;
constexpr std::uint32_t kPollsPerLook = 16;  // idle polls to one look at the clock

}  // namespace

Result<TransportPtr> UcxTransport::open(const Setup& setup) {
  copy_sizes = copy_sizes_for(0);  // the plug-in has its own
  SHMEMX_TRY_ASSIGN(library, Library::open({.n_peers = static_cast<std::size_t>(setup.n_pes),
                                            .address_bytes = kMaxAddressBytes - kKindBytes,
                                            .stop_signal = setup.stop_signal,
                                            .one_machine = setup.one_machine}));
  SHMEMX_TRY_ASSIGN(timer, transport::KeepaliveTimer::open(library.descriptor()));
  std::unique_ptr<UcxTransport> opened(new UcxTransport(setup, std::move(library), std::move(timer)));
  SHMEMX_TRY(opened->listen());
  return TransportPtr(std::move(opened));
}

UcxTransport::UcxTransport(const Setup& setup, Library library, transport::KeepaliveTimer timer)
    : setup_(setup),
      library_(std::move(library)),
      keepalive_(transport::silence_before_reserve(setup), now_ns()),
      timer_(std::move(timer)),
      peers_(static_cast<std::size_t>(setup.n_pes)),
      rma_(*this, library_.context()) {}

// The worker calls back while it ends, so peers outlive it.
UcxTransport::~UcxTransport() {
  is_closing_ = true;
  for (Peer* peer : peers_.list()) peer->inbox.release();
  rma_.release_all();
  library_.stop();
}

transport::Capabilities UcxTransport::capabilities() const noexcept {
  return {.rma = library_.is_native(),
          .waits = true,
          .short_bytes = kLongBytes - 1,
          .declinable_bytes = setup_.has_reserve ? 0 : kMostDeclined};
}

std::string UcxTransport::endpoint_address() const {
  return std::string(1, library_.is_native() ? 'r' : 'm') + library_.address();
}

bool UcxTransport::poll(int) noexcept {
  pace_.is_idle = ::ucp_worker_progress(library_.worker()) == 0;
  if (!lists_.open.empty()) push_overdue();
  if (!lists_.challenged.empty()) send_challenges();
  if (!lists_.fresh.empty()) connect_new();
  if (!lists_.pinged_by.empty()) reply_to_pings();
  if (rma_.has_unflushed()) rma_.flush_puts();
  if (is_keepalive_due() && keepalive_.is_round_over(now_ns())) end_keepalive_round();
  for (const int source : std::exchange(events_.broken, {})) {
    Peer& peer = *peers_.find(source);
    lose(peer, peer.inbox.fault());
  }
  if (!lists_.lost.empty()) report_lost();
  return std::exchange(events_.active, false) || !pace_.is_idle;  // a moving payload is a reason to poll again soon
}

// Returns whether to look at the clock: often enough for the keepalive, and not between any two polls.
bool UcxTransport::is_keepalive_due() noexcept {
  if (!pace_.is_idle) return ++pace_.busy_polls >= kEnoughPolls;
  return std::exchange(pace_.is_armed, false) || ++pace_.idle_polls % kPollsPerLook == 0;
}

bool UcxTransport::arm() noexcept {
  // UCX makes its descriptor readable for what arrives, not for what it has begun itself.
  if (!pace_.is_idle || !lists_.lost.empty() || !lists_.pinged_by.empty() || !lists_.challenged.empty() ||
      rma_.has_unflushed())
    return false;
  if (::ucp_worker_arm(library_.worker()) == UCS_ERR_BUSY) return false;
  const bool watches =
      std::any_of(peers_.list().begin(), peers_.list().end(), [](const Peer* peer) { return is_watched(*peer); });
  if (watches) timer_.set(keepalive_.round_end_ns());
  pace_.is_armed = watches;
  return true;
}

// Returns the lanes that UCX has chosen for this PE, or, before there is an endpoint, the resources to choose from.
std::string UcxTransport::describe(int pe) const {
  std::string route;
  const Peer* peer = peers_.find(pe);
  if (peer != nullptr && peer->endpoint != nullptr && !peer->is_gone()) {
    route = lanes_of(printed([peer](std::FILE* file) { ::ucp_ep_print_info(peer->endpoint, file); }));
  }
  if (route.empty()) {
    for (const Resource& resource : library_.resources()) {
      route += (route.empty() ? "one of " : ", ") + resource.transport + '/' + resource.device;
    }
  }
  route += library_.is_native() ? "; long messages as UCX decides"
                                : "; payloads above " + std::to_string(kEagerBytes >> 10) + " KiB by rendezvous";
  return route + (library_.is_native() ? "; puts and gets by hardware, messages by poll" : "; progress by poll");
}

}  // namespace shmemx::ucx
