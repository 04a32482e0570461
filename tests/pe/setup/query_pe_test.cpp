// Queries: version, name, accessibility, pointers, the profiling control, old names (sections 9.1 and 10).
#include <pshmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

long global_word;

}  // namespace

PE_TEST(all_names_agree_on_the_numbering) {
  CHECK(me() >= 0 && me() < pes());
  CHECK_EQUAL(_my_pe(), me());
  CHECK_EQUAL(_num_pes(), pes());
  CHECK_EQUAL(pshmem_my_pe(), me());
  CHECK_EQUAL(pshmem_n_pes(), pes());
  Symmetric<int> seen(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) shmem_int_atomic_inc(&seen[static_cast<std::size_t>(me())], pe);
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(seen[static_cast<std::size_t>(pe)], 1);
}

PE_TEST(names_that_no_other_library_has) {
  CHECK_EQUAL(shmemx_my_pe(), me());
  CHECK_EQUAL(shmemx_n_pes(), pes());
  CHECK_EQUAL(shmemx_node_n_pes(), shmem_team_n_pes(SHMEM_TEAM_SHARED));
  for (int pe = -1; pe <= pes(); ++pe)
    CHECK_EQUAL(shmemx_node_pe(pe), shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED));
  int provided = -1;
  int level = -2;
  shmem_query_thread(&level);
  CHECK_EQUAL(shmemx_is_initialized(), 1);
  CHECK_EQUAL(shmemx_init_thread(level, &provided), 0);  // each start has its end
  CHECK_EQUAL(provided, level);
  shmemx_finalize();
  CHECK_EQUAL(shmemx_is_initialized(), 1);
}

PE_TEST(the_route_to_a_pe_agrees_with_its_mapping) {
  const Symmetric<long> word;
  for (int pe = 0; pe < pes(); ++pe) {
    char route[200] = "";
    const std::size_t length = shmemx_route(pe, route, sizeof route);
    CHECK_EQUAL(shmemx_route(pe, nullptr, 0), length);
    const std::string text = route;
    CHECK_EQUAL(text.size(), std::min(length, sizeof route - 1));
    const std::string word_of_it = text.substr(0, text.find(':'));
    CHECK_EQUAL(word_of_it == "itself", pe == me());
    CHECK_EQUAL(word_of_it == "mapped", pe != me() && shmem_ptr(word.get(), pe) != nullptr);
    if (pe != me() && shmem_ptr(word.get(), pe) == nullptr) {  // the queue within a node, else a network
      const char* const network = std::getenv("SHMEMX_TRANSPORT");
      if (word_of_it == "queue") {
        CHECK(std::getenv("SHMEMX_NODE_PATH") != nullptr);
      } else if (network != nullptr) {
        CHECK(std::string(network).find(word_of_it) != std::string::npos);
      } else {
        CHECK(word_of_it == "tcp" || word_of_it == "ucx" || word_of_it == "ofi" || word_of_it == "ethernet");
      }
    }
    char cut[4] = "###";
    CHECK_EQUAL(shmemx_route(pe, cut, sizeof cut), length);
    CHECK_EQUAL(std::string(cut), text.substr(0, 3));
  }
}

PE_TEST(version_and_name_match_the_macros) {
  for (const auto& get_version : {shmem_info_get_version, pshmem_info_get_version}) {
    int major = 0, minor = 0;
    get_version(&major, &minor);
    CHECK_EQUAL(major, SHMEM_MAJOR_VERSION);
    CHECK_EQUAL(minor, SHMEM_MINOR_VERSION);
    CHECK_EQUAL(major * 100 + minor, 106);
  }
  for (const auto& get_name : {shmem_info_get_name, pshmem_info_get_name}) {
    char name[SHMEM_MAX_NAME_LEN + 1];
    std::memset(name, 'x', sizeof name);
    get_name(name);
    CHECK_EQUAL(std::string(name, strnlen(name, SHMEM_MAX_NAME_LEN)), SHMEM_VENDOR_STRING);
    CHECK_EQUAL(name[SHMEM_MAX_NAME_LEN], 'x');
  }
}

PE_TEST(accessibility_of_pes_and_addresses) {
  Symmetric<long> heap;
  for (const auto& accessible : {shmem_pe_accessible, pshmem_pe_accessible}) {
    for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(accessible(pe), 1);
    CHECK_EQUAL(accessible(-1), 0);
    CHECK_EQUAL(accessible(pes()), 0);
    CHECK_EQUAL(accessible(0x7fffffff), 0);
  }
  long local = 0;
  for (const auto& accessible : {shmem_addr_accessible, pshmem_addr_accessible}) {
    for (int pe = 0; pe < pes(); ++pe) {
      CHECK_EQUAL(accessible(heap.get(), pe), 1);
      CHECK_EQUAL(accessible(&global_word, pe), 1);
      CHECK_EQUAL(accessible(&local, pe), 0);
    }
    CHECK_EQUAL(accessible(heap.get(), pes()), 0);
    CHECK_EQUAL(accessible(heap.get(), -1), 0);
  }
}

PE_TEST(pointers_to_peers_load_and_store) {
  Symmetric<long> heap(2);
  heap[0] = 100 + me();
  shmem_barrier_all();
  for (const auto& pointer : {shmem_ptr, pshmem_ptr}) {
    for (int pe = 0; pe < pes(); ++pe) {
      auto* const there = static_cast<long*>(pointer(heap.get(), pe));
      if (there != nullptr) CHECK_EQUAL(*there, 100 + pe);  // section 9.1.9: null if the memory is not mapped
      CHECK_EQUAL(shmem_long_g(heap.get(), pe), 100 + pe);
    }
    CHECK(pointer(heap.get(), me()) == static_cast<void*>(heap.get()));
    long local = 0;
    CHECK(pointer(&local, right()) == nullptr);
  }
  if (void* const there = shmem_ptr(&heap[1], right()))
    *static_cast<volatile long*>(there) = 7 + me();
  else
    shmem_long_p(&heap[1], 7 + me(), right());
  shmem_barrier_all();
  CHECK_EQUAL(heap[1], 7 + left());
}

PE_TEST(the_library_reports_itself_initialised) {
  for (const auto& query : {shmem_query_initialized, pshmem_query_initialized}) {
    int initialised = 0;
    query(&initialised);
    CHECK(initialised != 0);
  }
  for (const auto& query : {shmem_query_thread, pshmem_query_thread}) {
    int level = -1;
    query(&level);
    CHECK(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE);
  }
  CHECK(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
        SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE);
}

// Section 10.1.1: the library ignores the call, whatever the level and the arguments.
PE_TEST(pcontrol_is_accepted) {
  for (const int level : {0, 1, 2, 17, -3}) {
    shmem_pcontrol(level);
    pshmem_pcontrol(level, "argument", 3.5, &global_word);
  }
  CHECK_EQUAL(shmem_my_pe(), me());
}
