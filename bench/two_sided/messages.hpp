// Two-sided messages in terms of the library under test: this one, or an MPI.
#pragma once

#if defined(BENCH_MPI)
#include <mpi.h>
#elif !defined(BENCH_RAW)
#include <shmemx/messages.h>
#endif

#include <cstddef>

namespace shmemx::bench {

struct Arrival {
  int source;
  int tag;
};

#if defined(BENCH_MPI)

using MessageRequest = MPI_Request;

inline void send(const void* source, std::size_t bytes, int pe, int tag) {
  MPI_Send(source, static_cast<int>(bytes), MPI_BYTE, pe, tag, MPI_COMM_WORLD);
}
inline void receive(void* dest, std::size_t bytes, int pe, int tag) {
  MPI_Recv(dest, static_cast<int>(bytes), MPI_BYTE, pe, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
inline void start_send(MessageRequest* request, const void* source, std::size_t bytes, int pe, int tag) {
  MPI_Isend(source, static_cast<int>(bytes), MPI_BYTE, pe, tag, MPI_COMM_WORLD, request);
}
inline void start_receive(MessageRequest* request, void* dest, std::size_t bytes, int pe, int tag) {
  MPI_Irecv(dest, static_cast<int>(bytes), MPI_BYTE, pe, tag, MPI_COMM_WORLD, request);
}
inline void complete(MessageRequest* requests, std::size_t count) {
  MPI_Waitall(static_cast<int>(count), requests, MPI_STATUSES_IGNORE);
}

// Returns when a message is there whose receive has not been posted.
inline void await_unexpected(int pe, int tag) { MPI_Probe(pe, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

inline Arrival receive_any(void* dest, std::size_t bytes) {
  MPI_Status status;
  MPI_Recv(dest, static_cast<int>(bytes), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  return {status.MPI_SOURCE, status.MPI_TAG};
}

#elif !defined(BENCH_RAW)

using MessageRequest = shmemx_request_t;

inline void send(const void* source, std::size_t bytes, int pe, int tag) { shmemx_send(source, bytes, pe, tag); }
inline void receive(void* dest, std::size_t bytes, int pe, int tag) { shmemx_recv(dest, bytes, pe, tag, nullptr); }
inline void start_send(MessageRequest* request, const void* source, std::size_t bytes, int pe, int tag) {
  shmemx_isend(source, bytes, pe, tag, request);
}
inline void start_receive(MessageRequest* request, void* dest, std::size_t bytes, int pe, int tag) {
  shmemx_irecv(dest, bytes, pe, tag, request);
}
inline void complete(MessageRequest* requests, std::size_t count) { shmemx_waitall(count, requests, nullptr); }

// Returns when a message is there whose receive has not been posted.
inline void await_unexpected(int pe, int tag) {
  shmemx_status_t status;
  shmemx_probe(pe, tag, &status);
}

inline Arrival receive_any(void* dest, std::size_t bytes) {
  shmemx_status_t status;
  shmemx_recv(dest, bytes, SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, &status);
  return {status.source_pe, status.tag};
}

#endif

}  // namespace shmemx::bench
