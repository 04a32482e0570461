/* Tagged two-sided messages between PEs. PEs are numbers of the world. Sizes, counts and strides are in bytes unless
   said otherwise. <shmemx.h> includes this header.

   Matching: a receive matches a message with its source and tag; SHMEMX_ANY_SOURCE and SHMEMX_ANY_TAG match any.
   Among several matching messages of one source, it takes the one that was sent first. Among several receives that
   match a message, the one that was posted first takes it.

   Results: 0, or SHMEMX_ERR_TRUNCATE if the message is longer than the receive; then only the part that fits is
   written. An invalid PE, tag, list or request ends the job with one line that says what is allowed.

   Threads: at SHMEM_THREAD_MULTIPLE several threads may call every routine at once. Any thread may complete a
   request that another one started, but no two threads the same request. */
#ifndef SHMEMX_MESSAGES_H
#define SHMEMX_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEMX_ANY_SOURCE (-1)
#define SHMEMX_ANY_TAG (-1)
#define SHMEMX_TAG_MAX 2147483647 /* tags are 0 to this */

/* The only nonzero result of the routines below. */
#define SHMEMX_ERR_TRUNCATE 1

/* Describes a message that has been received, found or sent. */
typedef struct {
  int source_pe; /* the sender; for a send, this PE */
  int tag;       /* the tag it was sent with */
  size_t bytes;  /* written into the receive's memory; for a probe: the length of the message; for a send: sent */
  int error;     /* 0 or SHMEMX_ERR_TRUNCATE */
  int cancelled; /* 1: the receive was cancelled and took no message; the other members are then undefined */
} shmemx_status_t;

/* A started send or receive, or a collective that does not block (collectives.h). A coded number: any invalid value is detected. */
typedef struct shmemx_request* shmemx_request_t;
#ifdef __cplusplus
#define SHMEMX_REQUEST_NULL (reinterpret_cast<shmemx_request_t>(0L))
#else
#define SHMEMX_REQUEST_NULL ((shmemx_request_t)0L)
#endif

/* A piece of memory, for messages that consist of several pieces. */
struct shmemx_iov {
  void* base; /* only read by sends */
  size_t bytes;
};
typedef struct shmemx_iov shmemx_iov_t;

/* ==== Blocking ====
   A send returns when its memory may be reused, possibly before the message arrives. ssend returns when a receive
   has taken the message. A receive returns when the message is complete. `status_` may be null. */
SHMEMX_API int shmemx_send(const void* source_, size_t bytes_, int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_ssend(const void* source_, size_t bytes_, int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_recv(void* dest_, size_t bytes_, int pe_, int tag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Sends to `dest_pe_` and receives from `source_pe_` at once. The two memories must not overlap. */
SHMEMX_API int shmemx_sendrecv(const void* source_, size_t source_bytes_, int dest_pe_, int send_tag_, void* dest_,
                               size_t dest_bytes_, int source_pe_, int recv_tag_,
                               shmemx_status_t* status_) SHMEMX_NOEXCEPT;

/* ==== Nonblocking: completed by wait or test ====
   The library uses the memory until completion. Every request must be completed, also a cancelled one. */
SHMEMX_API int shmemx_isend(const void* source_, size_t bytes_, int pe_, int tag_,
                            shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_issend(const void* source_, size_t bytes_, int pe_, int tag_,
                             shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_irecv(void* dest_, size_t bytes_, int pe_, int tag_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* ==== Messages in several pieces ====
   Lists: the pieces are concatenated in the message. The list itself may be changed when the routine returns.
   Strided: `blocks_` blocks of `block_bytes_`; each begins `stride_bytes_` after the previous one (negative: before
   it). The two sides may describe a message differently; only the number of bytes matters. The pieces of a receive
   must not overlap. A total that does not fit into size_t ends the job. */
SHMEMX_API int shmemx_sendv(const shmemx_iov_t* list_, size_t count_, int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_recvv(const shmemx_iov_t* list_, size_t count_, int pe_, int tag_,
                            shmemx_status_t* status_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_isendv(const shmemx_iov_t* list_, size_t count_, int pe_, int tag_,
                             shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_irecvv(const shmemx_iov_t* list_, size_t count_, int pe_, int tag_,
                             shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_send_strided(const void* source_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_,
                                   int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_recv_strided(void* dest_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_,
                                   int tag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_isend_strided(const void* source_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_,
                                    int pe_, int tag_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_irecv_strided(void* dest_, size_t block_bytes_, ptrdiff_t stride_bytes_, size_t blocks_, int pe_,
                                    int tag_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* ==== Probing: finding a message without receiving it ====
   probe waits for a matching message; iprobe writes 1 to *flag_ if there is one, else 0. `bytes` of the status is
   the length of the message. */
SHMEMX_API int shmemx_probe(int pe_, int tag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_iprobe(int pe_, int tag_, int* flag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;

/* ==== Completing requests ====
   A completed request becomes SHMEMX_REQUEST_NULL. For a request that is already SHMEMX_REQUEST_NULL the routines
   return at once, with a status of SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG and 0 bytes. Statuses may be null. */
SHMEMX_API int shmemx_wait(shmemx_request_t* request_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Writes 1 to *flag_ if the request is complete, else 0. */
SHMEMX_API int shmemx_test(shmemx_request_t* request_, int* flag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Completes all requests; `statuses_` has `count_` elements. Returns SHMEMX_ERR_TRUNCATE if one of them was
   truncated. */
SHMEMX_API int shmemx_waitall(size_t count_, shmemx_request_t* requests_, shmemx_status_t* statuses_) SHMEMX_NOEXCEPT;
/* Completes one request and writes its index in the array; `count_` if all are SHMEMX_REQUEST_NULL. */
SHMEMX_API int shmemx_waitany(size_t count_, shmemx_request_t* requests_, size_t* index_,
                              shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Cancels a receive that has no matching message yet; otherwise has no effect. The request must still be completed;
   its status tells whether it was cancelled. Sends and collectives cannot be cancelled: an attempt ends the job. */
SHMEMX_API int shmemx_cancel(shmemx_request_t* request_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
