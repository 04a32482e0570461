// Puts, gets and signals: the standard's names, in front of the library's. Each is one call of a function here, and the
// library's own routine.

#include "races/routine.hpp"
#include "races/wrap.hpp"

namespace shmemx::races {
namespace {

template <class T>
void put(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe) noexcept {
  note_put(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n), false, sizeof(T)});
}
template <class T>
void put_nbi(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe) noexcept {
  note_put(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n), true, sizeof(T)});
}
template <class T>
void p(Routine& routine, shmem_ctx_t ctx, T* dest, const T&, int pe) noexcept {
  note_put(routine, {ctx, pe, elements<T>(dest, 1), {nullptr, 0}, false, sizeof(T)});
}
template <class T>
void iput(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dest_stride,
          std::ptrdiff_t source_stride, std::size_t n, int pe) noexcept {
  note_put(routine,
           {ctx, pe, strided<T>(dest, dest_stride, 1, n), strided<T>(source, source_stride, 1, n), false, sizeof(T)});
}
template <class T>
void ibput(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dest_stride,
           std::ptrdiff_t source_stride, std::size_t block, std::size_t n, int pe) noexcept {
  note_put(routine, {ctx, pe, strided<T>(dest, dest_stride, block, n), strided<T>(source, source_stride, block, n),
                     false, sizeof(T)});
}
template <class T>
void get(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe) noexcept {
  note_get(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n)});
}
template <class T>
void get_nbi(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, int pe) noexcept {
  note_get(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n), true});
}
template <class T>
void g(Routine& routine, shmem_ctx_t ctx, const T* source, int pe) noexcept {
  note_get(routine, {ctx, pe, {nullptr, 0}, elements<T>(source, 1)});
}
template <class T>
void iget(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dest_stride,
          std::ptrdiff_t source_stride, std::size_t n, int pe) noexcept {
  note_get(routine, {ctx, pe, strided<T>(dest, dest_stride, 1, n), strided<T>(source, source_stride, 1, n)});
}
template <class T>
void ibget(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::ptrdiff_t dest_stride,
           std::ptrdiff_t source_stride, std::size_t block, std::size_t n, int pe) noexcept {
  note_get(routine, {ctx, pe, strided<T>(dest, dest_stride, block, n), strided<T>(source, source_stride, block, n)});
}
template <class T>
void put_signal(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n, std::uint64_t* signal,
                std::uint64_t, int, int pe) noexcept {
  note_signal(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n)}, {signal});
}
template <class T>
void put_signal_nbi(Routine& routine, shmem_ctx_t ctx, void* dest, const void* source, std::size_t n,
                    std::uint64_t* signal, std::uint64_t, int, int pe) noexcept {
  note_signal(routine, {ctx, pe, elements<T>(dest, n), elements<T>(source, n), true}, {signal});
}

}  // namespace
}  // namespace shmemx::races

SHMEMX_RMA_TABLE(SHMEMX_WRAP_CTX)
