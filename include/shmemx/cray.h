/* A collective of Cray's and HPE's OpenSHMEMX, by which programs written for it are built as they are (bale's convey
   among them): shmemx_alltoallv with ten arguments. With nine it is that of collectives.h. <shmemx.h> includes this
   header.

   On the active set of PE_start, logPE_stride and PE_size (deprecated in the standard, 9.10), source_bytes[i] bytes at
   source + source_offsets[i] go to its PE i, which puts them at dest + dest_offsets[this PE's number in the set].
   received[i] becomes the number of bytes that came from PE i. All arrays and pSync are symmetric; pSync has
   SHMEM_ALLTOALL_SYNC_SIZE elements of SHMEM_SYNC_VALUE. All PEs of the set are ready to receive when one calls it. */
#ifndef SHMEMX_CRAY_H
#define SHMEMX_CRAY_H

#include "../shmem.h"

#include "collectives.h"

#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE

#ifdef __cplusplus
#define SHMEMX_INLINE inline
#define SHMEMX_BYTES(TYPE, address_) static_cast<TYPE*>(address_)
#else
#define SHMEMX_INLINE static inline
#define SHMEMX_BYTES(TYPE, address_) ((TYPE*)(address_))
#endif

SHMEMX_INLINE void shmemx_alltoallv_of_set(void* dest_, const size_t* dest_offsets_, size_t* received_,
                                           const void* source_, const size_t* source_offsets_,
                                           const size_t* source_bytes_, int PE_start_, int logPE_stride_, int PE_size_,
                                           long* pSync_) {
  const int me_ = (shmem_my_pe() - PE_start_) >> logPE_stride_;
  int step_;
  shmem_barrier(PE_start_, logPE_stride_, PE_size_, pSync_); /* all have written their offsets */
  for (step_ = 1; step_ <= PE_size_; ++step_) {
    const int member_ = (me_ + step_) % PE_size_;
    const int pe_ = PE_start_ + (member_ << logPE_stride_);
    const size_t offset_ = shmem_size_g(&dest_offsets_[me_], pe_);
    shmem_putmem(SHMEMX_BYTES(char, dest_) + offset_, SHMEMX_BYTES(const char, source_) + source_offsets_[member_],
                 source_bytes_[member_], pe_);
    shmem_size_p(&received_[me_], source_bytes_[member_], pe_);
  }
  shmem_barrier(PE_start_, logPE_stride_, PE_size_, pSync_);
}

#undef SHMEMX_INLINE
#undef SHMEMX_BYTES

#ifdef __cplusplus
extern "C++" inline void shmemx_alltoallv(void* dest_, const size_t* dest_offsets_, size_t* received_,
                                          const void* source_, const size_t* source_offsets_,
                                          const size_t* source_bytes_, int PE_start_, int logPE_stride_, int PE_size_,
                                          long* pSync_) {
  shmemx_alltoallv_of_set(dest_, dest_offsets_, received_, source_, source_offsets_, source_bytes_, PE_start_,
                          logPE_stride_, PE_size_, pSync_);
}
#else
/* Takes the name behind as many arguments as there are. */
#define SHMEMX_ALLTOALLV_OF(a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, name_, ...) name_
#define shmemx_alltoallv(...) \
  SHMEMX_ALLTOALLV_OF(__VA_ARGS__, shmemx_alltoallv_of_set, shmemx_alltoallv, 0)(__VA_ARGS__)
#endif

#endif
