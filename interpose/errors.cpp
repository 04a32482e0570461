#include "interpose/errors.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "interpose/below.hpp"
#include "interpose/job.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {
namespace {

thread_local const char* noted = "";

// Returns true for the handlers that end the job.
bool is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

// What shmemx says about the access that its owner has refused, with the process's rank in place of its PE number.
std::string refused_access() {
  std::string text = shmemx_error_detail();
  constexpr std::string_view kPe = " of PE ";
  const std::size_t at = text.find(kPe);
  if (at == std::string::npos) return text;
  const std::size_t number = at + kPe.size();
  const std::size_t end = text.find_first_not_of("0123456789", number);
  const int rank = rank_of_pe(std::atoi(text.c_str() + number));
  return text.replace(at, end - at, " of rank " + std::to_string(rank));
}

void print(const char* routine, MPI_Errhandler handler, const std::string& detail = "") {
  if (is_fatal(handler)) {
    int rank = 0;
    below().Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "shmemx-rma: [rank %d] %s: %s%s%s\n", rank, routine, noted, detail.empty() ? "" : ": ",
                 detail.c_str());
  }
  if (handler != MPI_ERRHANDLER_NULL) below().Errhandler_free(&handler);
}

}  // namespace

int wrong(int error_class, const char* what) noexcept {
  noted = what;
  return error_class;
}

int class_of_error(int shmemx_error) noexcept {
  switch (shmemx_error) {
    case SHMEMX_ERR_RANGE:
      return wrong(MPI_ERR_RMA_RANGE, "the target's memory is not in the window, or not attached to it");
    case SHMEMX_ERR_MEMORY:
    case SHMEMX_ERR_LIMIT:
      return wrong(MPI_ERR_NO_MEM, shmemx_error_text(shmemx_error));
    default:
      return wrong(MPI_ERR_OTHER, shmemx_error_text(shmemx_error));
  }
}

int raise(const Window& window, const char* routine, int error_class) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  below().Win_get_errhandler(window.handle, &handler);
  const bool is_refused = window.flavor == MPI_WIN_FLAVOR_DYNAMIC && error_class == MPI_ERR_RMA_RANGE;
  print(routine, handler, is_refused ? refused_access() : "");
  below().Win_call_errhandler(window.handle, error_class);
  return error_class;
}

int raise(MPI_Comm comm, const char* routine, int error_class) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  below().Comm_get_errhandler(comm, &handler);
  print(routine, handler);
  below().Comm_call_errhandler(comm, error_class);
  return error_class;
}

}  // namespace shmemx::interpose
