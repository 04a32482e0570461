// OpenSHMEM for C++20: types, memory, contexts and teams that free themselves, typed operations. Header-only; each
// function makes the call of the standard that has its name, and nothing else. docs/cpp.md shows how to use it.
//
//     #include <shmemx/shmemx.hpp>
//     shmemx::library library;                             // shmem_init, shmem_finalize
//     shmemx::symmetric_array<double> row(1000);           // collective; its destructor is not
//     shmemx::put(row, std::vector<double>(1000, 1.5), 0);
//     shmemx::barrier_all();
//
// What the standard says of the routine holds here: wrong arguments end the job with one line. An error at compile time
// tells which types cannot travel to another PE. An allocation that fails throws std::bad_alloc, or gives std::nullopt.
//
// The headers of extensions, windows.hpp and tasks.hpp, stand beside this one.
#ifndef SHMEMX_SHMEMX_HPP
#define SHMEMX_SHMEMX_HPP

#include "atomics.hpp"
#include "dropped_memory.hpp"
#include "library.hpp"
#include "symmetric.hpp"
#include "team_collectives.hpp"
#include "transfers.hpp"
#include "waits.hpp"

#endif
