#include "interpose/flavor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shmemx::interpose {
namespace {

constexpr std::string_view kMpich[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation"};
constexpr std::string_view kOpenMpi[] = {"Open MPI", "Spectrum MPI"};
#ifdef MPICH_VERSION
constexpr std::string_view kFlavor = "mpich";
constexpr const char* kLibrary = "libshmemx_rma_mpich.so is for MPICH and those with its ABI";
constexpr std::span<const std::string_view> kOwn = kMpich;
constexpr std::span<const std::string_view> kOther = kOpenMpi;
#else
constexpr std::string_view kFlavor = "openmpi";
constexpr const char* kLibrary = "libshmemx_rma_openmpi.so is for Open MPI";
constexpr std::span<const std::string_view> kOwn = kOpenMpi;
constexpr std::span<const std::string_view> kOther = kMpich;
#endif

bool has_any(std::string_view version, std::span<const std::string_view> marks) {
  return std::any_of(marks.begin(), marks.end(),
                     [&](std::string_view mark) { return version.find(mark) != std::string_view::npos; });
}

// An MPI that is not known may have this ABI if the user says so.
bool is_own(std::string_view version) {
  const char* const chosen = std::getenv("SHMEMX_MPI_FLAVOR");
  if (has_any(version, kOther)) return false;
  return has_any(version, kOwn) || (chosen != nullptr && chosen == kFlavor);
}

}  // namespace

void check_flavor(decltype(&PMPI_Get_library_version) get_version, const char* file) {
  constexpr std::size_t kLongest = 16384;  // that of any MPI; MPICH's is 8192 bytes
  std::vector<char> text(kLongest);
  int length = 0;
  get_version(text.data(), &length);
  const std::string_view all = text.data();
  if (is_own(all)) return;
  const std::string first(all.substr(0, all.find('\n')));
  std::fprintf(stderr,
               "shmemx-rma: %s, but the MPI of this program is '%s' (%s); if it has the ABI of one of both, set "
               "SHMEMX_MPI_FLAVOR to mpich or openmpi\n",
               kLibrary, first.c_str(), file);
  std::fflush(nullptr);
  ::_exit(2);
}

}  // namespace shmemx::interpose
