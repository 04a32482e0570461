#include <dlfcn.h>

#include <string>
#include <utility>

#include "base/affinity.hpp"
#include "base/loaded_library.hpp"
#include "machine.hpp"

#if SHMEMX_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace shmemx::launcher {
namespace {

using Json = nlohmann::ordered_json;

Json by_affinity(const std::string& why) { return {{"source", why}, {"pus", affinity_cpus().size()}}; }

#if SHMEMX_HAVE_HWLOC

constexpr const char* kHwlocLibrary = "libhwloc.so.15";  // the name for all versions 2

// hwloc's routines, loaded at run time so that shmem_info also runs without hwloc.
struct HwlocApi {
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_get_type_depth) depth_of = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count_at = nullptr;
  decltype(&hwloc_get_obj_by_depth) object_at = nullptr;
  decltype(&hwloc_bitmap_weight) weight = nullptr;
};

bool find_all(void* library, HwlocApi& api) {
  return find_routines(library, "hwloc_topology_init", api.init, "hwloc_topology_load", api.load,
                       "hwloc_topology_destroy", api.destroy, "hwloc_get_type_depth", api.depth_of,
                       "hwloc_get_nbobjs_by_depth", api.count_at, "hwloc_get_obj_by_depth", api.object_at,
                       "hwloc_bitmap_weight", api.weight);
}

unsigned count_of(const HwlocApi& api, hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int depth = api.depth_of(topology, type);
  const bool has_depth = depth != HWLOC_TYPE_DEPTH_UNKNOWN && depth != HWLOC_TYPE_DEPTH_MULTIPLE;
  return has_depth ? api.count_at(topology, depth) : 0;
}

// Returns size and number of the caches of one level; null if there are none.
Json cache_json(const HwlocApi& api, hwloc_topology_t topology, hwloc_obj_type_t type) {
  const unsigned count = count_of(api, topology, type);
  if (count == 0) return nullptr;
  const hwloc_obj_t first = api.object_at(topology, api.depth_of(topology, type), 0);
  return {{"count", count}, {"bytes", first->attr->cache.size}, {"pus_sharing_one", api.weight(first->cpuset)}};
}

Json by_hwloc(const HwlocApi& api, hwloc_topology_t topology) {
  Json section;
  section["source"] = "hwloc";
  section["packages"] = count_of(api, topology, HWLOC_OBJ_PACKAGE);
  section["numa_nodes"] = count_of(api, topology, HWLOC_OBJ_NUMANODE);
  section["cores"] = count_of(api, topology, HWLOC_OBJ_CORE);
  section["pus"] = count_of(api, topology, HWLOC_OBJ_PU);
  const std::pair<const char*, hwloc_obj_type_t> levels[] = {
      {"l1d", HWLOC_OBJ_L1CACHE}, {"l2", HWLOC_OBJ_L2CACHE}, {"l3", HWLOC_OBJ_L3CACHE}};
  for (const auto& [name, type] : levels) {
    if (Json cache = cache_json(api, topology, type); !cache.is_null()) section[name] = std::move(cache);
  }
  return section;
}

#endif

}  // namespace

#if SHMEMX_HAVE_HWLOC

Json describe_topology() {
  void* const library = ::dlopen(kHwlocLibrary, RTLD_NOW | RTLD_LOCAL);
  HwlocApi api;
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return by_affinity(std::string("the affinity mask, as hwloc cannot be loaded: ") +
                       (why != nullptr ? why : kHwlocLibrary));
  }
  hwloc_topology_t topology = nullptr;
  if (!find_all(library, api) || api.init(&topology) != 0)
    return by_affinity(std::string("the affinity mask, as ") + kHwlocLibrary + " fails");
  Json section = api.load(topology) == 0 ? by_hwloc(api, topology) : by_affinity("the affinity mask, as hwloc fails");
  api.destroy(topology);
  return section;
}

#else

Json describe_topology() { return by_affinity("the affinity mask, as this was built without hwloc"); }

#endif

}  // namespace shmemx::launcher
