#include "interpose/job.hpp"

#include <shmemx.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <string_view>

#include "interpose/below.hpp"
#include "interpose/control.hpp"
#include "interpose/first_meeting.hpp"
#include "interpose/serving.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose {
namespace {

struct Job {
  bool started = false;
  bool serving = false;
  int world_rank = 0;
  MPI_Comm polled = MPI_COMM_NULL;  // has no messages: probing it lets the MPI make progress
  MPI_Comm this_process = MPI_COMM_NULL;
  std::vector<int> pe_of_rank;  // indexed by the rank in MPI_COMM_WORLD
};
Job job;
std::atomic<long> windows_taken{0};

enum class Mode { on, off, report, wrong };

Mode read_mode() {
  const char* const value = std::getenv("SHMEMX_MPI_RMA");
  const std::string_view text = value == nullptr ? "on" : value;
  if (text == "on" || text.empty()) return Mode::on;
  if (text == "off") return Mode::off;
  return text == "report" ? Mode::report : Mode::wrong;
}
const Mode mode = read_mode();

enum class Allocated { shared, own, wrong };

Allocated read_allocated() {
  const char* const value = std::getenv("SHMEMX_MPI_ALLOC_MEM");
  const std::string_view text = value == nullptr ? "shared" : value;
  if (text == "shared" || text.empty()) return Allocated::shared;
  return text == "private" ? Allocated::own : Allocated::wrong;
}
const Allocated allocated = read_allocated();

void warn_of_variables() {
  if (mode == Mode::wrong)
    std::fprintf(stderr, "shmemx-rma: SHMEMX_MPI_RMA is '%s', allowed are on, off, report; it is ignored\n",
                 std::getenv("SHMEMX_MPI_RMA"));
  if (allocated == Allocated::wrong)
    std::fprintf(stderr, "shmemx-rma: SHMEMX_MPI_ALLOC_MEM is '%s', allowed are shared, private; it is ignored\n",
                 std::getenv("SHMEMX_MPI_ALLOC_MEM"));
}

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  below().Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return SHMEM_THREAD_MULTIPLE;
  if (level == MPI_THREAD_SERIALIZED) return SHMEM_THREAD_SERIALIZED;
  return level == MPI_THREAD_FUNNELED ? SHMEM_THREAD_FUNNELED : SHMEM_THREAD_SINGLE;
}

// Returns true if all processes of the world found the same.
bool all_agree(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  below().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

int gather(const void* mine, void* all, std::size_t bytes, void*) {
  const int count = static_cast<int>(bytes);  // 65536 at most
  return below().Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
}
int meet(void*) { return below().Barrier(MPI_COMM_WORLD); }
void end_program(int status, void*) {
  int finalized = 0;
  below().Finalized(&finalized);
  if (finalized == 0) below().Abort(MPI_COMM_WORLD, status);
}

// The ranks of MPI_COMM_WORLD are the PEs. A program that has started shmemx before the MPI keeps the PEs that it has.
bool start_shmemx(int ranks) {
  shmemx_init_attr_t attributes{};
  attributes.bytes = sizeof attributes;
  attributes.my_pe = job.world_rank;
  attributes.n_pes = ranks;
  attributes.thread_level = thread_level();
  attributes.allgather = gather;
  attributes.barrier = meet;
  attributes.abort = end_program;
  int provided = 0;
  if (!all_agree(shmemx_is_initialized() == 0)) return shmemx_init_thread(thread_level(), &provided) == 0;
  return shmemx_init_attr(&attributes, &provided) == SHMEMX_SUCCESS;
}

void end_job() {
  if (!job.started) return;
  report(job.world_rank, std::to_string(windows_taken.load(std::memory_order_relaxed)) + " windows were taken over");
  // Lets messages that others still wait for leave this process.
  if (job.serving) below().Barrier(MPI_COMM_WORLD);
  job.serving = false;
  shmemx_finalize();
  below().Comm_free(&job.polled);
  below().Comm_free(&job.this_process);
  job.started = false;
}

// The MPI calls this before anything of it ends, and after the program's functions of the same kind, which may still
// use windows: it deletes attributes in the reverse of the order in which they were set.
int end_with_mpi(MPI_Comm, int, void*, void*) {
  end_job();
  return MPI_SUCCESS;
}

// What a program that calls exit() while the MPI runs leaves for the end of its process.
struct Exit {
  pid_t process = 0;
  bool is_success = false;
};
Exit noted_exit;

void note_exit(int status, void*) { noted_exit.is_success = status == 0; }

// Runs behind the program's exit functions, which may call MPI_Finalize. Without it the other processes do not meet
// this one again, so shmemx must not wait for them: their launcher decides what becomes of them, as it does without
// shmemx. Where the status is not 0, shmemx has ended the job.
[[gnu::destructor]] void leave_at_once() {
  if (!job.started || !noted_exit.is_success || ::getpid() != noted_exit.process) return;
  std::fprintf(stderr, "shmemx-rma: [rank %d] the program ends without MPI_Finalize\n", job.world_rank);
  std::fflush(nullptr);
  ::_exit(0);
}

void let_mpi_end_job() {
  noted_exit.process = ::getpid();
  ::on_exit(note_exit, nullptr);
  int keyval = MPI_KEYVAL_INVALID;
  below().Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &keyval, nullptr);
  below().Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  below().Comm_free_keyval(&keyval);
}

}  // namespace

void start_job() {
  below().Comm_rank(MPI_COMM_WORLD, &job.world_rank);
  if (job.world_rank == 0) warn_of_variables();
  if (!meet_first(mode != Mode::off)) return;
  int ranks = 0;
  below().Comm_size(MPI_COMM_WORLD, &ranks);
  many_threads = thread_level() == SHMEM_THREAD_MULTIPLE;
  job.started = start_shmemx(ranks);
  job.pe_of_rank.assign(static_cast<std::size_t>(ranks), -1);
  const int pe = job.started && shmemx_n_pes() == ranks ? shmemx_my_pe() : -1;
  below().Allgather(&pe, 1, MPI_INT, job.pe_of_rank.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::set<int> different(job.pe_of_rank.begin(), job.pe_of_rank.end());
  job.serving = different.size() == job.pe_of_rank.size() && *different.begin() >= 0;
  if (!job.serving)
    report(job.world_rank, "all windows are left to the MPI: shmemx does not find the processes of MPI_COMM_WORLD");
  if (job.serving) {
    control::receive_notices();
    choose_spins(job.pe_of_rank);
    choose_serving();
  }
  below().Comm_dup(MPI_COMM_WORLD, &job.polled);
  below().Comm_dup(MPI_COMM_SELF, &job.this_process);
  below().Comm_set_errhandler(job.this_process, MPI_ERRORS_RETURN);
  let_mpi_end_job();
}

bool is_serving() noexcept { return job.serving; }

MPI_Comm this_process() noexcept { return job.this_process; }

int rank_of_pe(int pe) noexcept {
  const auto found = std::find(job.pe_of_rank.begin(), job.pe_of_rank.end(), pe);
  return found == job.pe_of_rank.end() ? -1 : static_cast<int>(found - job.pe_of_rank.begin());
}

bool shares_allocated_memory() noexcept { return allocated != Allocated::own; }

void count_window() noexcept { windows_taken.fetch_add(1, std::memory_order_relaxed); }

bool has_windows() noexcept { return windows_taken.load(std::memory_order_relaxed) != 0; }

bool pes_of_group(MPI_Group group, std::vector<int>& pes) {
  int size = 0;
  below().Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> world_ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group world = MPI_GROUP_NULL;
  below().Comm_group(MPI_COMM_WORLD, &world);
  below().Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
  below().Group_free(&world);
  pes.clear();
  for (const int rank : world_ranks) {
    if (rank == MPI_UNDEFINED) return false;
    pes.push_back(job.pe_of_rank[static_cast<std::size_t>(rank)]);
  }
  return true;
}

void report(int rank, const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  if (mode != Mode::report || rank != 0) return;
  const std::lock_guard guard(mutex);
  if (printed.insert(text).second) std::fprintf(stderr, "shmemx-rma: %s\n", text.c_str());
}

void poll_mpi() noexcept {
  int found = 0;
  below().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, job.polled, &found, MPI_STATUS_IGNORE);
}

}  // namespace shmemx::interpose
