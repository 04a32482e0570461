// PMIx, the interface of Open MPI's mpirun, PRRTE and Slurm. Its library is loaded at run time, so that a machine
// without it runs the same binary. Only building this back end needs its header.
#include "bootstrap/backends.hpp"

#if SHMEMX_HAVE_PMIX

#include <dlfcn.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>

#include "base/linkage.hpp"
#include "base/loaded_library.hpp"

namespace shmemx::bootstrap {
namespace {

struct PmixApi {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Abort) abort = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
};

Error pmix_error(const PmixApi& api, const char* routine, pmix_status_t status) {
  return Error{Errc::protocol, 0, std::string(routine) + " failed: " + api.error_string(status)};
}

// Never unloaded: the library keeps a thread, and exit handlers of its own.
Result<PmixApi> load_pmix() {
  if (is_linked_statically())
    return Error{Errc::unsupported, 0,
                 "needs libpmix.so.2, which a statically linked program cannot load: link it dynamically"};
  void* library = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Error{Errc::unsupported, 0,
                 std::string("libpmix.so.2 cannot be loaded: ") + (why != nullptr ? why : "no reason given")};
  }
  PmixApi api;
  const bool complete = find_routines(library, "PMIx_Init", api.init, "PMIx_Finalize", api.finalize, "PMIx_Put",
                                      api.put, "PMIx_Commit", api.commit, "PMIx_Fence", api.fence, "PMIx_Get", api.get,
                                      "PMIx_Abort", api.abort, "PMIx_Error_string", api.error_string);
  if (!complete) return Error{Errc::unsupported, 0, "libpmix.so.2 lacks routines of PMIx 2 or later"};
  return api;
}

class Pmix final : public Kvs {
 public:
  static Result<KvsPtr> open();
  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "pmix"; }
  std::size_t value_bytes() const override { return 1 << 20; }  // it sets no limit
  Status put(const std::string& key, const std::string& value) override;
  Status fence() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override { (void)api_.abort(status, "shmemx: the job is ended", nullptr, 0); }
  void finalize() override { (void)api_.finalize(nullptr, 0); }

 private:
  Result<std::uint32_t> job_size();
  PmixApi api_;
  pmix_proc_t self_{};
  Identity identity_;
};

Result<KvsPtr> Pmix::open() {
  SHMEMX_TRY_ASSIGN(api, load_pmix());
  auto client = std::make_unique<Pmix>();
  client->api_ = api;
  const pmix_status_t status = api.init(&client->self_, nullptr, 0);
  if (status != PMIX_SUCCESS) return pmix_error(api, "PMIx_Init", status);
  auto size = client->job_size();
  if (!size || client->self_.rank >= *size) {
    client->finalize();
    if (!size) return size.error();
    return Error{Errc::protocol, 0,
                 "PMIx names rank " + std::to_string(client->self_.rank) + " of " + std::to_string(*size)};
  }
  client->identity_ = {static_cast<int>(client->self_.rank), static_cast<int>(*size)};
  return KvsPtr(std::move(client));
}

Result<std::uint32_t> Pmix::job_size() {
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* value = nullptr;
  const pmix_status_t status = api_.get(&job, PMIX_JOB_SIZE, nullptr, 0, &value);
  if (status != PMIX_SUCCESS || value == nullptr) return pmix_error(api_, "PMIx_Get of the job's size", status);
  const bool fits = value->type == PMIX_UINT32 && value->data.uint32 > 0;
  const std::uint32_t size = value->data.uint32;
  std::free(value);
  if (!fits) return Error{Errc::protocol, 0, "PMIx does not tell the job's size"};
  return size;
}

Status Pmix::put(const std::string& key, const std::string& value) {
  pmix_value_t boxed{};
  boxed.type = PMIX_STRING;
  boxed.data.string = const_cast<char*>(value.c_str());  // the library copies it
  const pmix_status_t status = api_.put(PMIX_GLOBAL, key.c_str(), &boxed);
  if (status != PMIX_SUCCESS) return pmix_error(api_, "PMIx_Put", status);
  return {};
}

Status Pmix::fence() {
  if (const pmix_status_t status = api_.commit(); status != PMIX_SUCCESS)
    return pmix_error(api_, "PMIx_Commit", status);
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  pmix_info_t collect{};
  std::strcpy(collect.key, PMIX_COLLECT_DATA);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  const pmix_status_t status = api_.fence(&job, 1, &collect, 1);
  if (status != PMIX_SUCCESS) return pmix_error(api_, "PMIx_Fence", status);
  return {};
}

Result<std::string> Pmix::get(int owner, const std::string& key) {
  pmix_proc_t proc = self_;
  proc.rank = static_cast<pmix_rank_t>(owner);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = api_.get(&proc, key.c_str(), nullptr, 0, &value);
  if (status != PMIX_SUCCESS || value == nullptr) return pmix_error(api_, "PMIx_Get", status);
  if (value->type != PMIX_STRING || value->data.string == nullptr) {
    return Error{Errc::protocol, 0, "PMIx_Get answers with another type than was put"};
  }
  std::string text = value->data.string;
  std::free(value->data.string);
  std::free(value);
  return text;
}

}  // namespace

Result<KvsPtr> connect_pmix() { return Pmix::open(); }

}  // namespace shmemx::bootstrap

#else

namespace shmemx::bootstrap {

Result<KvsPtr> connect_pmix() {
  return Error{Errc::unsupported, 0, "this build of shmemx was made without the header pmix.h"};
}

}  // namespace shmemx::bootstrap

#endif
