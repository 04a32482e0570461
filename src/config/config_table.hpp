// Every variable that the library reads, one row each. The parser, SHMEM_INFO, shmem_info and docs/config.md are made
// from this table, so each name, default and meaning is written once.
//
// A kind (kinds.hpp) defines the grammar of the values and the C++ type of the member of Config. Defaults follow the
// same grammar and are checked at compile time. "auto" becomes std::nullopt or `automatic`; the layer that knows the
// machine then decides.
#pragma once

// clang-format off
// Everyday: what most users change. SHMEM_INFO=1 and shmem_info show this group.
//  member          kind          variable                 default  text
#define SHMEMX_CONFIG_EVERYDAY_TABLE(X) \
  X(symmetric_size, bytes,        "SHMEM_SYMMETRIC_SIZE",  "auto",  "Symmetric heap of each PE. auto: as much as this machine can back, 64 MiB under valgrind; pages are taken on first touch.") \
  X(debug,          presence,     "SHMEM_DEBUG",           "unset", "Print debug messages, among them why an allocation failed.") \
  X(info,           info_level,   "SHMEM_INFO",            "unset", "PE 0 prints these variables and those that are set, with the values in force at start. all: every variable with its meaning; 2: also the routes to the other PEs, why other routes are not used, and at the end the connections to some of them, the share of a second link, how small operations to other nodes have gathered, and the frames of the network ethernet by their fate; peers: the routes alone.") \
  X(version,        presence,     "SHMEM_VERSION",         "unset", "PE 0 prints the version of the library at start.") \
  X(wait,           wait_choice,  "SHMEM_WAIT",            "auto",  "How a blocked PE waits. auto: spin, then yield, then sleep; spin: never give up the core; block: sleep soon.") \
  X(backtrace,      presence,     "SHMEM_BACKTRACE",       "unset", "A PE that dies of a fault or of abort() prints the calls that led there. Handlers that the program installs later replace this.") \
  X(trap_on_abort,  flag,         "SHMEM_TRAP_ON_ABORT",   "0",     "A PE that ends the job by a line of the library raises SIGTRAP afterwards: a debugger stops there, and without one there is a core dump where those are on (ulimit -c).") \
  X(attach_on_abort, flag,        "SHMEMX_ATTACH_ON_ABORT", "0",    "A PE that is about to end the job by a line of the library, or with SHMEM_BACKTRACE by a fault or abort(), prints the command that attaches gdb, and waits until that has been done. oshrun --attach-on-abort sets it.") \
  X(stats,          flag,         "SHMEM_STATS",           "0",     "Count what all PEs do, and print it at the end: operations and bytes by kind and path, from which PE to which, and the time in calls that wait. The same on all PEs.") \
  X(trace,          file_name,    "SHMEM_TRACE",           "unset", "Write a trace of all PEs to this file: puts, gets, atomics, messages, collectives and waits with times, in the format that Perfetto and speedscope open. Parts of nodes that PE 0 cannot read, and those of a job that crashes, stay beside it as FILE.node0 and so on; shmem_trace_join makes the trace of them. The same on all PEs.") \
  X(check,          checks,       "SHMEM_CHECK",           "0",     "Looks for mistakes of the program that end with wrong data (docs/checking.md). 1: all of them; or some: heap (use after free, writes beyond a block), overlap (of source and dest), pending (buffers of operations that are not complete), leaks. Operations are slower. The same on all PEs.") \
  X(watchdog,       watchdog,     "SHMEM_WATCHDOG",        "unset", "Seconds that a PE may wait in one call before it reports what all PEs of its node do, and again after the same time; with :abort the job then ends.") \
  X(init_errors,    error_choice, "SHMEM_INIT_ERRORS",     "abort", "What shmem_init_thread does when it fails. abort: end the job; return: return a nonzero value.") \
  X(warn_unknown,   flag,         "SHMEMX_WARN_UNKNOWN",   "1",     "Warn of SHMEM variables that are unknown or misspelled.") \
  X(huge_pages,     page_choice,  "SHMEMX_HUGE_PAGES",     "auto",  "Huge pages for the symmetric heap. auto: ask the kernel and go on without; always: warn when there are none; never: do not ask.") \
  X(static_data,    flag,         "SHMEMX_STATIC_DATA",    "1",     "Make globals and statics of the executable symmetric. 0: they stay private to each PE.")

// How PEs of other nodes are reached.
#define SHMEMX_CONFIG_NETWORK_TABLE(X) \
  X(progress,       progress_choice, "SHMEMX_PROGRESS",    "auto",  "A helper thread that handles messages while the PE computes. auto: if messages are the only path to this PE; on: in every job; off: never, messages wait for a call of the library; on all PEs or on none.") \
  X(transport,      networks,     "SHMEMX_TRANSPORT",      "auto",  "Networks between nodes, separated by commas, in order of preference: tcp, ucx, ofi, ethernet. Each pair of PEs uses the first one that works for both. auto: with RDMA devices ofi, ucx, tcp where one is of efa or cxi, else ucx, ofi, tcp; without any tcp. The same on all PEs.") \
  X(pes_per_node,   node_pes,     "SHMEMX_PES_PER_NODE",   "0",     "Treats the PEs of a machine as nodes of at most this number of PEs, which communicate through the network. 0: a node is a machine. The same on all PEs.") \
  X(net_timeout,    seconds,      "SHMEMX_NET_TIMEOUT",    "30",    "Seconds of silence after which a PE of another node counts as lost, which ends the job.") \
  X(net_rma,        net_rma_choice, "SHMEMX_NET_RMA",      "auto",  "Whether long puts and gets between nodes use the network's own RMA instead of messages that the target executes. auto: if the network has it in hardware, which a probe at the first access shows where the network's name does not say; on: also in software (ucx, ofi); off: never. Both PEs of a pair must allow it.") \
  X(registration_cache, cache_limit, "SHMEMX_REGISTRATION_CACHE", "1g", "Memory of freed windows that stays registered with networks whose RMA is used, so that the next window over it costs no registration. What was used longest ago ends first, and what the program unmaps is not used again. 0: none. Applies to private memory of the program, if SHMEMX_PROGRESS is not off.") \
  X(net_mac,        switch_choice, "SHMEMX_NET_MAC",       "off",   "Whether all that travels on connections of the network tcp carries keyed hashes, so that whoever can alter packets cannot alter data; an altered connection ends the job. ethernet has them always. The same on all PEs.") \
  X(eth_interface,  interface_names, "SHMEMX_ETH_INTERFACE", "auto", "The interfaces of the network ethernet. auto: the first Ethernet interface with a link, those of devices before virtual ones, those with an address before others, and if it has an address, up to three more of the same kind with an address and no smaller MTU; the loopback device in a job on one machine. Each pair of PEs uses one of each, and others when that fails. At least one of each host must belong to a segment that all have in common.") \
  X(eth_mtu,        frame_mtu,    "SHMEMX_ETH_MTU",        "auto",  "Bytes of the longest frame of the network ethernet, without its Ethernet header. auto: the MTU of the interface, at most 9000. A pair of PEs uses the smaller one of both.") \
  X(eth_block_packets, block_count, "SHMEMX_ETH_BLOCK_PACKETS", "32", "Packets of a long payload that are requested at once on the network ethernet.") \
  X(eth_blocks,     block_count,  "SHMEMX_ETH_BLOCKS",     "4",     "Such requests that are outstanding for one peer at first; up to 8 times as many where no frames are lost.") \
  X(eth_resend_us,  resend_time,  "SHMEMX_ETH_RESEND_US",  "1000",  "Microseconds after which an unacknowledged frame of the network ethernet is sent again at the earliest. It is longer if measured round trips are.") \
  X(pending_max,    memory_limit, "SHMEMX_PENDING_MAX",    "64m",   "Memory limit of a PE for deferred messages; exceeding it ends the job.")

// Sizes, times and paths that are chosen for the machine: to measure what another choice costs.
#define SHMEMX_CONFIG_MEASURING_TABLE(X) \
  X(copy_large,     bytes,        "SHMEMX_COPY_LARGE",     "auto",  "Size from which contiguous blocks are copied by loops of vector instructions instead of the C library. auto: 1 KiB.") \
  X(copy_stream,    bytes,        "SHMEMX_COPY_STREAM",    "auto",  "Size from which contiguous blocks are copied past the caches. auto: a third of the last cache, 4 MiB if that is unknown or above 64 MiB.") \
  X(spin_ns,        nanoseconds,  "SHMEMX_SPIN_NS",        "auto",  "How long a waiting PE spins before it yields. auto: short when PEs outnumber the usable cores.") \
  X(yield_us,       microseconds, "SHMEMX_YIELD_US",       "auto",  "How long a waiting PE yields before it sleeps. It does not yield if a program that computes shares its core. auto: not at all with more than 16 PEs on each usable core.") \
  X(sleep_max_us,   microseconds, "SHMEMX_SLEEP_MAX_US",   "auto",  "Longest single sleep of a waiting PE. auto: 1 ms, in waits of more than 128 ms a 128th of their time so far up to 10 ms, with more than 16 PEs on each usable core 0.2 ms for each of them.") \
  X(node_path,      path_choice,  "SHMEMX_NODE_PATH",      "auto",  "How PEs of a node access each other's memory. direct: every PE maps all of it; queue: each PE maps its own memory only and executes the messages of others; auto: direct if the address space has room. A setting of one PE applies to all; direct and queue exclude each other.") \
  X(queue_cells,    cell_count,   "SHMEMX_QUEUE_CELLS",    "64",    "Message cells of each PE. The same on all PEs.") \
  X(queue_cell_bytes, cell_size,  "SHMEMX_QUEUE_CELL_BYTES", "8k", "Size of a message cell; longer messages take several. The same on all PEs.") \
  X(window_path,    window_path_choice, "SHMEMX_WINDOW_PATH", "auto", "The path to attached windows of other PEs. mapped: load and store; cma: process_vm_readv and process_vm_writev; messages: the owner executes; auto: the first of them that is possible. Operations that a path does not support use messages. The same on all PEs.") \
  X(lmt,            lmt_choice,   "SHMEMX_LMT",            "auto",  "How long two-sided messages are copied. mapped: one copy if memory is mapped; cma: by the kernel; copy: through a shared buffer; queue: in cells. If the selected one is not possible, in cells. The same on all PEs.") \
  X(trace_events,   event_count,  "SHMEMX_TRACE_EVENTS",   "65536", "The last calls and waits of each PE that a trace holds, rounded up to a power of two; 64 bytes each in the file of the node. The same on all PEs.") \
  X(unexpected_max, memory_limit, "SHMEMX_UNEXPECTED_MAX", "1g",    "Memory limit of a PE for two-sided messages without a matching receive; exceeding it ends the job.") \
  X(tasks_max,      memory_limit, "SHMEMX_TASKS_MAX",      "1g",    "Memory limit of a PE for tasks that are queued here, or that are still to be sent; exceeding it ends the job.")

// For tests: they show a job something that is not so, or leave a part of the design out.
#define SHMEMX_CONFIG_TEST_TABLE(X) \
  X(node_order,     node_order_choice, "SHMEMX_NODE_ORDER", "block", "How SHMEMX_PES_PER_NODE deals out PEs. block: PEs of a node follow each other; cyclic: to the nodes in turn; mixed: in no order, the same in each job. The same on all PEs.") \
  X(synthetic_world, synthetic_world, "SHMEMX_SYNTHETIC_WORLD", "unset", "Claims that the job of oshrun is part of a much larger one: PEs of the named nodes are real, in equal shares, all others do not exist. They take part in nothing, and contact with one of them ends the job. The same on all PEs.") \
  X(net_bypass,     flag,         "SHMEMX_NET_BYPASS",     "1",     "Short messages to other nodes leave at once. 0: they wait until the PE polls the network the next time, or its progress thread does, as behind a queue of messages to be sent.") \
  X(tcp_one_read,   flag,         "SHMEMX_TCP_ONE_READ",   "1",     "tcp reads headers and payloads together, of several messages if they are there. 0: first a header, then the rest of its message.") \
  X(tasks_gather,   flag,         "SHMEMX_TASKS_GATHER",   "1",     "Short tasks gather in one message while earlier ones are under way. 0: each is a message of its own.") \
  X(alltoall_mesh,  bytes,        "SHMEMX_ALLTOALL_MESH",  "auto",  "Longest block of an alltoall in the background that is passed on in log2 rounds; longer ones go from each PE to each. 0: all do. auto: 512, with up to 4 PEs 0; where PEs share nodes, leaders combine. The same on all PEs.") \
  X(collect_leaders, bytes,       "SHMEMX_COLLECT_LEADERS", "auto", "Longest result of fcollect and collect between nodes that leaders exchange for their nodes. 0: none. auto: 32 KiB where that saves messages, with SHMEMX_COLLECT_GROUP none. The same on all PEs.") \
  X(collect_group,  node_pes,     "SHMEMX_COLLECT_GROUP",  "0",     "Longer ones go from each PE to one PE of every other node: in groups of at most this number of nodes, and from group to group round a ring (k-prefix), if all nodes have as many members. 0: directly. The same on all PEs.") \
  X(receive_bypass, flag,         "SHMEMX_RECEIVE_BYPASS", "1",     "A blocking receive looks at its sender's box itself, and its message is matched before all others. 0: it is queued as every other receive.")

#define SHMEMX_CONFIG_TABLE(X) \
  SHMEMX_CONFIG_EVERYDAY_TABLE(X) SHMEMX_CONFIG_NETWORK_TABLE(X) SHMEMX_CONFIG_MEASURING_TABLE(X) SHMEMX_CONFIG_TEST_TABLE(X)

// Alternative names of a row, in order of precedence; the row's own name precedes all of them.
//   standard     deprecated by OpenSHMEM but still part of it: accepted silently
//   widespread   used by other implementations: accepted with one warning that names the right one
//  member          name                         standing
#define SHMEMX_CONFIG_ALIASES(X) \
  X(symmetric_size, "SMA_SYMMETRIC_SIZE",        standard) \
  X(debug,          "SMA_DEBUG",                 standard) \
  X(info,           "SMA_INFO",                  standard) \
  X(version,        "SMA_VERSION",               standard) \
  X(symmetric_size, "SHMEM_SYMMETRIC_HEAP_SIZE", widespread) \
  X(symmetric_size, "XT_SYMMETRIC_HEAP_SIZE",    widespread)
// clang-format on
