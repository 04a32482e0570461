// Pairs of functions, one by the C routine and one by the C++ headers, that must compile to the same instructions.
#include <shmemx/requests.hpp>
#include <shmemx/shmemx.hpp>

#include <cstddef>
#include <span>

#define PAIR(NAME, RESULT, PARAMETERS, C_CALL, CPP_CALL)            \
  extern "C" RESULT c_##NAME PARAMETERS noexcept { return C_CALL; } \
  extern "C" RESULT cpp_##NAME PARAMETERS noexcept { return CPP_CALL; }

using Symmetric = shmemx::symmetric_ptr<int>;
using Words = std::span<const int>;
struct Particle {
  double x, y, z;
};
using Particles = shmemx::symmetric_ptr<Particle>;
using Signal = shmemx::signal_word;

PAIR(put, void, (Symmetric to, Words from, int pe), shmem_int_put(to.get(), from.data(), from.size(), pe),
     shmemx::put(to, from, pe))
PAIR(put_nbi, void, (Symmetric to, Words from, int pe), shmem_int_put_nbi(to.get(), from.data(), from.size(), pe),
     shmemx::put_nbi(to, from, pe))
PAIR(get, void, (std::span<int> to, Symmetric from, int pe), shmem_int_get(to.data(), from.get(), to.size(), pe),
     shmemx::get(to, from, pe))
PAIR(p, void, (Symmetric to, int value, int pe), shmem_int_p(to.get(), value, pe), shmemx::p(to, value, pe))
PAIR(g, int, (Symmetric from, int pe), shmem_int_g(from.get(), pe), shmemx::g(from, pe))
PAIR(put_on, void, (Symmetric to, Words from, int pe, const shmemx::context& ctx),
     shmem_ctx_int_put(ctx.handle(), to.get(), from.data(), from.size(), pe), shmemx::put(to, from, pe, ctx))
PAIR(p_element, void, (const shmemx::symmetric_array<int>& to, std::size_t i, int value, int pe),
     shmem_int_p(to.data() + i, value, pe), shmemx::p(to + i, value, pe))
PAIR(put_structures, void, (Particles to, std::span<const Particle> from, int pe),
     shmem_uchar_put(reinterpret_cast<unsigned char*>(to.get()), reinterpret_cast<const unsigned char*>(from.data()),
                     from.size_bytes(), pe),
     shmemx::put(to, from, pe))
PAIR(put_signal, void, (Symmetric to, Words from, Signal signal, int pe),
     shmem_int_put_signal(to.get(), from.data(), from.size(), signal.get(), 1, SHMEM_SIGNAL_ADD, pe),
     shmemx::put_signal(to, from, signal, 1, shmemx::signal_op::add, pe))
PAIR(iput, void, (Symmetric to, const int* from, std::ptrdiff_t stride, std::size_t n, int pe),
     shmem_int_iput(to.get(), from, stride, 1, n, pe), shmemx::iput(to, from, stride, 1, n, pe))
PAIR(fetch_add, int, (Symmetric at, int value, int pe), shmem_int_atomic_fetch_add(at.get(), value, pe),
     shmemx::atomic_fetch_add(at, value, pe))
PAIR(add_on, void, (Symmetric at, int value, int pe, const shmemx::context& ctx),
     shmem_ctx_int_atomic_add(ctx.handle(), at.get(), value, pe), shmemx::atomic_add(at, value, pe, ctx))
PAIR(wait_until, void, (Symmetric at, int value), shmem_int_wait_until(at.get(), SHMEM_CMP_EQ, value),
     shmemx::wait_until(at, shmemx::cmp::eq, value))
PAIR(quiet, void, (), shmem_quiet(), shmemx::quiet())
PAIR(reduce, int, (shmemx::symmetric_span<int> to, shmemx::symmetric_span<int> from),
     shmem_int_sum_reduce(SHMEM_TEAM_WORLD, to.data(), from.data(), from.size()),
     shmemx::reduce(shmemx::team::world(), to, from, shmemx::ops::sum))
PAIR(send, void, (Words from, int pe), static_cast<void>(shmemx_send(from.data(), from.size_bytes(), pe, 1)),
     shmemx::send(from, pe, 1))
PAIR(sendv, void, (std::span<const shmemx::const_piece> list, int pe),
     static_cast<void>(shmemx_sendv(reinterpret_cast<const shmemx_iov_t*>(list.data()), list.size(), pe, 1)),
     shmemx::sendv(list, pe, 1))
