#include "ofi_strict_node.hpp"

#include <poll.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strict_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(20);
constexpr std::uint32_t kApiVersion = FI_VERSION(1, 14);

enum Command : std::uint64_t { kReceiveOne, kReceiveMany, kSleep, kWord, kQuit };

void require(std::int64_t result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s: %s\n", what, fi_strerror(static_cast<int>(-result)));
  std::_Exit(3);
}

// Receives messages at ascending places; returns whether their numbers ascend.
bool receive_in_order(Node& node, unsigned messages, bool for_many) {
  const std::size_t room = for_many ? kMemoryBytes : kMemoryBytes / 4;
  std::size_t before = 0;
  std::uint64_t expected = 0;
  node.receive(0, room, for_many ? FI_MULTI_RECV : 0);
  const auto end = Clock::now() + kPatience;
  while (expected < messages && Clock::now() < end) {
    node.progress();
    bool is_released = false;
    for (; before < node.completions.size(); ++before) {
      const fi_cq_data_entry& entry = node.completions[before];
      std::uint64_t number = ~std::uint64_t{0};
      if (entry.len != 0) std::memcpy(&number, entry.buf, sizeof number);
      if (entry.len != 0 && number != expected++) return false;
      is_released = is_released || !for_many || (entry.flags & FI_MULTI_RECV) != 0;
    }
    if (is_released && expected < messages) node.receive(0, room, for_many ? FI_MULTI_RECV : 0);
  }
  return expected == messages;
}

// Returns whether the queue's descriptor was unreadable at first, and has become readable. Writes to the socket when
// the next message may come.
bool sleep_until_woken(Node& node, int socket) {
  constexpr int kMostMs = 30'000;
  node.receive(0, 4096);
  node.progress();
  pollfd descriptor{-1, POLLIN, 0};
  fid* queue = &node.cq->fid;
  const bool may_sleep = fi_control(&node.cq->fid, FI_GETWAIT, &descriptor.fd) == 0 &&
                         fi_trywait(node.fabric, &queue, 1) == 0 && ::poll(&descriptor, 1, 0) == 0;
  const std::uint64_t is_ready = 1;
  if (::write(socket, &is_ready, sizeof is_ready) != sizeof is_ready) return false;
  return may_sleep && ::poll(&descriptor, 1, kMostMs) == 1 && node.wait_for(1);
}

[[noreturn]] void run_target(int socket, const Options& options) {
  {
    Node node(options);
    const Place place = node.place();
    if (::write(socket, &place, sizeof place) != sizeof place) std::_Exit(4);
    std::uint64_t words[2];
    while (::read(socket, words, sizeof words) == sizeof words && words[0] != kQuit) {
      std::uint64_t answer = 0;
      if (words[0] == kReceiveOne || words[0] == kReceiveMany)
        answer = receive_in_order(node, static_cast<unsigned>(words[1]), words[0] == kReceiveMany) ? 1 : 0;
      if (words[0] == kSleep) answer = sleep_until_woken(node, socket) ? 1 : 0;
      if (words[0] == kWord) std::memcpy(&answer, node.at(words[1]), sizeof answer);
      if (::write(socket, &answer, sizeof answer) != sizeof answer) break;
    }
  }
  std::_Exit(0);
}

}  // namespace

fi_info* get_info(const Options& options, std::uint64_t mode, int mr_mode) {
  ::setenv("SHMEMX_TEST_PROVIDER", options.mode, 1);
  ::setenv("SHMEMX_TEST_PROVIDER_SEED", std::to_string(options.seed).c_str(), 1);
  fi_info* hints = fi_allocinfo();
  hints->caps = options.caps;
  hints->mode = mode;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = mr_mode;
  hints->domain_attr->threading = options.threading;
  fi_info* info = nullptr;
  if (fi_getinfo(kApiVersion, nullptr, nullptr, 0, hints, &info) != 0) info = nullptr;
  fi_freeinfo(hints);
  return info;
}

Node::Node(const Options& options) {
  info = get_info(options, FI_CONTEXT | FI_CONTEXT2,
                  FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT);
  require(info != nullptr ? 0 : -FI_ENODATA, "fi_getinfo");
  require(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
  require(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
  fi_av_attr addresses{};
  addresses.type = info->domain_attr->av_type;
  require(fi_av_open(domain, &addresses, &av, nullptr), "fi_av_open");
  open_queue();
  require(fi_endpoint(domain, info, &ep, nullptr), "fi_endpoint");
  require(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
  require(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  if (options.is_enabled) require(fi_enable(ep), "fi_enable");
  memory = static_cast<std::byte*>(
      ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (options.is_enabled) register_memory(options.access);
}

void Node::open_queue() {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = FI_WAIT_FD;
  if (fi_cq_open(domain, &attributes, &cq, nullptr) == 0) return;
  attributes.wait_obj = FI_WAIT_NONE;
  require(fi_cq_open(domain, &attributes, &cq, nullptr), "fi_cq_open");
}

Node::~Node() {
  const bool is_bound = (info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
  if (is_bound) close_memory();
  fi_close(&ep->fid);
  if (!is_bound) close_memory();
  if ((info->domain_attr->mr_mode & FI_MR_RAW) != 0 && key != 0) fi_mr_unmap_key(domain, key);
  fi_close(&cq->fid);
  fi_close(&av->fid);
  fi_close(&domain->fid);
  fi_close(&fabric->fid);
  fi_freeinfo(info);
  ::munmap(memory, kMemoryBytes);
  for (fi_context2* context : contexts_) delete context;
}

void Node::register_memory(std::uint64_t access) {
  require(fi_mr_reg(domain, memory, kMemoryBytes, access, 0, 77, 0, &registration, nullptr), "fi_mr_reg");
  if ((info->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return;
  require(fi_mr_bind(registration, &ep->fid, 0), "fi_mr_bind");
  require(fi_mr_enable(registration), "fi_mr_enable");
}

void Node::close_memory() {
  if (registration != nullptr) fi_close(&registration->fid);
  registration = nullptr;
}

Place Node::place() const {
  Place place{};
  place.name_bytes = sizeof place.name;
  require(fi_getname(&ep->fid, place.name, &place.name_bytes), "fi_getname");
  if ((info->domain_attr->mr_mode & FI_MR_RAW) != 0) {
    place.key_bytes = sizeof place.key;
    require(fi_mr_raw_attr(registration, &place.base, place.key, &place.key_bytes, 0), "fi_mr_raw_attr");
    return place;
  }
  const std::uint64_t name = fi_mr_key(registration);
  place.key_bytes = sizeof name;
  std::memcpy(place.key, &name, sizeof name);
  if ((info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0) place.base = reinterpret_cast<std::uintptr_t>(memory);
  return place;
}

void Node::connect(const Place& other) {
  if (fi_av_insert(av, other.name, 1, &peer, 0, nullptr) != 1) require(-FI_EINVAL, "fi_av_insert");
  remote = other.base;
  std::memcpy(&key, other.key, sizeof key);
  if ((info->domain_attr->mr_mode & FI_MR_RAW) == 0) return;
  Place copy = other;
  require(fi_mr_map_raw(domain, other.base, copy.key, copy.key_bytes, &key, 0), "fi_mr_map_raw");
}

void* Node::context() { return contexts_.emplace_back(new fi_context2); }

void Node::progress() {
  fi_cq_data_entry entry;
  const ssize_t count = fi_cq_read(cq, &entry, 1);
  if (count == 1) completions.push_back(entry);
  if (count != -FI_EAVAIL) return;
  fi_cq_err_entry error{};
  if (fi_cq_readerr(cq, &error, 0) == 1) errors.push_back(error);
}

ssize_t Node::post(const std::function<ssize_t()>& call) {
  while (true) {
    const ssize_t result = call();
    if (result != -FI_EAGAIN) return result;
    ++refusals;
    progress();
  }
}

void Node::write(std::size_t from, std::size_t to, std::size_t bytes, std::uint64_t flags) {
  void* descriptors[] = {descriptor()};
  const iovec local{at(from), bytes};
  const fi_rma_iov target{remote + to, bytes, key};
  const fi_msg_rma message{&local, descriptors, 1, peer, &target, 1, context(), 0};
  require(post([&] { return fi_writemsg(ep, &message, FI_COMPLETION | flags); }), "fi_writemsg");
}

void Node::read(std::size_t to, std::size_t from, std::size_t bytes) {
  void* const mark = context();
  require(post([&] { return fi_read(ep, at(to), bytes, descriptor(), peer, remote + from, key, mark); }), "fi_read");
}

void Node::send(std::size_t from, std::size_t bytes) {
  void* const mark = context();
  require(post([&] { return fi_send(ep, at(from), bytes, descriptor(), peer, mark); }), "fi_send");
}

void Node::receive(std::size_t to, std::size_t bytes, std::uint64_t flags) {
  void* descriptors[] = {descriptor()};
  const iovec local{at(to), bytes};
  const fi_msg message{&local, descriptors, 1, FI_ADDR_UNSPEC, context(), 0};
  require(post([&] { return fi_recvmsg(ep, &message, FI_COMPLETION | flags); }), "fi_recvmsg");
}

bool Node::wait_for(std::size_t count) {
  const auto end = Clock::now() + kPatience;
  while (completions.size() + errors.size() < count && Clock::now() < end) progress();
  return completions.size() + errors.size() >= count;
}

Target::Target(const Options& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::signal(SIGABRT, SIG_DFL);
    ::close(ends[0]);
    run_target(ends[1], options);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  if (::read(socket_, &place_, sizeof place_) != sizeof place_) std::fprintf(stderr, "the target does not start\n");
}

Target::~Target() {
  std::uint64_t words[2] = {kQuit, 0};
  if (pid_ > 0 && ::send(socket_, words, sizeof words, MSG_NOSIGNAL) == sizeof words) ::waitpid(pid_, nullptr, 0);
  kill();
  ::close(socket_);
}

void Target::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool Target::request(Node* node, std::uint64_t command, std::uint64_t argument, std::uint64_t& answer) {
  const std::uint64_t words[2] = {command, argument};
  if (::send(socket_, words, sizeof words, MSG_NOSIGNAL) != sizeof words) return false;
  pollfd descriptor{socket_, POLLIN, 0};
  while (node != nullptr && ::poll(&descriptor, 1, 0) == 0) node->progress();
  return ::read(socket_, &answer, sizeof answer) == sizeof answer;
}

bool Target::receives(Node& node, unsigned messages, bool for_many) {
  std::uint64_t answer = 0;
  return request(&node, for_many ? kReceiveMany : kReceiveOne, messages, answer) && answer == 1;
}

bool Target::is_woken(Node& node) {
  const std::uint64_t words[2] = {kSleep, 0};
  if (::send(socket_, words, sizeof words, MSG_NOSIGNAL) != sizeof words) return false;
  std::uint64_t answer = 0;
  if (::read(socket_, &answer, sizeof answer) != sizeof answer) return false;  // it is about to sleep
  node.send(0, 8);
  pollfd descriptor{socket_, POLLIN, 0};
  while (::poll(&descriptor, 1, 0) == 0) node.progress();
  return ::read(socket_, &answer, sizeof answer) == sizeof answer && answer == 1;
}

std::uint64_t Target::word(std::size_t offset) {
  std::uint64_t answer = ~std::uint64_t{0};
  request(nullptr, kWord, offset, answer);
  return answer;
}

}  // namespace strict_test
