#include <string>

#include "base/affinity.hpp"
#include "machine.hpp"

#if SHMEMX_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace shmemx::launcher {

using Json = nlohmann::ordered_json;

#if SHMEMX_HAVE_HWLOC

namespace {

// Size and number of the caches of one level; null when there are none.
Json cache_json(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
  if (first == nullptr) return nullptr;
  return {{"count", hwloc_get_nbobjs_by_type(topology, type)},
          {"bytes", first->attr->cache.size},
          {"pus_sharing_one", hwloc_bitmap_weight(first->cpuset)}};
}

}  // namespace

Json describe_topology() {
  Json section;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {{"source", "hwloc failed"}};
  if (hwloc_topology_load(topology) == 0) {
    section["source"] = "hwloc";
    section["packages"] = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    section["numa_nodes"] = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    section["cores"] = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    section["pus"] = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    const std::pair<const char*, hwloc_obj_type_t> levels[] = {
        {"l1d", HWLOC_OBJ_L1CACHE}, {"l2", HWLOC_OBJ_L2CACHE}, {"l3", HWLOC_OBJ_L3CACHE}};
    for (const auto& [name, type] : levels) {
      if (Json cache = cache_json(topology, type); !cache.is_null()) section[name] = std::move(cache);
    }
  }
  hwloc_topology_destroy(topology);
  return section;
}

#else

Json describe_topology() { return {{"source", "built without hwloc"}, {"pus", affinity_cpus().size()}}; }

#endif

}  // namespace shmemx::launcher
