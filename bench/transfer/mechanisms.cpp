// The list of mechanisms with the paper's figures.
#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

using Maker = std::unique_ptr<Mechanism> (*)(Link&, std::size_t);

#if defined(BENCH_HAVE_UCX)
constexpr Maker kUcxGet = make_ucx_get, kUcxPut = make_ucx_put;
#else
constexpr Maker kUcxGet = nullptr, kUcxPut = nullptr;
#endif
#if defined(BENCH_HAVE_FABRIC)
constexpr Maker kFabricGet = make_fabric_get, kFabricPut = make_fabric_put;
#else
constexpr Maker kFabricGet = nullptr, kFabricPut = nullptr;
#endif

constexpr const char* kNoUcx = "built without UCX (libucx-dev)";
constexpr const char* kNoFabric = "built without libfabric (libfabric-dev)";
constexpr const char* kCommon = "common memory";
constexpr const char* kTrace = "ptrace access";
constexpr const char* kNetwork = "the network's";

constexpr PaperFigures kNone{};
constexpr PaperFigures kSharedBuffer{1.5, 513.5, 10.9, 5.1, "High, Low"};
constexpr PaperFigures kMessageQueue{3.3, 437.1, 10.9, 5.1, "High, High"};
constexpr PaperFigures kPtrace{20.2, 460.0, 0.0, 0.0, "Medium, High"};
constexpr PaperFigures kKaputGet{2.1, 500.3, 2.8, 1.4, "Low, High"};
constexpr PaperFigures kKaputPut{2.1, 495.5, 2.8, 1.4, "High, Low"};
constexpr PaperFigures kNicGet{14.3, 171.7, 4.5, 212.4, "Low, Low"};
constexpr PaperFigures kNicPut{11.6, 227.1, 4.5, 212.4, "Low, Low"};

}  // namespace

const std::vector<MechanismInfo>& mechanisms() {
  using enum Direction;
  // clang-format off
  static const std::vector<MechanismInfo> list = {
      {"shared_buffer",  "shared buffer",      two_sided, false, kCommon,  8192,  kSharedBuffer, make_shared_buffer,  ""},
      {"message_queue",  "message queue",      two_sided, false, kCommon,  32768, kMessageQueue, make_message_queue,  ""},
      {"ptrace",         "ptrace, /proc/PID/mem", get,    false, kTrace,   0,     kPtrace,       make_ptrace,         ""},
      {"proc_mem",       "/proc/PID/mem alone", get,      false, kTrace,   0,     kNone,         make_process_memory, ""},
      {"process_vm_get", "process_vm_readv",   get,       false, kTrace,   0,     kKaputGet,     make_process_vm_get, ""},
      {"process_vm_put", "process_vm_writev",  put,       false, kTrace,   0,     kKaputPut,     make_process_vm_put, ""},
      {"window_get",     "mapped window, get", get,       true,  kCommon,  0,     kNone,         make_window_get,     ""},
      {"window_put",     "mapped window, put", put,       true,  kCommon,  0,     kNone,         make_window_put,     ""},
      {"ucx_get",        "UCX get",            get,       true,  kNetwork, 0,     kNicGet,       kUcxGet,             kNoUcx},
      {"ucx_put",        "UCX put",            put,       true,  kNetwork, 0,     kNicPut,       kUcxPut,             kNoUcx},
      {"fabric_get",     "libfabric get",      get,       true,  kNetwork, 0,     kNicGet,       kFabricGet,          kNoFabric},
      {"fabric_put",     "libfabric put",      put,       true,  kNetwork, 0,     kNicPut,       kFabricPut,          kNoFabric},
  };
  // clang-format on
  return list;
}

}  // namespace shmemx::bench
