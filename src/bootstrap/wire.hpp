// What oshrun and the PEs share: the environment of a PE, and the job header and records at the start of the node's
// arena file. Used by the library and the launcher; includes base only.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/cache_line.hpp"
#include "base/node_path.hpp"
#include "base/pe.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/awaited.hpp"

namespace shmemx::bootstrap {

// Environment of a PE started by oshrun. All four are set, or none.
inline constexpr char kEnvFd[] = "SHMEMX_JOB_FD";      // inherited descriptor of the arena file
inline constexpr char kEnvPe[] = "SHMEMX_JOB_PE";      // 0..size-1
inline constexpr char kEnvSize[] = "SHMEMX_JOB_SIZE";  // number of PEs
inline constexpr char kEnvId[] = "SHMEMX_JOB_ID";      // the header's job_id in hex: catches stale environments

// Variables that other launchers set. oshrun does not pass them on. A PE that finds one beside the four above was
// started by a launcher that runs inside a process of oshrun's job.
inline constexpr const char* kOtherLaunchers[] = {"PMI_FD",
                                                  "PMI_RANK",
                                                  "PMI_SIZE",
                                                  "MPI_LOCALNRANKS",
                                                  "PMIX_NAMESPACE",
                                                  "PMIX_RANK",
                                                  "FLUX_JOB_SIZE",
                                                  "SLURM_PROCID",
                                                  "SLURM_STEP_NUM_TASKS",
                                                  "SLURM_STEP_ID",
                                                  "OMPI_COMM_WORLD_SIZE"};

inline constexpr char kArenaName[] = "shmemx";                         // of the arena file, as mappings show it
inline constexpr std::uint64_t kJobMagic = 0x78'6d'65'6d'68'73'30'31;  // "10shmemx" backwards
inline constexpr std::uint32_t kWireVersion = 14;
inline constexpr int kMaxNodePes = 4096;  // of a node, that is of an arena
inline constexpr int kMaxPes = 1 << 24;   // of a job
inline constexpr std::size_t kForeignRecords = 16;
inline constexpr std::size_t kTableBytes = std::size_t{1} << 18;

enum class JobState : std::uint32_t {
  running = 0,
  global_exit = 1,  // some PE called shmem_global_exit with this status
  aborted = 2       // some PE printed a diagnostic and ended the job; the status is non-zero
};

// State, exit status and ending PE in one word, so that they are set together and only once. 0 while running.
struct JobEnd {
  JobState state;
  int status;  // of the job, 0..255
  int pe;      // that ended it

  constexpr std::uint64_t word() const {
    return static_cast<std::uint64_t>(state) | static_cast<std::uint64_t>(status & 0xff) << 8 |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(pe)) << 32;
  }
  static constexpr JobEnd of(std::uint64_t word) {
    return {static_cast<JobState>(word & 0xff), static_cast<int>(word >> 8 & 0xff), static_cast<int>(word >> 32)};
  }
};

enum class PePhase : std::uint32_t {
  none = 0,       // not started, or has not called shmem_init yet
  attached = 1,   // inside shmem_init
  running = 2,    // initialised
  finalized = 3,  // after the last shmem_finalize
  departed = 4,   // leaves the process without shmem_finalize, and has entered the implicit one
  ending = 5,     // ends the job by the status of its exit
  departing = 6   // to PEs of other nodes: as departed, but other threads of its program run
};

// First page of the arena file. Zero-filled by the kernel; the creator of the file sets job_id, n_pes, version and,
// last, magic.
struct JobHeader {
  std::atomic<std::uint64_t> magic;
  std::uint64_t job_id;
  std::uint32_t version;
  std::uint32_t n_pes;                        // of the job
  std::uint32_t n_node_pes;                   // of those, how many attach to this arena
  std::uint32_t n_places;                     // how many it has room for: those that were expected to attach
  std::uint32_t n_foreign;                    // foreign records in use
  std::int32_t foreign_pes[kForeignRecords];  // whose they are
  std::uint64_t secret[2];                    // of the job: PEs prove to each other that they know it
  std::uint64_t foreign_zones;                // zones that PEs of other arenas have free; set by the arena's lowest PE
  std::uint32_t networks_differ;  // 1: not all PEs of the job have the same networks; set by the arena's lowest PE
  std::atomic<std::uint32_t> init_error_printed;             // 1: a PE has printed why shmem_init_thread fails
  alignas(kCacheLine) std::atomic<std::uint32_t> arrived;    // PEs whose record is complete (bootstrap barrier)
  alignas(kCacheLine) std::atomic<std::uint64_t> end_word;   // how the job ends, see JobEnd; the first change counts
  alignas(kCacheLine) std::atomic<std::uint64_t> idle_wave;  // the last wave that has begun (bootstrap/stuck.hpp)
  std::atomic<std::uint32_t> reporter;     // 1 + the PE that is about to end the job, and reports why; 0: none
  std::atomic<std::uint64_t> reported_ns;  // when a PE last reported that it waits too long; 0: never
  alignas(kCacheLine) std::atomic<std::uint32_t> departed;  // PEs that are, or were, in phase `departed`
  // PEs of other arenas that have left, as far as this one knows: how many, and how many of them are in phase
  // `finalized`; one of them; and of the departed ones the one that has entered the fewest collectives (FirstDeparted):
  // of those that block, and of those that do not.
  std::atomic<std::uint32_t> foreign_left;
  std::atomic<std::uint32_t> foreign_finalized;
  std::atomic<std::int32_t> foreign_left_pe;
  std::atomic<std::uint64_t> foreign_departed;
  std::atomic<std::uint64_t> foreign_background;
  std::atomic<std::uint64_t> address_bytes;  // of other arenas' endpoint addresses that this one holds
  // Tables of the PEs of the job that other processes ask a PE of this arena for (bootstrap/table_request.hpp): numbers
  // of the latest request, of the latest that a PE has taken, and of the latest of which the lines are complete.
  alignas(kCacheLine) std::atomic<std::uint32_t> table_asked;
  std::atomic<std::uint32_t> table_taken;
  std::atomic<std::uint32_t> table_made;
  // Under a foreign launcher: a bit for each PE of the group that has opened this file, by its place in the group; the
  // maker reads them (kvs_bootstrap.cpp).
  alignas(kCacheLine) std::atomic<std::uint64_t> takers[kMaxNodePes / 64];
};
static_assert(sizeof(JobHeader) <= kPageBytes);

inline constexpr std::size_t kRoutineWords = 5;  // 40 characters
using RoutineWords = std::array<std::atomic<std::uint64_t>, kRoutineWords>;
inline constexpr std::size_t kAffinityWords = 16;  // 1024 CPUs

// A departed PE and the number of collectives of all PEs that it has entered, in a word that is less for fewer. 0:
// none.
struct FirstDeparted {
  static constexpr std::uint64_t word(int pe, std::uint64_t collectives) {
    return (collectives + 1) * static_cast<std::uint64_t>(kMaxPes) + static_cast<std::uint64_t>(pe);
  }
  static constexpr int pe(std::uint64_t word) { return static_cast<int>(word % static_cast<std::uint64_t>(kMaxPes)); }
  static constexpr std::uint64_t collectives(std::uint64_t word) {
    return word / static_cast<std::uint64_t>(kMaxPes) - 1;
  }
};

// What a PE says of itself while all of its threads wait (bootstrap/stuck.hpp). Its PE writes `wave` last.
struct IdleReport {
  std::atomic<std::uint64_t> wave;      // the threads have looked in vain since this wave began; 0: never
  std::atomic<std::uint64_t> state;     // digest of the waits of its threads: differs once one has moved
  std::atomic<std::uint64_t> sent;      // messages to PEs of other nodes in this arena
  std::atomic<std::uint64_t> executed;  // messages of these PEs
};

// What a PE knows about the static data of its executable.
enum class StaticDataState : std::uint32_t {
  found = 0,
  switched_off = 1,    // by the user
  threads = 2,         // a thread cannot be stopped while they are moved
  other_namespace = 3  // this library lies in another link namespace than the executable
};

// One for each PE of this arena, from the second page on, by its place: PEs count in the order of their numbers. Its PE
// writes it. Node peers and oshrun read it. Behind them are foreign ones, of PEs of other arenas whose settings matter
// here. The lowest PE of this arena writes those (runtime/record_exchange.hpp).
struct alignas(kCacheLine) PeRecord {
  std::atomic<std::uint32_t> phase;  // PePhase
  std::int32_t pid;
  std::uint64_t static_bytes;     // mapped static data, page-rounded
  std::uint64_t static_digest;    // layout of the executable's writable segments
  std::uint64_t heap_bytes;       // heap this PE asks for
  std::uint64_t address_limit;    // RLIMIT_AS of this PE, ~0 when unlimited
  std::uint64_t cpu_quota_milli;  // cgroup quota in thousandths of a core, ~0 when unlimited
  std::uint64_t affinity[kAffinityWords];
  char executable[64];        // tail of the path, for messages
  RoutineWords routine;       // see set_words
  NodePath node_path;         // this PE's wish
  std::uint8_t heap_asked;    // 1: heap_bytes comes from the user
  std::uint8_t checks;        // SHMEM_CHECK, as bits; must be the same on all PEs
  std::uint16_t node_order;   // SHMEMX_NODE_ORDER; must be the same on all PEs
  std::uint32_t queue_cells;  // must be the same on all PEs, as queue_cell_bytes
  std::uint32_t queue_cell_bytes;
  StaticDataState static_data;             // `found` on all PEs, or the static data of all stay private
  std::uint16_t pes_per_node;              // SHMEMX_PES_PER_NODE; must be the same on all PEs, as is `networks`
  std::uint16_t networks;                  // SHMEMX_TRANSPORT: numbers of names, four bits each, the first one lowest
  std::atomic<std::uint64_t> collectives;  // steps of collectives of all PEs that it has entered; set before `departed`
  std::atomic<std::uint64_t> background;   // collectives of all PEs begun that do not block; the same
  std::uint64_t pid_namespace;             // that `pid` belongs to; 0: unknown
  std::uint64_t has_liveness_lock;         // 1: the PE holds one (bootstrap/liveness.hpp)
  IdleReport idle;
  std::uint64_t free_zones;                     // of its address space (windows/heap_address.hpp)
  std::uint64_t heap_address;                   // set when the memory is mapped
  std::atomic<std::uint64_t> waiting_since_ns;  // of the clock now_ns(); 0: it does not wait
  std::atomic<std::uint64_t> call_site;  // where the program called what it waits in (base/call_site.hpp); 0: unknown
  std::atomic<std::uint64_t> refused_bytes;  // of its last allocation that failed; 0: none has
  std::atomic<std::uint64_t> refused_left;   // for how many bytes there was room then
  AwaitedWords awaited;                      // of the routine that it waits in
  std::atomic<std::uint64_t> heap_used;      // bytes of its heap that live blocks hold
  std::atomic<std::uint64_t> heap_limit;     // that they may hold; 0: there is no heap
  std::int32_t pe;                           // its number in the job
  // One more than the PE for which its last shmem_ptr that failed gave null, negative if the address was not symmetric;
  // 0: none has.
  std::atomic<std::int32_t> no_pointer_to;
};
static_assert(sizeof(PeRecord) == 512);

// What a PE says of a collective in which it waits for other members, and of the latest one that it may have left
// before others (runtime/matching.hpp). One for each PE of this arena, by its place.
struct alignas(kCacheLine) CollectiveWait {
  static constexpr std::size_t kLacking = 5;

  struct Team {
    std::atomic<std::uint64_t> index_and_size;
    std::atomic<std::uint64_t> start_and_stride;
  };
  // Of a team at an epoch.
  struct Call {
    Team team;
    std::atomic<std::uint64_t> epoch;  // 0: none
    std::atomic<std::uint64_t> call;
    std::atomic<std::uint64_t> digest;  // of all calls up to this one
  };

  std::atomic<std::uint64_t> turn;  // odd: what follows is valid; changes with each wait
  Call waiting;
  std::atomic<std::uint64_t> digest_before;
  Call passed;
  std::atomic<std::uint64_t> passed_site;
  RoutineWords passed_routine;
  // PEs whose collectives cannot complete without this PE, which has not entered them: the PE and its turn.
  std::atomic<std::uint64_t> lacking[kLacking];
  std::atomic<std::uint64_t> dest;         // of `waiting`, as all PEs name it; 0: not known
  std::atomic<std::uint64_t> passed_dest;  // of `passed`
  std::atomic<std::uint64_t> begun_site;   // of a collective in the background: where it was begun

  static constexpr std::uint64_t lacking_word(int pe, std::uint64_t turn) {
    return static_cast<std::uint64_t>(pe) << 40 | (turn & ((std::uint64_t{1} << 40) - 1));
  }
};
static_assert(sizeof(CollectiveWait) == 256);

// A loop of the program that tests a value, instead of waiting for it. One for each PE of this arena, by its place. Its
// PE writes it, at intervals.
struct alignas(kCacheLine) PollingLoop {
  RoutineWords routine;
  AwaitedWords awaited;
  std::atomic<std::uint64_t> since_ns;  // of the clock now_ns(), like the next one
  std::atomic<std::uint64_t> last_ns;   // of the latest test that was noted; 0: there has been none
  std::atomic<std::uint64_t> call_site;
};

struct RecordOfPe {
  int pe;
  const PeRecord* record;
};

enum class AddressState : std::uint32_t {
  unknown = 0,
  being_written = 1,
  known = 2  // never changes again
};

// The endpoint addresses of a PE of this arena, one for each of its transports (transport/transport.hpp), by its place.
// Its PE writes it.
struct alignas(kCacheLine) PeAddresses {
  static constexpr std::size_t kBytes = 1984;
  std::atomic<std::uint32_t> state;  // AddressState
  std::uint32_t bytes;
  std::uint32_t reserved[14];
  std::byte data[kBytes];
};
static_assert(sizeof(PeAddresses) == 2048);

// What the lowest PE of another arena has published about all of its PEs. The first PE that needs it reads it from the
// launcher (runtime/peer_addresses.hpp). By number of the arena.
struct ForeignAddresses {
  std::atomic<std::uint32_t> state;  // AddressState
  std::uint32_t bytes;
  std::uint64_t offset;  // in the area behind these
};
static_assert(sizeof(ForeignAddresses) == 16);
// In front of the endpoint addresses of each PE in what is published.
struct PublishedEntry {
  std::uint32_t pe;
  std::uint32_t address_bytes;
};
inline constexpr std::size_t kPublishedBytes = sizeof(PublishedEntry) + PeAddresses::kBytes;  // at most, for each PE

// The routine in which a PE waits; empty if it does not wait. Stored by words, since threads of the PE write it and
// others read it at any time. A mixture of two names does no harm: it is for diagnostics only.
using RoutineName = std::array<char, kRoutineWords * sizeof(std::uint64_t) + 1>;
inline void set_words(RoutineWords& routine, const char* name) {
  std::uint64_t words[kRoutineWords] = {};
  std::memcpy(words, name, std::min(std::strlen(name), sizeof words));
  for (std::size_t i = 0; i < kRoutineWords; ++i) routine[i].store(words[i], std::memory_order_relaxed);
}
inline RoutineName name_in(const RoutineWords& routine) {
  RoutineName name{};
  for (std::size_t i = 0; i < kRoutineWords; ++i) {
    const std::uint64_t word = routine[i].load(std::memory_order_relaxed);
    std::memcpy(name.data() + i * sizeof word, &word, sizeof word);
  }
  return name;
}
inline void set_routine(PeRecord& record, const char* name) { set_words(record.routine, name); }
inline RoutineName routine_of(const PeRecord& record) { return name_in(record.routine); }

inline PePhase phase_of(const PeRecord& record) {
  return static_cast<PePhase>(record.phase.load(std::memory_order_acquire));
}

// Returns whether a PE waits in shmem_init for PEs that have not come there.
inline bool waits_in_init(const JobHeader* header, const PeRecord& record) {
  if (phase_of(record) != PePhase::attached) return false;
  return header->arrived.load(std::memory_order_acquire) < header->n_node_pes;
}

// Where what describes the job lies in an arena of `n_places` PEs. What is behind the endpoint addresses grows with the
// job: the locations, 8 bytes a PE, and address space that is touched for PEs in contact only.
class JobLayout {
 public:
  constexpr JobLayout(std::size_t n_pes, std::size_t n_places) : n_pes_(n_pes), n_places_(n_places) {}

  static constexpr std::size_t records() { return kPageBytes; }
  constexpr std::size_t foreign_records() const { return records() + n_places_ * sizeof(PeRecord); }
  constexpr std::size_t collective_waits() const { return foreign_records() + kForeignRecords * sizeof(PeRecord); }
  constexpr std::size_t addresses() const {
    return round_up(collective_waits() + n_places_ * sizeof(CollectiveWait), kPageBytes);
  }
  constexpr std::size_t locations() const { return addresses() + n_places_ * sizeof(PeAddresses); }
  constexpr std::size_t foreign_phases() const {
    return round_up(locations() + n_pes_ * sizeof(PeLocation), kPageBytes);
  }
  constexpr std::size_t foreign_addresses() const {
    return round_up(foreign_phases() + n_pes_ * sizeof(std::uint32_t), kPageBytes);
  }
  constexpr std::size_t published() const {
    return round_up(foreign_addresses() + n_pes_ * sizeof(ForeignAddresses), kPageBytes);
  }
  constexpr std::size_t table_text() const { return round_up(published() + n_pes_ * kPublishedBytes, kPageBytes); }
  constexpr std::size_t polling_loops() const { return table_text() + kTableBytes; }
  constexpr std::size_t bytes() const {
    return round_up(polling_loops() + n_places_ * sizeof(PollingLoop), kPageBytes);
  }

 private:
  std::size_t n_pes_;
  std::size_t n_places_;
};

constexpr std::size_t header_bytes(std::size_t n_pes, std::size_t n_places) {
  return JobLayout(n_pes, n_places).bytes();
}

// These are valid while the first header_bytes() bytes of the file are mapped.
inline JobLayout layout_of(const JobHeader* header) { return {header->n_pes, header->n_places}; }
template <class T>
T* at_offset(JobHeader* header, std::size_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(header) + offset);
}
inline PeRecord* record_of(JobHeader* header, std::size_t place) {
  return at_offset<PeRecord>(header, JobLayout::records()) + place;
}
inline PeRecord* foreign_record_of(JobHeader* header, std::size_t number) {
  return at_offset<PeRecord>(header, layout_of(header).foreign_records()) + number;
}
inline CollectiveWait* collective_wait_of(JobHeader* header, std::size_t place) {
  return at_offset<CollectiveWait>(header, layout_of(header).collective_waits()) + place;
}
inline PeAddresses* addresses_of(JobHeader* header, std::size_t place) {
  return at_offset<PeAddresses>(header, layout_of(header).addresses()) + place;
}
// Where each PE of the job is. The lowest PE of the arena writes it at start-up.
inline PeLocation* locations_of(JobHeader* header) {
  return at_offset<PeLocation>(header, layout_of(header).locations());
}
// The PePhase that a PE of another arena has announced.
inline std::atomic<std::uint32_t>* foreign_phase_of(JobHeader* header, std::size_t pe) {
  return at_offset<std::atomic<std::uint32_t>>(header, layout_of(header).foreign_phases()) + pe;
}
inline ForeignAddresses* foreign_addresses_of(JobHeader* header, std::size_t node) {
  return at_offset<ForeignAddresses>(header, layout_of(header).foreign_addresses()) + node;
}
inline PollingLoop* polling_loop_of(JobHeader* header, std::size_t place) {
  return at_offset<PollingLoop>(header, layout_of(header).polling_loops()) + place;
}
// Lines of a table, each with a newline; ends in a zero.
inline char* table_text_of(JobHeader* header) { return at_offset<char>(header, layout_of(header).table_text()); }
inline std::byte* published_at(JobHeader* header, std::size_t offset) {
  return at_offset<std::byte>(header, layout_of(header).published()) + offset;
}

// Returns 64 unpredictable bits, never 0: names of jobs, and nonces of the hand-over of the arena.
std::uint64_t random_id();

// The header of a new arena file.
struct NewJob {
  std::uint32_t n_pes;
  std::uint32_t n_node_pes;  // that are expected to attach
  std::uint64_t job_id;
  std::uint64_t secret[2];
};
// Creates the node's arena file: anonymous, close-on-exec, header_bytes() long, header filled, magic last. It is a
// memfd, or, if the kernel refuses that, an unlinked file in /dev/shm, $TMPDIR or /tmp.
Result<UniqueFd> create_job_file(const NewJob& job);
// Of a job on one node, with a new secret.
Result<UniqueFd> create_job_file(std::uint32_t n_pes, std::uint64_t job_id);

// Gives the arena file its size. Checks RLIMIT_FSIZE first: growing or writing a file past it would end the process by
// SIGXFSZ.
Status size_job_file(int fd, std::size_t bytes);

// Returns by how many bytes the file may grow in its file system; kUnlimited for a memfd.
std::uint64_t file_room_bytes(int fd) noexcept;
// Returns the directory of an arena file that is no memfd; empty for a memfd, or if /proc does not tell.
std::string directory_of_file(int fd);

// By what the arena of a job is known: found in a file that is one.
struct JobName {
  std::uint32_t n_pes;
  std::uint64_t job_id;
};
// Returns false if the file is no arena.
bool read_job_name(int fd, JobName& name);

// Maps header and records of an arena file. Fails with Errc::protocol if the file has another job's id or size.
Result<JobHeader*> map_job_header(int fd, std::uint32_t n_pes, std::uint64_t job_id);
void unmap_job_header(JobHeader* header);

}  // namespace shmemx::bootstrap
