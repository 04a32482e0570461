#include "perf/tests.hpp"

#include "perf/loops.hpp"

namespace shmemx::perf {
namespace {

constexpr std::size_t kLong = std::size_t{1} << 20;

// clang-format off
//                 name                    kind            bytes  unit bursts per_pe loop               other loop                text
constexpr Test kTests[] = {
    {"put_latency",          Kind::one_sided,  8,     1,   false, false, put_each,          window_put_each,          "put, complete at the target"},
    {"get_latency",          Kind::one_sided,  8,     1,   false, false, get_each,          window_get_each,          "get"},
    {"p_latency",            Kind::one_sided,  8,     0,   false, false, p_each,            nullptr,                  "put of one word, complete at the target"},
    {"g_latency",            Kind::one_sided,  8,     0,   false, false, g_each,            nullptr,                  "get of one word"},
    {"add_latency",          Kind::one_sided,  8,     0,   false, false, add_each,          nullptr,                  "atomic add, complete at the target"},
    {"fetch_add_latency",    Kind::one_sided,  8,     0,   false, false, fetch_add_each,    window_fetch_add_each,    "atomic fetch and add"},
    {"compare_swap_latency", Kind::one_sided,  8,     0,   false, false, compare_swap_each, window_compare_swap_each, "atomic compare and swap"},
    {"put_bandwidth",        Kind::one_sided,  kLong, 1,   true,  false, put_burst,         window_put_burst,         "bursts of non-blocking puts"},
    {"get_bandwidth",        Kind::one_sided,  kLong, 1,   true,  false, get_burst,         window_get_burst,         "bursts of non-blocking gets"},
    {"put_rate",             Kind::one_sided,  8,     1,   true,  false, put_burst,         window_put_burst,         "bursts of short non-blocking puts"},
    {"get_rate",             Kind::one_sided,  8,     1,   true,  false, get_burst,         window_get_burst,         "bursts of short non-blocking gets"},
    {"p_rate",               Kind::one_sided,  8,     0,   true,  false, p_burst,           nullptr,                  "bursts of puts of one word"},
    {"add_rate",             Kind::one_sided,  8,     0,   true,  false, add_burst,         nullptr,                  "bursts of atomic adds"},
    {"put_signal_latency",   Kind::ping_pong,  8,     1,   false, false, put_signal_lead,   put_signal_reply,         "put with signal and its reply, half of a round"},
    {"message_latency",      Kind::ping_pong,  8,     1,   false, false, message_lead,      message_reply,            "two-sided message and its reply, half of a round"},
    {"barrier",              Kind::collective, 0,     0,   false, false, barrier,           nullptr,                  "shmem_barrier_all"},
    {"sync",                 Kind::collective, 0,     0,   false, false, sync,              nullptr,                  "shmem_sync_all"},
    {"broadcast",            Kind::collective, 8,     1,   false, false, broadcast,         nullptr,                  "broadcast from PE 0"},
    {"reduce",               Kind::collective, 8,     8,   false, false, reduce,            nullptr,                  "sum of words of 8 bytes"},
    {"fcollect",             Kind::collective, 8,     1,   false, true,  fcollect,          nullptr,                  "concatenation of the blocks of all PEs"},
    {"collect",              Kind::collective, 8,     1,   false, true,  collect,           nullptr,                  "the same with lengths that may differ"},
    {"alltoall",             Kind::collective, 8,     1,   false, true,  alltoall,          nullptr,                  "a block from each PE to each PE"},
};
// clang-format on

}  // namespace

std::span<const Test> all_tests() { return kTests; }

const Test* find_test(std::string_view name) {
  for (const Test& test : kTests) {
    if (name == test.name) return &test;
  }
  return nullptr;
}

}  // namespace shmemx::perf
