// The strict provider of tests/support ends a program that uses more than it was granted.
#include <rdma/fi_errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <thread>

#include "ofi_strict_node.hpp"
#include "unit/support/child.hpp"

BOOST_AUTO_TEST_SUITE(ofi_strict_violation)

namespace {

using namespace strict_test;

constexpr int kAborted = 128 + SIGABRT;

// Checks that the function, in a child, ends with abort() and a line with this text.
template <class Run>
void check_abort(const char* text, Run run) {
  const auto end = shmemx::unit::in_child([&] {
    ::signal(SIGABRT, SIG_DFL);
    run();
    return 0;
  });
  const std::size_t line = end.text.rfind("shmemxtest: ");  // behind warnings of libfabric
  const bool is_expected = end.status == kAborted && line != std::string::npos &&
                           end.text.find(text, line) != std::string::npos && end.text.ends_with('\n');
  BOOST_CHECK_MESSAGE(is_expected, "expected: " << text << "; got status " << end.status << ": " << end.text);
}

// The same for a function of a node that is connected to itself.
template <class Run>
void check_node(const char* text, const Options& options, Run run) {
  check_abort(text, [&] {
    Node node(options);
    node.connect_to_itself();
    run(node);
  });
}

// Starts libfabric, which takes a while, once for all children.
struct Start {
  Start() { fi_freeinfo(get_info({}, 0, FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)); }
};
BOOST_TEST_GLOBAL_FIXTURE(Start);

ssize_t write(Node& node, std::size_t to, std::size_t bytes, std::uint64_t key) {
  void* const mark = node.context();
  return node.post(
      [&] { return fi_write(node.ep, node.at(0), bytes, node.descriptor(), node.peer, node.remote + to, key, mark); });
}

ssize_t send_from(Node& node, void* from, std::size_t bytes, void* descriptor) {
  void* const mark = node.context();
  return node.post([&] { return fi_send(node.ep, from, bytes, descriptor, node.peer, mark); });
}

void write_much(Node& node) {
  for (int i = 0; i < 16; ++i) node.write(0, 4096, 64);
}

}  // namespace

BOOST_AUTO_TEST_CASE(local_memory_must_be_registered_where_the_mode_requires_it) {
  static char unregistered[64];
  check_node("fi_send: 8 bytes at ", {.mode = "efa"}, [](Node& node) { send_from(node, unregistered, 8, nullptr); });
  check_node("are not in the", {.mode = "efa"},
             [](Node& node) { send_from(node, unregistered, 8, node.descriptor()); });
  check_node("are not in the", {.mode = "efa"},
             [](Node& node) { send_from(node, node.at(kMemoryBytes - 4), 8, node.descriptor()); });
  check_node("is needed", {.mode = "efa", .access = FI_RECV | FI_REMOTE_WRITE},
             [](Node& node) { send_from(node, node.at(0), 8, node.descriptor()); });
}

BOOST_AUTO_TEST_CASE(remote_memory_needs_a_valid_key) {
  for (const char* mode : {"plain", "cxi", "psm3", "verbs"}) {
    check_node("is not registered at the target", {.mode = mode}, [](Node& node) { write(node, 0, 8, node.key + 1); });
    check_node("are outside of the key's", {.mode = mode},
               [](Node& node) { write(node, kMemoryBytes - 4, 8, node.key); });
    check_node("does not allow FI_REMOTE_WRITE", {.mode = mode, .access = FI_REMOTE_READ | FI_WRITE},
               [](Node& node) { write(node, 0, 8, node.key); });
  }
  check_node("fi_mr_map_raw", {.mode = "raw"}, [](Node& node) { write(node, 0, 8, node.key + 1); });
}

BOOST_AUTO_TEST_CASE(a_key_ends_with_its_registration) {
  check_node("or no longer", {}, [](Node& node) {
    const std::uint64_t old = node.key;
    node.close_memory();
    node.register_memory(kAllAccess);
    write(node, 0, 8, old);
  });
}

BOOST_AUTO_TEST_CASE(a_registration_of_an_endpoint_must_be_enabled) {
  check_node("is not registered at the target", {.mode = "cxi"}, [](Node& node) {
    fid_mr* other = nullptr;
    fi_mr_reg(node.domain, node.at(0), 64, kAllAccess, 0, 99, 0, &other, nullptr);
    write(node, 0, 8, 99);
  });
}

BOOST_AUTO_TEST_CASE(buffers_in_use_must_not_be_touched) {
  check_node("was changed before the operation ended", {}, [](Node& node) {
    write_much(node);
    *node.at(10) = std::byte{1};
    node.wait_for(16);
  });
  check_node("was changed before the operation ended", {}, [](Node& node) {
    for (std::size_t i = 0; i < 16; ++i) node.read(4096 + i * 64, 0, 64);
    for (std::size_t i = 0; i < 16; ++i) *node.at(4096 + i * 64 + 10) = std::byte{1};
    node.wait_for(16);
  });
  check_node("the posted buffer at", {}, [](Node& node) {
    node.receive(4096, 1024);
    *node.at(4100) = std::byte{1};
    node.send(0, 64);
    node.wait_for(2);
  });
}

BOOST_AUTO_TEST_CASE(contexts_belong_to_the_provider_where_the_mode_says_so) {
  static fi_context2 context;
  const auto write_with = [](Node& node, void* mark) {
    return node.post([&] {
      return fi_write(node.ep, node.at(0), 8, node.descriptor(), node.peer, node.remote + 64, node.key, mark);
    });
  };
  check_node("the context is null", {.mode = "psm3"}, [&](Node& node) { write_with(node, nullptr); });
  check_node("belongs to another operation", {.mode = "psm3"}, [&](Node& node) {
    write_with(node, &context);
    write_with(node, &context);
  });
  check_node("the memory of the context", {.mode = "psm3"}, [&](Node& node) {
    write_with(node, &context);
    context.internal[7] = nullptr;
    node.wait_for(1);
  });
}

BOOST_AUTO_TEST_CASE(limits_of_fi_info_hold) {
  check_node("fi_inject: 257 bytes to inject, inject_size is 256", {},
             [](Node& node) { fi_inject(node.ep, node.at(0), 257, node.peer); });
  check_node("2 local and 0 remote parts, 1 and 1 are allowed", {.mode = "cxi"}, [](Node& node) {
    const iovec parts[2] = {{node.at(0), 8}, {node.at(8), 8}};
    fi_sendv(node.ep, parts, nullptr, 2, node.peer, node.context());
  });
  check_node("max_msg_size is 131072", {.mode = "verbs"}, [](Node& node) { write(node, 0, 131'073, node.key); });
  check_node("FI_MULTI_RECV is not granted", {.caps = FI_MSG | FI_RMA},
             [](Node& node) { node.receive(0, 4096, FI_MULTI_RECV); });
  check_node("FI_FENCE is not granted", {}, [](Node& node) { node.write(0, 4096, 8, FI_FENCE); });
  check_node("without this capability", {.caps = FI_MSG | FI_MULTI_RECV},
             [](Node& node) { write(node, 0, 8, node.key); });
}

BOOST_AUTO_TEST_CASE(objects_are_closed_in_order) {
  check_node("endpoints of the completion queue are open", {}, [](Node& node) { fi_close(&node.cq->fid); });
  check_node("endpoints of the address vector are open", {}, [](Node& node) { fi_close(&node.av->fid); });
  check_node("objects of the domain are open", {}, [](Node& node) { fi_close(&node.domain->fid); });
  check_node("objects of the fabric are open", {}, [](Node& node) { fi_close(&node.fabric->fid); });
  check_node("bound to the endpoint are open", {.mode = "cxi"}, [](Node& node) { fi_close(&node.ep->fid); });
  check_node("is in use by", {.mode = "efa"}, [](Node& node) {
    node.receive(0, 64);
    node.close_memory();
  });
}

BOOST_AUTO_TEST_CASE(an_endpoint_must_be_enabled_and_addresses_be_genuine) {
  check_abort("fi_recv: the endpoint is not enabled", [] {
    Node node({.is_enabled = false});
    fi_recv(node.ep, node.at(0), 64, nullptr, FI_ADDR_UNSPEC, node.context());
  });
  check_abort("is not one of fi_getname", [] {
    Node node;
    Place place = node.place();
    place.name[9] = static_cast<char>(place.name[9] + 1);
    node.connect(place);
  });
  check_node("is no address of the address vector", {},
             [](Node& node) { fi_inject(node.ep, node.at(0), 8, node.peer + 1); });
}

BOOST_AUTO_TEST_CASE(registered_memory_must_be_there) {
  check_node("are not mapped, FI_MR_ALLOCATED requires it", {}, [](Node& node) {
    fid_mr* other = nullptr;
    ::munmap(node.at(4096), 4096);
    fi_mr_reg(node.domain, node.at(0), 16'384, kAllAccess, 0, 99, 0, &other, nullptr);
  });
}

BOOST_AUTO_TEST_CASE(threads_keep_the_granted_model) {
  // A thread is held inside of fi_cq_read: the buffer cannot be written, and the handler does not return.
  static fid_cq* queue;
  static fi_cq_data_entry entry;
  const auto enter_twice = [] {
    Node node({.threading = FI_THREAD_DOMAIN});
    node.connect_to_itself();
    queue = node.cq;
    ::signal(SIGSEGV, [](int) {
      std::thread([] { fi_cq_read(queue, &entry, 1); }).detach();
      ::sleep(10);
      ::_exit(0);
    });
    node.write(0, 4096, 64);
    void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (true) fi_cq_read(node.cq, page, 1);
  };
  check_abort("against the threading model", enter_twice);

  const auto read_at_once = [] {
    Node node({.threading = FI_THREAD_SAFE});
    const auto run = [&node] {
      fi_cq_data_entry read;
      for (int i = 0; i < 100'000; ++i) fi_cq_read(node.cq, &read, 1);
    };
    std::thread other(run);
    run();
    other.join();
    return 0;
  };
  BOOST_CHECK_EQUAL(shmemx::unit::in_child(read_at_once).status, 0);
}

BOOST_AUTO_TEST_SUITE_END()
