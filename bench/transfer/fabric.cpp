// Put and get through libfabric to a peer of the same node, over its shared-memory provider. If that one does not
// start, over TCP on the loopback address. FI_PROVIDER in the environment overrides this.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <cstdlib>
#include <cstring>

#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

void require(long code, const char* what) {
  if (code != 0) throw Unavailable(std::string(what) + ": " + fi_strerror(static_cast<int>(-code)));
}

template <class Object>
void close_object(Object*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

struct RemoteMemory {
  std::uint64_t address;
  std::uint64_t key;
};

class Fabric final : public Mechanism {
 public:
  Fabric(Link& link, bool put) : Mechanism(link), put_(put) {}
  ~Fabric() override { release(); }

  void init() override {
    find_provider();
    open_endpoint();
    connect();
  }

  // The first operation connects the two processes and counts as set-up.
  void register_mem(const Region& mine) override {
    mine_ = mine;
    constexpr std::uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    require(fi_mr_reg(domain_, mine.base, mine.bytes, kAccess, 0, ++keys_, 0, &memory_, nullptr), "fi_mr_reg");
    if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
      require(fi_mr_bind(memory_, &endpoint_->fid, 0), "fi_mr_bind");
      require(fi_mr_enable(memory_), "fi_mr_enable");
    }
    const bool virtual_addresses = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    const std::uint64_t base = virtual_addresses ? reinterpret_cast<std::uint64_t>(mine.base) : 0;
    theirs_ = link_.exchange(RemoteMemory{base, fi_mr_key(memory_)});
    if (link_.local()) {
      const std::byte first = mine.base[0];
      get(mine.base, theirs_.address, 1);
      mine.base[0] = first;
    }
    link_.barrier([this] { progress(); });
  }

  void copy_local(const Transfer& transfer) override {
    if (put_)
      put(mine_.base + transfer.source, theirs_.address + transfer.dest, transfer.bytes);
    else
      get(mine_.base + transfer.dest, theirs_.address + transfer.source, transfer.bytes);
  }
  // Software providers serve their peers only inside calls.
  void copy_remote(const Transfer&) override {
    link_.wait([this] { return link_.is_done(); }, [this] { progress(); });
  }

  void deregister_mem() override {
    link_.barrier([this] { progress(); });
    close_object(memory_);
  }
  void finalize() override {
    link_.barrier([this] { progress(); });
    release();
  }

 private:
  void find_provider() {
    setenv("FI_PROVIDER", "shm,tcp,ofi_rxm", 0);  // others install signal handlers or search for a long time
    int code = -FI_ENODATA;
    for (const char* name : {"shm", "tcp;ofi_rxm", static_cast<const char*>(nullptr)}) {
      fi_info* hints = fi_allocinfo();
      hints->caps = FI_RMA;
      hints->mode = FI_CONTEXT | FI_CONTEXT2;
      hints->ep_attr->type = FI_EP_RDM;
      hints->domain_attr->threading = FI_THREAD_DOMAIN;
      hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
      if (name != nullptr) hints->fabric_attr->prov_name = strdup(name);
      const bool loopback = name != nullptr && std::strncmp(name, "tcp", 3) == 0;
      code = fi_getinfo(FI_VERSION(1, 14), loopback ? "127.0.0.1" : nullptr, nullptr, loopback ? FI_SOURCE : 0, hints,
                        &info_);
      fi_freeinfo(hints);
      if (code == 0) return;
    }
    require(code, "fi_getinfo");
  }

  void open_endpoint() {
    require(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    require(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
    fi_av_attr addresses{};
    addresses.type = info_->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_MAP : info_->domain_attr->av_type;
    require(fi_av_open(domain_, &addresses, &addresses_, nullptr), "fi_av_open");
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.wait_obj = FI_WAIT_NONE;
    require(fi_cq_open(domain_, &queue, &completions_, nullptr), "fi_cq_open");
    require(fi_endpoint(domain_, info_, &endpoint_, nullptr), "fi_endpoint");
    require(fi_ep_bind(endpoint_, &addresses_->fid, 0), "fi_ep_bind");
    require(fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    require(fi_enable(endpoint_), "fi_enable");
  }

  void connect() {
    std::byte name[256];
    std::size_t bytes = sizeof name;
    require(fi_getname(&endpoint_->fid, name, &bytes), "fi_getname");
    const std::vector<std::byte> address = link_.exchange({name, bytes});
    if (fi_av_insert(addresses_, address.data(), 1, &peer_, 0, nullptr) != 1) throw Unavailable("fi_av_insert");
  }

  void put(std::byte* from, std::uint64_t to, std::size_t bytes) {
    iovec own{from, bytes};
    fi_rma_iov other{to, bytes, theirs_.key};
    void* descriptor = fi_mr_desc(memory_);
    fi_msg_rma message{};
    message.msg_iov = &own;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = peer_;
    message.rma_iov = &other;
    message.rma_iov_count = 1;
    message.context = &context_;
    // Without FI_DELIVERY_COMPLETE a put is complete at the initiator, not at the target.
    post([&] { return fi_writemsg(endpoint_, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE); }, "fi_writemsg");
  }
  void get(std::byte* to, std::uint64_t from, std::size_t bytes) {
    void* descriptor = fi_mr_desc(memory_);
    post([&] { return fi_read(endpoint_, to, bytes, descriptor, peer_, from, theirs_.key, &context_); }, "fi_read");
  }

  template <class Operation>
  void post(Operation operation, const char* what) {
    ssize_t code = 0;
    link_.wait([&] { return (code = operation()) != -FI_EAGAIN; }, [this] { progress(); });
    require(code, what);
    link_.wait([this] { return completed_; }, [this] { progress(); });
    completed_ = false;
  }

  void progress() {
    fi_cq_entry entry{};
    const ssize_t got = fi_cq_read(completions_, &entry, 1);
    if (got == 1) completed_ = true;
    if (got != -FI_EAVAIL) return;
    fi_cq_err_entry error{};
    fi_cq_readerr(completions_, &error, 0);
    throw Unavailable(std::string("libfabric completion: ") + fi_strerror(error.err));
  }

  void release() {
    close_object(memory_);
    close_object(endpoint_);
    close_object(completions_);
    close_object(addresses_);
    close_object(domain_);
    close_object(fabric_);
    if (info_ != nullptr) fi_freeinfo(info_);
    info_ = nullptr;
  }

  bool put_;
  bool completed_ = false;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* memory_ = nullptr;
  fi_context2 context_{};
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  RemoteMemory theirs_{};
  std::uint64_t keys_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> make_fabric_get(Link& link, std::size_t) { return std::make_unique<Fabric>(link, false); }
std::unique_ptr<Mechanism> make_fabric_put(Link& link, std::size_t) { return std::make_unique<Fabric>(link, true); }

}  // namespace shmemx::bench
