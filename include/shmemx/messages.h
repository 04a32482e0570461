/* Tagged two-sided messages between PEs. PEs are numbers of the world. Sizes, counts and strides are in bytes unless
   said otherwise. <shmemx.h> includes this header.

   Matching: a receive takes the message whose source and tag are what it asks for; SHMEMX_ANY_SOURCE and SHMEMX_ANY_TAG
   fit any. Of several messages of one source that fit, it takes the one that was sent first; of several receives that
   fit a message, the one that was posted first takes it.

   Results: 0, or SHMEMX_ERR_TRUNCATE when a message was longer than the receive: what fits has been written, nothing
   beyond it. A PE, tag, list or request that is wrong ends the job with one line that says what is allowed.

   Threads: at SHMEM_THREAD_MULTIPLE every routine may be called by several threads at once, and any thread may complete
   a request that another one started, but not two threads the same request. */
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

/* The only result of the routines below that is not 0. */
#define SHMEMX_ERR_TRUNCATE 1

/* What is known of a message that has been received, found or sent. */
typedef struct {
  int source_pe; /* who sent it; of a send: the own number */
  int tag;       /* the tag it was sent with */
  size_t bytes;  /* written into the receive's memory; of a probe: the length of the message; of a send: sent */
  int error;     /* 0 or SHMEMX_ERR_TRUNCATE */
  int cancelled; /* 1: the receive was cancelled and has taken no message; the other members then mean nothing */
} shmemx_status_t;

/* A send or receive that has been started. A coded number: any wrong value is noticed. */
typedef struct shmemx_request* shmemx_request_t;
#ifdef __cplusplus
#define SHMEMX_REQUEST_NULL (reinterpret_cast<shmemx_request_t>(0L))
#else
#define SHMEMX_REQUEST_NULL ((shmemx_request_t)0L)
#endif

/* A piece of memory, for messages that lie in several places. */
struct shmemx_iov {
  void* base; /* sends do not write there */
  size_t bytes;
};
typedef struct shmemx_iov shmemx_iov_t;

/* ==== Blocking ====
   A send returns when its memory may be used again: the message may still be under way. ssend returns when a receive has
   taken the message. A receive returns when the message is there. `status_` may be null. */
SHMEMX_API int shmemx_send(const void* source_, size_t bytes_, int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_ssend(const void* source_, size_t bytes_, int pe_, int tag_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_recv(void* dest_, size_t bytes_, int pe_, int tag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Both at once; the send to `dest_pe_`, the receive from `source_pe_`. The two memories must not overlap. */
SHMEMX_API int shmemx_sendrecv(const void* source_, size_t source_bytes_, int dest_pe_, int send_tag_, void* dest_,
                               size_t dest_bytes_, int source_pe_, int recv_tag_,
                               shmemx_status_t* status_) SHMEMX_NOEXCEPT;

/* ==== Started, to be completed by wait or test ====
   The memory belongs to the library until then. Every request has to be completed, a cancelled one too. */
SHMEMX_API int shmemx_isend(const void* source_, size_t bytes_, int pe_, int tag_,
                            shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_issend(const void* source_, size_t bytes_, int pe_, int tag_,
                             shmemx_request_t* request_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_irecv(void* dest_, size_t bytes_, int pe_, int tag_, shmemx_request_t* request_) SHMEMX_NOEXCEPT;

/* ==== Messages that lie in several places ====
   Lists: the pieces follow each other in the message. The list itself may be changed as soon as the routine returns.
   Strided: `blocks_` blocks of `block_bytes_`, the begin of each `stride_bytes_` behind the begin of the one before
   (negative: in front of it). The two sides may describe a message differently; only the bytes count. A receive's pieces
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

/* ==== Looking for a message without taking it ====
   probe waits for one that fits; iprobe writes 1 to *flag_ when there is one, else 0. `bytes` of the status is the length
   of the message. */
SHMEMX_API int shmemx_probe(int pe_, int tag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
SHMEMX_API int shmemx_iprobe(int pe_, int tag_, int* flag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;

/* ==== Completing requests ====
   A completed request becomes SHMEMX_REQUEST_NULL. For one that is SHMEMX_REQUEST_NULL already the routines return at
   once, with a status of SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG and 0 bytes. Statuses may be null. */
SHMEMX_API int shmemx_wait(shmemx_request_t* request_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Writes 1 to *flag_ when the request is complete, else 0. */
SHMEMX_API int shmemx_test(shmemx_request_t* request_, int* flag_, shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* All of them; `statuses_` has `count_` elements. SHMEMX_ERR_TRUNCATE when that happened to one of them. */
SHMEMX_API int shmemx_waitall(size_t count_, shmemx_request_t* requests_, shmemx_status_t* statuses_) SHMEMX_NOEXCEPT;
/* One of them, and its place in the array; `count_` when all are SHMEMX_REQUEST_NULL. */
SHMEMX_API int shmemx_waitany(size_t count_, shmemx_request_t* requests_, size_t* index_,
                              shmemx_status_t* status_) SHMEMX_NOEXCEPT;
/* Takes a receive back that no message has matched yet; otherwise nothing happens. It then has to be completed, and its
   status says whether it was cancelled. Sends cannot be cancelled: asking for it ends the job. */
SHMEMX_API int shmemx_cancel(shmemx_request_t* request_) SHMEMX_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#include "undef.h"

#endif
