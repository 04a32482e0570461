// Put and get through UCX to a peer of the same node: registered memory, an endpoint, and the transports that UCX
// selects (UCX_TLS in the environment restricts them).
#include <ucp/api/ucp.h>

#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw Unavailable(std::string(what) + ": " + ucs_status_string(status));
}

class Ucx final : public Mechanism {
 public:
  Ucx(Link& link, bool put) : Mechanism(link), put_(put) {}
  ~Ucx() override { release(); }

  void init() override {
    create_worker();
    connect();
  }

  // The first operation makes UCX connect the two processes and counts as set-up.
  void register_mem(const Region& mine) override {
    mine_ = mine;
    ucp_mem_map_params_t parameters{};
    parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    parameters.address = mine.base;
    parameters.length = mine.bytes;
    require(ucp_mem_map(context_, &parameters, &memory_), "ucp_mem_map");
    theirs_ = link_.exchange(reinterpret_cast<std::uint64_t>(mine.base));
    exchange_keys();
    if (link_.local()) {
      const std::byte first = mine.base[0];
      get(mine.base, theirs_, 1);
      mine.base[0] = first;
    }
    link_.barrier([this] { progress(); });
  }

  void copy_local(const Transfer& transfer) override {
    if (put_)
      put(mine_.base + transfer.source, theirs_ + transfer.dest, transfer.bytes);
    else
      get(mine_.base + transfer.dest, theirs_ + transfer.source, transfer.bytes);
  }
  // If no transport has RMA, UCX sends messages that the target must serve.
  void copy_remote(const Transfer&) override {
    link_.wait([this] { return link_.is_done(); }, [this] { progress(); });
  }

  void deregister_mem() override {
    link_.barrier([this] { progress(); });
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
    key_ = nullptr;
    memory_ = nullptr;
  }
  void finalize() override {
    link_.barrier([this] { progress(); });
    release();
  }

 private:
  void create_worker() {
    ucp_config_t* config = nullptr;
    require(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
    parameters.features = UCP_FEATURE_RMA;
    const ucs_status_t status = ucp_init(&parameters, config, &context_);
    ucp_config_release(config);
    require(status, "ucp_init");
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    require(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  }

  void connect() {
    ucp_address_t* own = nullptr;
    std::size_t bytes = 0;
    require(ucp_worker_get_address(worker_, &own, &bytes), "ucp_worker_get_address");
    const std::vector<std::byte> address = link_.exchange({reinterpret_cast<const std::byte*>(own), bytes});
    ucp_worker_release_address(worker_, own);
    ucp_ep_params_t parameters{};
    parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
    require(ucp_ep_create(worker_, &parameters, &endpoint_), "ucp_ep_create");
  }

  void exchange_keys() {
    void* packed = nullptr;
    std::size_t bytes = 0;
    require(ucp_rkey_pack(context_, memory_, &packed, &bytes), "ucp_rkey_pack");
    const std::vector<std::byte> key = link_.exchange({static_cast<const std::byte*>(packed), bytes});
    ucp_rkey_buffer_release(packed);
    require(ucp_ep_rkey_unpack(endpoint_, key.data(), &key_), "ucp_ep_rkey_unpack");
  }

  void put(const std::byte* from, std::uint64_t to, std::size_t bytes) {
    ucp_request_param_t parameters{};
    complete(ucp_put_nbx(endpoint_, from, bytes, to, key_, &parameters), "ucp_put_nbx");
    complete(ucp_ep_flush_nbx(endpoint_, &parameters),
             "ucp_ep_flush_nbx");  // a completed put is complete at the initiator only
  }
  void get(std::byte* to, std::uint64_t from, std::size_t bytes) {
    ucp_request_param_t parameters{};
    complete(ucp_get_nbx(endpoint_, to, bytes, from, key_, &parameters), "ucp_get_nbx");
  }

  void complete(ucs_status_ptr_t request, const char* what) {
    if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), what);
    if (request == nullptr) return;
    ucs_status_t status = UCS_INPROGRESS;
    link_.wait([&] { return (status = ucp_request_check_status(request)) != UCS_INPROGRESS; }, [this] { progress(); });
    ucp_request_free(request);
    require(status, what);
  }
  void progress() { ucp_worker_progress(worker_); }

  void release() {
    if (endpoint_ != nullptr) {
      ucp_request_param_t parameters{};
      parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
      const ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint_, &parameters);
      if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) progress();
        ucp_request_free(request);
      }
    }
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
    endpoint_ = nullptr;
    worker_ = nullptr;
    context_ = nullptr;
  }

  bool put_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_mem_h memory_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t theirs_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> make_ucx_get(Link& link, std::size_t) { return std::make_unique<Ucx>(link, false); }
std::unique_ptr<Mechanism> make_ucx_put(Link& link, std::size_t) { return std::make_unique<Ucx>(link, true); }

}  // namespace shmemx::bench
