// Messages, active messages, tasks and other routines of shmemx.h that have no buffers in use after their return.
#include "races/extension.hpp"

#include <mutex>

#include "races/thread.hpp"

namespace shmemx::races {

void exchange_knowledge() noexcept {
  Thread* const thread = current_thread();
  if (thread == nullptr || thread->in_library != 0) return;
  constexpr std::uint64_t kBehindStatics = std::uint64_t{1} << 50;
  SyncWord& word = job.words().at(Symmetric{kMostPes, Window::statics, kBehindStatics}.key());
  {
    const std::lock_guard guard(word.lock);
    thread->acquire(word.clock());
    word.clock().join(*thread->clock, job.n_slots());
  }
  thread->advance();
}

namespace {

// A handler of the program begins with what the sender knew.
struct Handler {
  shmemx_task_handler_t function;
  void* argument;
};
constinit Handler task_handlers[SHMEMX_TASK_HANDLERS];
constinit Handler message_handlers[SHMEMX_AM_HANDLERS];

void run_handler(int source, const void* payload, std::size_t bytes, void* handler) {
  const Handler found = *static_cast<const Handler*>(handler);
  const Extension call;
  found.function(source, payload, bytes, found.argument);
}

// The library is given run_handler. It checks the number.
template <std::size_t N, class Real>
void register_handler(Handler (&handlers)[N], int id, const Handler& handler, Real real) noexcept {
  if (handler.function == nullptr || id < 0 || static_cast<std::size_t>(id) >= N)
    return real(id, handler.function, handler.argument);
  handlers[id] = handler;
  real(id, run_handler, &handlers[id]);
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the library's

extern "C" [[gnu::visibility("default")]] void shmemx_task_register(int id, shmemx_task_handler_t handler,
                                                                    void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&shmemx_task_register)>(next_definition(__func__));
  register_handler(task_handlers, id, {handler, argument}, real);
}
extern "C" [[gnu::visibility("default")]] void shmemx_am_register(int id, shmemx_am_handler_t handler,
                                                                  void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&shmemx_am_register)>(next_definition(__func__));
  register_handler(message_handlers, id, {handler, argument}, real);
}

SHMEMX_ORDERED(int, shmemx_send, (source_, bytes_, pe_, tag_), const void* source_, size_t bytes_, int pe_, int tag_)
SHMEMX_ORDERED(int, shmemx_ssend, (source_, bytes_, pe_, tag_), const void* source_, size_t bytes_, int pe_, int tag_)
SHMEMX_ORDERED(int, shmemx_recv, (dest_, bytes_, pe_, tag_, status_), void* dest_, size_t bytes_, int pe_, int tag_,
               shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_sendrecv,
               (source_, source_bytes_, dest_pe_, send_tag_, dest_, dest_bytes_, source_pe_, recv_tag_, status_),
               const void* source_, size_t source_bytes_, int dest_pe_, int send_tag_, void* dest_, size_t dest_bytes_,
               int source_pe_, int recv_tag_, shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_sendv, (list_, count_, pe_, tag_), const shmemx_iov_t* list_, size_t count_, int pe_,
               int tag_)
SHMEMX_ORDERED(int, shmemx_recvv, (list_, count_, pe_, tag_, status_), const shmemx_iov_t* list_, size_t count_,
               int pe_, int tag_, shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_isendv, (list_, count_, pe_, tag_, request_), const shmemx_iov_t* list_, size_t count_,
               int pe_, int tag_, shmemx_request_t* request_)
SHMEMX_ORDERED(int, shmemx_irecvv, (list_, count_, pe_, tag_, request_), const shmemx_iov_t* list_, size_t count_,
               int pe_, int tag_, shmemx_request_t* request_)
SHMEMX_ORDERED(int, shmemx_send_strided, (source_, block_bytes_, stride_bytes_, blocks_, pe_, tag_),
               const void* source_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_, int tag_)
SHMEMX_ORDERED(int, shmemx_recv_strided, (dest_, block_bytes_, stride_bytes_, blocks_, pe_, tag_, status_), void* dest_,
               size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_, int tag_,
               shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_isend_strided, (source_, block_bytes_, stride_bytes_, blocks_, pe_, tag_, request_),
               const void* source_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_, int tag_,
               shmemx_request_t* request_)
SHMEMX_ORDERED(int, shmemx_irecv_strided, (dest_, block_bytes_, stride_bytes_, blocks_, pe_, tag_, request_),
               void* dest_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_, int tag_,
               shmemx_request_t* request_)
SHMEMX_ORDERED(int, shmemx_probe, (pe_, tag_, status_), int pe_, int tag_, shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_iprobe, (pe_, tag_, flag_, status_), int pe_, int tag_, int* flag_, shmemx_status_t* status_)
SHMEMX_ORDERED(int, shmemx_barrier_nb, (team_, request_), shmem_team_t team_, shmemx_request_t* request_)
SHMEMX_ORDERED(int, shmemx_alltoallv,
               (team_, dest_, dest_bytes_, dest_counts_, dest_displs_, source_, source_counts_, source_displs_,
                received_),
               shmem_team_t team_, void* dest_, size_t dest_bytes_, const size_t* dest_counts_,
               const size_t* dest_displs_, const void* source_, const size_t* source_counts_,
               const size_t* source_displs_, size_t* received_)
SHMEMX_ORDERED(void, shmemx_am_send, (pe_, id_, payload_, bytes_), int pe_, int id_, const void* payload_,
               size_t bytes_)
SHMEMX_ORDERED(int, shmemx_am_poll, ())
SHMEMX_ORDERED(void, shmemx_am_quiet, ())
SHMEMX_ORDERED(void, shmemx_task_send, (pe_, id_, payload_, bytes_, priority_), int pe_, int id_, const void* payload_,
               size_t bytes_, int priority_)
SHMEMX_ORDERED(void, shmemx_task_multicast, (team_, id_, payload_, bytes_, priority_), shmem_team_t team_, int id_,
               const void* payload_, size_t bytes_, int priority_)
SHMEMX_ORDERED(void, shmemx_task_reply, (payload_, bytes_), const void* payload_, size_t bytes_)
SHMEMX_ORDERED(size_t, shmemx_scheduler_poll, (most_), size_t most_)
SHMEMX_ORDERED(size_t, shmemx_scheduler_run, ())
SHMEMX_ORDERED(void, shmemx_scheduler_stop, ())
SHMEMX_ORDERED(void, shmemx_scheduler_quiesce, ())
