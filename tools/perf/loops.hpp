// The measured loops. A test of latency completes each operation at its target before the next one.
#pragma once

#include "perf/work.hpp"

namespace shmemx::perf {

void put_each(Work& work, long iterations);
void get_each(Work& work, long iterations);
void put_burst(Work& work, long iterations);
void get_burst(Work& work, long iterations);
void window_put_each(Work& work, long iterations);
void window_get_each(Work& work, long iterations);
void window_put_burst(Work& work, long iterations);
void window_get_burst(Work& work, long iterations);

// One word of 8 bytes.
void p_each(Work& work, long iterations);
void g_each(Work& work, long iterations);
void p_burst(Work& work, long iterations);
void add_each(Work& work, long iterations);
void add_burst(Work& work, long iterations);
void fetch_add_each(Work& work, long iterations);
void compare_swap_each(Work& work, long iterations);
void window_fetch_add_each(Work& work, long iterations);
void window_compare_swap_each(Work& work, long iterations);

void put_signal_lead(Work& work, long iterations);
void put_signal_reply(Work& work, long iterations);
void message_lead(Work& work, long iterations);
void message_reply(Work& work, long iterations);

void barrier(Work& work, long iterations);
void sync(Work& work, long iterations);
void broadcast(Work& work, long iterations);
void reduce(Work& work, long iterations);
void fcollect(Work& work, long iterations);
void collect(Work& work, long iterations);
void alltoall(Work& work, long iterations);

}  // namespace shmemx::perf
