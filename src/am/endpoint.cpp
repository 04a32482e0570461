#include "am/endpoint.hpp"

#include "base/clock.hpp"
#include "base/contact_table.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

constexpr std::uint32_t kFilledPerPoll = 4;     // batches of a stream to one poll
constexpr std::uint32_t kPollsOfNetworks = 16;  // a poll of the networks while a PE of this node is expected

constexpr std::size_t kMaxProgress = 8;
bool (*progress_functions[kMaxProgress])(Endpoint&) = {};
constinit std::size_t progress_count = 0;

// Never freed, as the process's endpoint.
template <class T>
std::span<T> make_table(int n_pes) {
  const auto entries = static_cast<std::size_t>(n_pes);
  return {reinterpret_cast<T*>(reserve_zeros(entries * sizeof(T))), entries};
}

}  // namespace

void add_progress(bool (*progress)(Endpoint&)) noexcept {
  for (std::size_t i = 0; i < progress_count; ++i) {
    if (progress_functions[i] == progress) return;
  }
  if (progress_count == kMaxProgress) fatal(nullptr, "more than %zu progress functions", kMaxProgress);
  progress_functions[progress_count++] = progress;
}

void set_up(const Setup& setup) noexcept {
  if (setup.many_threads) endpoint_lock.share();
  Locked::own_.open(setup);
  open_stages(setup.stage_of);
}

void Endpoint::open(const Setup& setup) noexcept {
  // A later init of the process goes on where the former one ended: nothing changes, and the networks' progress thread
  // may be using the endpoint.
  if (shm_.is_open()) return;
  dispatch_ = new Dispatch(*this);
  replies_ = new ReplyQueue(setup.pending_max);
  unflushed_ = new nemesis::UnflushedPes;
  route_ = setup.route;
  if (route_ != nullptr) {
    net_ = &net_channel();
    net_->open(
        {.paths = {setup.networks, route_, setup.paths_of, static_cast<std::size_t>(setup.n_pes), setup.probe_ms},
         .dispatch = dispatch_,
         .unflushed = unflushed_,
         .lost = setup.lost,
         .least = setup.net_bypass ? transport::Urgency::now : transport::Urgency::gather});
    has_networks_ = !setup.networks.empty();
  }
  shm_.open({.parts = setup.parts,
             .me = setup.me,
             .doorbells = setup.doorbells,
             .peers = make_table<nemesis::ShmPeer>(setup.n_pes),
             .box_sources = new std::vector<std::int32_t>,
             .cells_in_use = make_table<std::uint32_t>(setup.n_pes),
             .box_cells = new nemesis::BoxCells,
             .unflushed = unflushed_});
}

void Endpoint::close_networks(std::uint32_t patience_ms) noexcept {
  net_->close(patience_ms);
  has_networks_ = false;
}

// ---- sending ----

bool Endpoint::send_beside_box(OutgoingMessage message) noexcept {
  if (is_internode(message.pe)) return net_->try_send(message);
  if (message.bytes() > max_payload_bytes())
    fatal(nullptr, "a message of %zu bytes does not fit a cell, which holds %zu", message.bytes(), max_payload_bytes());
  const auto& [pe, handler, header, payload, lifetime, leave, counting] = message;
  // Requests whose replies find no room are kept at the target, so the room for cells limits those under way.
  if (traits_of(handler).is_done_at_once && (shm_.try_send_in_shared_cell(pe, handler, header, payload) ||
                                             shm_.try_send_behind_box(pe, handler, header, payload)))
    return true;
  const auto use = dispatch_->is_in_handler() ? nemesis::CellUse::reply : nemesis::CellUse::request;
  return shm_.try_send_in_cell(pe, handler, header, payload, use);
}

// A program that fills batches sends a stream: it looks in passing what has arrived, so that the progress thread need
// not. Rarely enough that a stream of messages of which few fill a batch does not feel the system call.
bool Endpoint::send_between_nodes(OutgoingMessage message) noexcept {
  if (!Gathering::gathers(message)) return net_->try_send(message);
  // Nobody may have polled while the program computed. Sent now, the message need not wait for the progress thread.
  if (net_->gathering().may_have_become_idle(message.pe)) poll_in_passing();
  const std::uint32_t filled = net_->counts().filled;
  if (!net_->try_send(message)) return false;
  if (net_->counts().filled != filled && net_->counts().filled % kFilledPerPoll == 0) poll_in_passing();
  return true;
}

bool Endpoint::try_reply(const OutgoingMessage& reply) noexcept {
  return replies_->send(reply, [this](const OutgoingMessage& next) { return try_send(next); });
}

void Endpoint::reply(const OutgoingMessage& reply) noexcept {
  if (try_reply(reply)) return;
  fatal(nullptr, "handlers have left more than %zu bytes unsent, allowed are %zu (SHMEMX_PENDING_MAX)",
        replies_->bytes(), replies_->limit_bytes());
}

// Kept replies may use the cells that are reserved for handlers.
bool Endpoint::send_kept_replies() noexcept {
  return dispatch_->as_handler(
      [this] { return replies_->send_kept([this](const OutgoingMessage& next) { return try_send(next); }); });
}

void Endpoint::flush_gathered() noexcept {
  if (has_networks_) net_->gathering().flush();
}

// ---- receiving ----

bool Endpoint::poll_box(int source) noexcept {
  return shm_.poll_box(source, [this](const nemesis::ShmMessage& message) { return dispatch_->deliver(message); });
}

bool Endpoint::poll_all(int expected, std::uint32_t polls) noexcept {
  if (!shm_.is_open()) return false;
  const auto deliver = [this](const nemesis::ShmMessage& message) { return dispatch_->deliver(message); };
  const bool looks_everywhere = polls % kPollsOfExpected == 0;
  bool any = expected >= 0 ? poll_box(expected) : shm_.poll_boxes(deliver);
  if (any && !looks_everywhere) return true;
  any |= shm_.poll_queue(deliver);
  if (expected >= 0 && looks_everywhere) any |= shm_.poll_boxes(deliver);
  if (dispatch_->has_deferred()) any |= dispatch_->run_deferred([this](nemesis::Cell* cell) { shm_.give_back(cell); });
  if (has_networks_) any |= poll_networks(expected, polls);
  if (!replies_->is_empty()) any |= send_kept_replies();
  return run_progress() || any;
}

bool Endpoint::run_progress() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < progress_count && !dispatch_->is_resting(); ++i) any |= progress_functions[i](*this);
  return any;
}

bool Endpoint::poll_in_passing() noexcept {
  if (net_ == nullptr) return poll();
  net_->set_waiting(false);
  const bool any = poll();
  net_->set_waiting(true);
  return any;
}

bool Endpoint::poll_networks(int expected, std::uint32_t polls) noexcept {
  const bool internode = expected >= 0 && is_internode(expected);
  if (expected >= 0 && !internode && polls % kPollsOfNetworks != 0) return false;
  return net_->poll(internode ? expected : -1, polls);
}

bool Endpoint::arm() noexcept {
  const bool has_sent = !replies_->is_empty() && send_kept_replies();
  const bool has_progressed = run_progress();
  return !has_sent && !has_progressed && !shm_.has_messages() && !dispatch_->has_deferred();
}

// ---- flush ----

std::size_t Endpoint::unflushed_count() noexcept {
  if (has_networks_) net_->gathering().send_batches();  // so that their PEs are in the list
  return unflushed_->size();
}

void Endpoint::drop_flushed() noexcept {
  unflushed_->drop([this](int pe) { return is_internode(pe) ? net_->drop_if_flushed(pe) : shm_.drop_if_flushed(pe); });
}

// ---- for all threads ----

std::size_t max_payload_bytes() noexcept { return own_endpoint().max_payload_bytes(); }

bool is_quiet_for_sleep(bool leaves_batches) noexcept {
  const TryLocked endpoint;
  return endpoint && (endpoint->net() == nullptr || endpoint->net()->arm(leaves_batches));
}

bool send_old_batches() noexcept {
  if (!has_networks()) return false;
  const TryLocked endpoint;
  return endpoint && endpoint->net()->gathering().send_old(now_ns());
}

std::vector<int> network_descriptors() {
  const Locked endpoint;
  return endpoint->has_networks() ? endpoint->net()->descriptors() : std::vector<int>{};
}

}  // namespace shmemx::am
