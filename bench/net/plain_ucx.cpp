// The loops of cases.hpp through UCX alone: active messages, and its own put, get and atomics.
#include <ucp/api/ucp.h>

#include <deque>

#include "plain_loops.hpp"

namespace {
using namespace shmemx::bench;

constexpr unsigned kMessageId = 1;

void require(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, ucs_status_string(status));
  std::exit(2);
}

class Ucx {
 public:
  explicit Ucx(Work& work) : work_(work) {
    create_worker();
    connect();
    exchange_keys();
  }

  void send(const std::byte* source, std::size_t bytes) {
    ucp_request_param_t parameters{};
    track(ucp_am_send_nbx(endpoint_, kMessageId, nullptr, 0, source, bytes, &parameters), "ucp_am_send_nbx");
  }
  void finish_sends() { complete_all(); }
  void expect(long, std::size_t) {}  // the handler takes every message
  void receive() {
    ++taken_;
    while (arrived_ < taken_) progress();
  }

  void put(std::size_t bytes) { put_at(work_.source, their_dest_, bytes); }
  void put_word(long k) {
    const auto offset = static_cast<std::size_t>(k) * kWordBytes;
    put_at(work_.source + offset, their_dest_ + offset, kWordBytes);
  }
  void get(std::size_t bytes) {
    ucp_request_param_t parameters{};
    track(ucp_get_nbx(endpoint_, work_.dest, bytes, their_source_, source_key_, &parameters), "ucp_get_nbx");
  }
  void fetch_add() {
    static std::uint64_t one = 1, before = 0;
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    parameters.datatype = ucp_dt_make_contig(sizeof one);
    parameters.reply_buffer = &before;
    track(ucp_atomic_op_nbx(endpoint_, UCP_ATOMIC_OP_ADD, &one, 1, their_source_, source_key_, &parameters),
          "ucp_atomic_op_nbx");
    complete_all();
  }
  void finish() {
    ucp_request_param_t parameters{};
    track(ucp_ep_flush_nbx(endpoint_, &parameters), "ucp_ep_flush_nbx");
    complete_all();
  }
  void progress() { ucp_worker_progress(worker_); }

 private:
  static constexpr std::size_t kMostOpen = 1024;

  void create_worker() {
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
    parameters.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_AMO64;
    ucp_config_t* config = nullptr;
    require(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    require(ucp_init(&parameters, config, &context_), "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t worker{};
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    require(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = kMessageId;
    handler.cb = take;
    handler.arg = this;
    require(ucp_worker_set_am_recv_handler(worker_, &handler), "ucp_worker_set_am_recv_handler");
  }

  void connect() {
    ucp_address_t* own = nullptr;
    std::size_t bytes = 0;
    require(ucp_worker_get_address(worker_, &own, &bytes), "ucp_worker_get_address");
    const auto theirs = work_.job->exchange({reinterpret_cast<const std::byte*>(own), bytes});
    ucp_worker_release_address(worker_, own);
    ucp_ep_params_t parameters{};
    parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    parameters.address = reinterpret_cast<const ucp_address_t*>(theirs.data());
    require(ucp_ep_create(worker_, &parameters, &endpoint_), "ucp_ep_create");
  }

  void exchange_keys() {
    their_source_ = exchange_address(work_.source);
    source_key_ = exchange_key(work_.source);
    their_dest_ = exchange_address(work_.dest);
    dest_key_ = exchange_key(work_.dest);
  }
  std::uint64_t exchange_address(std::byte* base) {
    const auto theirs = work_.job->exchange(std::as_bytes(std::span(&base, 1)));
    std::uint64_t address = 0;
    std::memcpy(&address, theirs.data(), sizeof address);
    return address;
  }
  ucp_rkey_h exchange_key(std::byte* base) {
    ucp_mem_map_params_t parameters{};
    parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    parameters.address = base;
    parameters.length = kLargestBytes;
    ucp_mem_h memory = nullptr;
    require(ucp_mem_map(context_, &parameters, &memory), "ucp_mem_map");
    void* packed = nullptr;
    std::size_t bytes = 0;
    require(ucp_rkey_pack(context_, memory, &packed, &bytes), "ucp_rkey_pack");
    const auto theirs = work_.job->exchange({static_cast<const std::byte*>(packed), bytes});
    ucp_rkey_buffer_release(packed);
    ucp_rkey_h key = nullptr;
    require(ucp_ep_rkey_unpack(endpoint_, theirs.data(), &key), "ucp_ep_rkey_unpack");
    return key;
  }

  void put_at(const std::byte* source, std::uint64_t dest, std::size_t bytes) {
    ucp_request_param_t parameters{};
    track(ucp_put_nbx(endpoint_, source, bytes, dest, dest_key_, &parameters), "ucp_put_nbx");
  }

  void track(ucs_status_ptr_t request, const char* what) {
    if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), what);
    if (request == nullptr) return;
    open_.push_back(request);
    if (open_.size() > kMostOpen) complete_all();
  }
  void complete_all() {
    for (; !open_.empty(); open_.pop_front()) {
      while (ucp_request_check_status(open_.front()) == UCS_INPROGRESS) progress();
      ucp_request_free(open_.front());
    }
  }

  // Short messages carry their data, long ones are fetched to their place.
  static ucs_status_t take(void* self, const void*, std::size_t, void* data, std::size_t bytes,
                           const ucp_am_recv_param_t* how) {
    Ucx& ucx = *static_cast<Ucx*>(self);
    if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
      std::memcpy(ucx.work_.dest, data, bytes);
      ++ucx.arrived_;
      return UCS_OK;
    }
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    parameters.user_data = &ucx;
    parameters.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* user) {
      require(status, "ucp_am_recv_data_nbx");
      ++static_cast<Ucx*>(user)->arrived_;
      ucp_request_free(request);
    };
    const ucs_status_ptr_t request = ucp_am_recv_data_nbx(ucx.worker_, data, ucx.work_.dest, bytes, &parameters);
    if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), "ucp_am_recv_data_nbx");
    if (request == nullptr) ++ucx.arrived_;
    return UCS_INPROGRESS;
  }

  Work& work_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h source_key_ = nullptr;
  ucp_rkey_h dest_key_ = nullptr;
  std::uint64_t their_source_ = 0;
  std::uint64_t their_dest_ = 0;
  long arrived_ = 0;
  long taken_ = 0;
  std::deque<ucs_status_ptr_t> open_;
};

}  // namespace

int main(int argc, char** argv) { return PlainLoops<Ucx>::main(argc, argv); }
