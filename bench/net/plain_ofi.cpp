// The loops of cases.hpp through libfabric alone: messages, and its own write and read. Uses the first provider for
// TCP that starts; BENCH_OFI_PROVIDER names another one. BENCH_OFI_COMPLETION=transmit: a put is complete when the
// provider says so, and not only when the target has it.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "plain_loops.hpp"

namespace {
using namespace shmemx::bench;

void require(long code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, fi_strerror(static_cast<int>(-code)));
  std::exit(2);
}

struct RemoteMemory {
  std::uint64_t address;
  std::uint64_t key;
};

class Ofi {
 public:
  explicit Ofi(Work& work) : work_(work) {
    find_provider();
    open_endpoint();
    connect();
    their_source_ = exchange_memory(work.source, source_memory_);
    their_dest_ = exchange_memory(work.dest, dest_memory_);
  }

  void send(std::byte* source, std::size_t bytes) {
    while (sends_open_ >= kMostOpen) progress();
    post([&] { return fi_send(endpoint_, source, bytes, fi_mr_desc(source_memory_), peer_, &contexts_[0]); },
         "fi_send");
    ++sends_open_;
  }
  void finish_sends() {
    while (sends_open_ > 0) progress();
  }
  void expect(long count, std::size_t bytes) {
    expected_ = count;
    expected_bytes_ = bytes;
    for (long i = 0; i < kPosted; ++i) post_receive();
  }
  void receive() {
    while (arrived_ == 0) progress();
    --arrived_;
    post_receive();
  }

  void put(std::size_t bytes) { put_at(work_.source, 0, bytes); }
  void put_word(long k) {
    const auto offset = static_cast<std::size_t>(k) * kWordBytes;
    put_at(work_.source + offset, offset, kWordBytes);
  }
  void get(std::size_t bytes) {
    post(
        [&] {
          return fi_read(endpoint_, work_.dest, bytes, fi_mr_desc(dest_memory_), peer_, their_source_.address,
                         their_source_.key, &contexts_[2]);
        },
        "fi_read");
    ++transfers_open_;
  }
  // The round trip of an atomic; not all of these providers have atomics.
  void fetch_add() {
    get(kWordBytes);
    finish();
  }
  void finish() {
    while (transfers_open_ > 0) progress();
  }

  void progress() {
    fi_cq_entry entries[16];
    const ssize_t got = fi_cq_read(completions_, entries, std::size(entries));
    for (ssize_t i = 0; i < got; ++i) count(entries[i].op_context);
    if (got != -FI_EAVAIL) return;
    fi_cq_err_entry error{};
    fi_cq_readerr(completions_, &error, 0);
    require(-error.err, "libfabric completion");
  }

 private:
  static constexpr long kPosted = 64;
  static constexpr long kMostOpen = 256;

  void count(const void* context) {
    if (context == &contexts_[0]) --sends_open_;
    if (context == &contexts_[1]) ++arrived_;
    if (context == &contexts_[2]) --transfers_open_;
  }

  void find_provider() {
    setenv("FI_PROVIDER", "net,tcp,ofi_rxm", 0);  // others install signal handlers or search for a long time
    const char* chosen = std::getenv("BENCH_OFI_PROVIDER");
    int code = -FI_ENODATA;
    for (const char* name : {chosen, "net", "tcp", "tcp;ofi_rxm"}) {
      if (name == nullptr) continue;
      fi_info* hints = fi_allocinfo();
      hints->caps = FI_MSG | FI_RMA;
      hints->mode = 0;  // one context serves many operations
      hints->ep_attr->type = FI_EP_RDM;
      if (chosen == nullptr) hints->addr_format = FI_SOCKADDR_IN;
      hints->domain_attr->threading = FI_THREAD_DOMAIN;
      hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
      hints->fabric_attr->prov_name = strdup(name);
      code = fi_getinfo(FI_VERSION(1, 14), nullptr, nullptr, 0, hints, &info_);
      fi_freeinfo(hints);
      if (code == 0) return;
    }
    require(code, "fi_getinfo");
  }

  void open_endpoint() {
    require(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    // Only then shm copies by the kernel, at once.
    if (std::strcmp(info_->fabric_attr->prov_name, "shm") == 0) info_->domain_attr->mr_mode |= FI_MR_VIRT_ADDR;
    require(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
    fi_av_attr addresses{};
    addresses.type = info_->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_MAP : info_->domain_attr->av_type;
    require(fi_av_open(domain_, &addresses, &addresses_, nullptr), "fi_av_open");
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.wait_obj = FI_WAIT_NONE;
    queue.size = 4096;
    require(fi_cq_open(domain_, &queue, &completions_, nullptr), "fi_cq_open");
    require(fi_endpoint(domain_, info_, &endpoint_, nullptr), "fi_endpoint");
    require(fi_ep_bind(endpoint_, &addresses_->fid, 0), "fi_ep_bind");
    require(fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    require(fi_enable(endpoint_), "fi_enable");
    static fid_ep* const opened = endpoint_;
    std::atexit([] { fi_close(&opened->fid); });  // shm has a file
  }

  void connect() {
    std::byte name[256];
    std::size_t bytes = sizeof name;
    require(fi_getname(&endpoint_->fid, name, &bytes), "fi_getname");
    const auto theirs = work_.job->exchange({name, bytes});
    if (fi_av_insert(addresses_, theirs.data(), 1, &peer_, 0, nullptr) != 1) die("fi_av_insert");
  }

  RemoteMemory exchange_memory(std::byte* base, fid_mr*& memory) {
    constexpr std::uint64_t kAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    require(fi_mr_reg(domain_, base, kLargestBytes, kAccess, 0, ++keys_, 0, &memory, nullptr), "fi_mr_reg");
    const bool virtual_addresses = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    const RemoteMemory mine{virtual_addresses ? reinterpret_cast<std::uint64_t>(base) : 0, fi_mr_key(memory)};
    const auto theirs = work_.job->exchange(std::as_bytes(std::span(&mine, 1)));
    RemoteMemory other{};
    std::memcpy(&other, theirs.data(), sizeof other);
    return other;
  }

  // Without FI_DELIVERY_COMPLETE a put is complete at the initiator, and not always at the target.
  void put_at(std::byte* source, std::uint64_t offset, std::size_t bytes) {
    iovec own{source, bytes};
    fi_rma_iov other{their_dest_.address + offset, bytes, their_dest_.key};
    void* descriptor = fi_mr_desc(source_memory_);
    fi_msg_rma message{};
    message.msg_iov = &own;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = peer_;
    message.rma_iov = &other;
    message.rma_iov_count = 1;
    message.context = &contexts_[2];
    while (transfers_open_ >= kMostOpen) progress();
    post([&] { return fi_writemsg(endpoint_, &message, put_flags_); }, "fi_writemsg");
    ++transfers_open_;
  }

  void post_receive() {
    if (expected_ == 0) return;
    --expected_;
    post(
        [&] { return fi_recv(endpoint_, work_.dest, expected_bytes_, fi_mr_desc(dest_memory_), peer_, &contexts_[1]); },
        "fi_recv");
  }

  template <class Operation>
  void post(Operation operation, const char* what) {
    ssize_t code = 0;
    while ((code = operation()) == -FI_EAGAIN) progress();
    require(code, what);
  }

  static std::uint64_t put_flags() {
    const char* level = std::getenv("BENCH_OFI_COMPLETION");
    const bool at_target = level == nullptr || std::strcmp(level, "transmit") != 0;
    return at_target ? FI_COMPLETION | FI_DELIVERY_COMPLETE : FI_COMPLETION;
  }

  Work& work_;
  const std::uint64_t put_flags_ = put_flags();
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* source_memory_ = nullptr;
  fid_mr* dest_memory_ = nullptr;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  RemoteMemory their_source_{};
  RemoteMemory their_dest_{};
  std::uint64_t keys_ = 0;
  fi_context2 contexts_[3] = {};  // of sends, of receives, of transfers
  long expected_ = 0;             // receives that are still to be posted
  std::size_t expected_bytes_ = 0;
  long arrived_ = 0;
  long sends_open_ = 0;
  long transfers_open_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return PlainLoops<Ofi>::main(argc, argv); }
