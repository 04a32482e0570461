#include "cq.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "domain.hpp"
#include "endpoint.hpp"
#include "no_ops.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

Cq& cq_of(fid_cq* cq) noexcept { return *static_cast<Cq*>(cq); }

std::size_t entry_bytes(fi_cq_format format) noexcept {
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
      return sizeof(fi_cq_tagged_entry);
    default:
      return sizeof(fi_cq_entry);
  }
}

// Each format is the beginning of the next one, and of an error entry.
static_assert(offsetof(fi_cq_err_entry, tag) == offsetof(fi_cq_tagged_entry, tag));

ssize_t read_from(fid_cq* object, void* buffer, std::size_t count, fi_addr_t* sources) {
  Cq& cq = cq_of(object);
  const Entry entry("fi_cq_read", cq.domain.serial_of_queue(cq.serial), cq.lock);
  cq.progress();
  const std::size_t bytes = entry_bytes(cq.format);
  std::size_t read = 0;
  while (read < count && !cq.entries.empty() && cq.entries.front().entry.err == 0) {
    const Completion& next = cq.entries.front();
    std::memcpy(static_cast<std::byte*>(buffer) + read * bytes, &next.entry, bytes);
    if (sources != nullptr) sources[read] = next.source;
    cq.entries.pop_front();
    ++read;
  }
  if (read != 0) return static_cast<ssize_t>(read);
  return cq.entries.empty() || count == 0 ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t read_plain(fid_cq* object, void* buffer, std::size_t count) {
  return read_from(object, buffer, count, nullptr);
}

ssize_t read_error(fid_cq* object, fi_cq_err_entry* buffer, std::uint64_t) {
  Cq& cq = cq_of(object);
  const Entry entry("fi_cq_readerr", cq.domain.serial_of_queue(cq.serial), cq.lock);
  const auto found = std::ranges::find_if(cq.entries, [](const Completion& next) { return next.entry.err != 0; });
  if (found == cq.entries.end()) return -FI_EAGAIN;
  *buffer = found->entry;
  cq.entries.erase(found);
  return 1;
}

ssize_t wait_from(fid_cq* object, void* buffer, std::size_t count, fi_addr_t* sources, const void*, int timeout) {
  Cq& cq = cq_of(object);
  if (cq.pipe[0] < 0) return -FI_ENOSYS;
  while (true) {
    const ssize_t read = read_from(object, buffer, count, sources);
    if (read != -FI_EAGAIN) return read;
    if (try_wait(cq) != 0) continue;
    pollfd descriptor{cq.pipe[0], POLLIN, 0};
    if (::poll(&descriptor, 1, timeout) == 0) return -FI_EAGAIN;
  }
}

ssize_t wait_plain(fid_cq* object, void* buffer, std::size_t count, const void* condition, int timeout) {
  return wait_from(object, buffer, count, nullptr, condition, timeout);
}

int signal_sleeper(fid_cq* object) {
  [[maybe_unused]] const ssize_t written = ::write(cq_of(object).pipe[1], "", 1);
  return 0;
}

const char* describe(fid_cq*, int error, const void*, char* text, std::size_t bytes) {
  const char* words = std::strerror(error);
  if (text != nullptr && bytes != 0) {
    std::strncpy(text, words, bytes - 1);
    text[bytes - 1] = '\0';
  }
  return words;
}

int close_cq(fid* object) {
  Cq& cq = cq_of(reinterpret_cast<fid_cq*>(object));
  Domain& domain = cq.domain;
  const Entry entry("fi_close", domain.serial_of_domain(), domain.lock);
  if (const std::size_t bound = cq.senders.size() + cq.receivers.size(); bound != 0)
    violation("fi_close: endpoints of the completion queue are open");
  --domain.children;
  delete &cq;
  return 0;
}

int control_cq(fid* object, int command, void* argument) {
  Cq& cq = cq_of(reinterpret_cast<fid_cq*>(object));
  if (command != FI_GETWAIT || cq.pipe[0] < 0 || cq.set != nullptr) return -FI_ENOSYS;
  *static_cast<int*>(argument) = cq.pipe[0];
  return 0;
}

fi_ops cq_fid_ops = {sizeof(fi_ops), close_cq, kNo, control_cq, kNo, kNo, kNo};
fi_ops_cq cq_ops = {sizeof(fi_ops_cq), read_plain, read_from,      read_error,
                    wait_plain,        wait_from,  signal_sleeper, describe};

bool add_to_set(WaitSet& set, Cq& cq) {
  const std::unique_lock guard(set.lock);
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(set.epoll, EPOLL_CTL_ADD, cq.pipe[0], &event) != 0) return false;
  set.queues.push_back(&cq);
  cq.set = &set;
  return true;
}

}  // namespace

Cq::Cq(Domain& owner, const fi_cq_attr& attributes, void* user_context)
    : fid_cq{{FI_CLASS_CQ, user_context, &cq_fid_ops}, &cq_ops},
      domain(owner),
      format(attributes.format),
      size(attributes.size != 0 ? attributes.size : 1024) {}

Cq::~Cq() {
  if (set != nullptr) {
    const std::unique_lock guard(set->lock);
    std::erase(set->queues, this);
  }
  for (const int end : pipe) {
    if (end >= 0) ::close(end);
  }
}

void Cq::progress() {
  for (Endpoint* endpoint : senders) endpoint->transmitter->progress();
  for (Endpoint* endpoint : receivers) {
    if (pipe[0] >= 0 && endpoint->memory->is_armed.load(std::memory_order_relaxed) != 0) {
      endpoint->memory->is_armed.store(0);
      clear_wake();
    }
    endpoint->receiver->progress();
  }
}

void Cq::clear_wake() noexcept {
  char bytes[256];
  while (::read(pipe[0], bytes, sizeof bytes) == sizeof bytes) continue;
}

bool Cq::prepare_sleep() {
  clear_wake();
  for (Endpoint* endpoint : receivers) endpoint->memory->is_armed.store(1);
  const bool is_busy =
      std::ranges::any_of(senders, [](Endpoint* endpoint) { return endpoint->transmitter->is_busy(); });
  const bool has_messages =
      std::ranges::any_of(receivers, [](Endpoint* endpoint) { return endpoint->receiver->has_work(); });
  return entries.empty() && !is_busy && !has_messages;
}

int try_wait(Cq& cq) {
  const Entry entry("fi_trywait", cq.domain.serial_of_queue(cq.serial), cq.lock);
  if (cq.pipe[0] < 0) violation("fi_trywait: the completion queue has no wait object");
  return cq.prepare_sleep() ? 0 : -FI_EAGAIN;
}

int open_cq(fid_domain* object, fi_cq_attr* attributes, fid_cq** opened, void* context) {
  auto& domain = *static_cast<Domain*>(object);
  const Entry entry("fi_cq_open", domain.serial_of_domain(), domain.lock);
  const fi_wait_obj wanted = attributes->wait_obj;
  const bool sleeps = wanted != FI_WAIT_NONE;
  const Feature feature = wanted == FI_WAIT_SET ? kWaitSet : kWaitFd;
  if (sleeps && !domain.mode.has(feature)) return -FI_ENOSYS;
  if (wanted == FI_WAIT_MUTEX_COND || wanted == FI_WAIT_YIELD || wanted == FI_WAIT_POLLFD) return -FI_ENOSYS;
  auto* cq = new Cq(domain, *attributes, context);
  const bool is_open = !sleeps || ::pipe2(cq->pipe, O_CLOEXEC | O_NONBLOCK) == 0;
  if (!is_open || (wanted == FI_WAIT_SET && !add_to_set(*static_cast<WaitSet*>(attributes->wait_set), *cq))) {
    delete cq;
    return -FI_ENOMEM;
  }
  ++domain.children;
  *opened = cq;
  return 0;
}

}  // namespace strict_provider
