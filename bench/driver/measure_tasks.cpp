// The rows of remote tasks and of collectives in the background, on one node and on pretended nodes. Jobs that are
// compared take turns.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "tasks_jobs.hpp"

namespace shmemx::bench {
namespace {

// Over tcp the table fits into a cache: there the network is measured.
std::vector<TasksJob> jobs_of_aggregation() {
  std::vector<TasksJob> jobs;
  for (const std::string place : {"tcp", "node"}) {
    TasksJob job{.program = "tasks_aggregation", .pes = 2, .place = place, .words = place};
    if (place == "tcp") job.options = {"--table-kib", "64"};
    for (const char* row : {"tasks_histogram", "tasks_gather_index"}) {
      job.only = row;
      jobs.push_back(job);
    }
    job.only = "tasks_histogram";
    job.name = "tasks_gathering";
    job.instead = {"SHMEMX_TASKS_GATHER=0"};
    jobs.push_back(job);
  }
  return jobs;
}

std::vector<TasksJob> jobs_of_costs() {
  return {{.program = "tasks_cost", .pes = 2, .place = "node", .name = "tasks_cpu", .words = "node"},
          {.program = "tasks_cost", .pes = 2, .place = "tcp", .name = "tasks_cpu", .words = "tcp"},
          {.program = "tasks_cost",
           .pes = 2,
           .place = "tcp",
           .name = "tasks_cpu",
           .words = "tcp, ungathered",
           .environment = {"SHMEMX_TASKS_GATHER=0"}}};
}

// The mesh beside direct exchange, and what is chosen beside the better of both.
void measure_alltoall(const Settings& settings, Rows& rows) {
  for (const int nodes : {4, 8, 16, 32, 64}) {
    if (nodes > 16 && !settings.full) break;
    TasksJob job{.program = "tasks_background", .pes = nodes, .place = "tcp", .only = "tasks_alltoall"};
    job.words = fmt::format("{} nodes", nodes);
    job.name = "tasks_mesh";
    job.environment = {"SHMEMX_ALLTOALL_MESH=512"};
    job.instead = {"SHMEMX_ALLTOALL_MESH=0"};
    Rows mesh;
    measure_job(settings, job, mesh);
    Rows chosen;
    job.name = "tasks_alltoall";
    job.environment = {};
    job.instead = {};
    job.beside_mpi = nodes <= 16;
    measure_job(settings, job, chosen);
    for (Row& row : chosen)
      for (const Row& other : mesh)
        if (other.bytes == row.bytes && other.ours && other.limit) row.limit = std::min(*other.ours, *other.limit);
    rows.insert(rows.end(), mesh.begin(), mesh.end());
    rows.insert(rows.end(), chosen.begin(), chosen.end());
  }
}

// Public windows between nodes; over libfabric's shm the memory is registered, else messages move the data.
void measure_windows(const Settings& settings, Rows& rows) {
  for (const std::string place : {"tcp", "ofi"}) {
    TasksJob job{.program = "tasks_windows", .pes = 2, .place = place, .words = place};
    if (place == "ofi") job.environment = {"FI_PROVIDER=shm"};
    for (const char* row : {"tasks_window_put", "tasks_window_get"}) {
      job.only = row;
      measure_job(settings, job, rows);
    }
  }
  measure_job(settings,
              {.program = "tasks_windows",
               .pes = 2,
               .place = "ofi",
               .only = "tasks_window_registration",
               .words = "ofi",
               .environment = {"FI_PROVIDER=shm"},
               .instead = {"FI_PROVIDER=shm", "SHMEMX_REGISTRATION_CACHE=0"}},
              rows);
}

// The kernels on two nodes of two PEs, beside the same programs with Open MPI's OSHMEM, all of whose PEs use TCP.
void measure_kernels(const Settings& settings, Rows& rows) {
  for (const std::string kernel : {"kernel_is", "kernel_cg", "kernel_ft"})
    measure_job(settings,
                {.program = kernel,
                 .pes = 4,
                 .place = "tcp",
                 .name = "tasks_" + kernel,
                 .words = "2x2, tcp",
                 .beside_mpi = true,
                 .per_node = 2,
                 .beside_oshmem = true,
                 .repeats = "--repeat"},
                rows);
}

}  // namespace

Rows measure_tasks(const Settings& settings) {
  Rows rows;
  measure_tables(settings, rows);
  for (const TasksJob& job : jobs_of_aggregation()) measure_job(settings, job, rows);
  for (const TasksJob& job : jobs_of_costs()) measure_job(settings, job, rows);
  for (const std::string place : {"tcp", "node"})
    measure_job(settings,
                {.program = "tasks_stencil",
                 .pes = 2,
                 .place = place,
                 .name = "tasks_stencil",
                 .words = place,
                 .beside_mpi = true},
                rows);
  measure_alltoall(settings, rows);
  for (const int nodes : {2, 4, 8, 16})
    measure_job(settings,
                {.program = "tasks_patterns", .pes = nodes, .place = "tcp", .only = "tasks_multicast", .words = "tcp"},
                rows);
  for (const std::string place : {"tcp", "node"})
    measure_job(settings,
                {.program = "tasks_patterns", .pes = 4, .place = place, .only = "tasks_silent_pe", .words = place},
                rows);
  measure_job(settings,
              {.program = "tasks_background",
               .pes = 3,
               .place = "tcp",
               .only = "tasks_late_reduce",
               .words = "tcp",
               .beside_mpi = true},
              rows);
  measure_windows(settings, rows);
  measure_kernels(settings, rows);
  return rows;
}

}  // namespace shmemx::bench
