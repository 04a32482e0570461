// The rivals: the same questions put to a bare TCP connection between PE 0 and its partner. The library is not called
// meanwhile; its agents sleep. All PEs call them, those that have no part return at once.
#pragma once

#include "cases.hpp"
#include "raw_socket.hpp"

namespace shmemx::bench {

// As long as what the library may need for a put of 8 bytes: 40 bytes; as many in one send.
constexpr std::size_t kRecordBytes = 40;
constexpr std::size_t kRecordsAtOnce = 4096;

// The first PE of the second half: with the hosts filled one after the other it lives elsewhere.
inline int raw_partner(const Work& work) { return work.pes / 2; }

// Connects PE 0 and its partner; called by all PEs, as often as one likes.
void connect_raw(Work& work);

void raw_pingpong(Work& work, long iterations);    // `work.bytes` there and back
void raw_round_trip(Work& work, long iterations);  // 8 bytes there and back, whatever the case moves
void raw_records(Work& work, long iterations);     // kBurst records, an answer of 8 bytes at the end of all
void raw_stream_out(Work& work, long iterations);  // `work.bytes` to the partner each time, answered at the end of all
void raw_stream_in(Work& work, long iterations);   // `work.bytes` from the partner each time
void raw_fetch(Work& work, long iterations);       // 8 bytes there, `work.bytes` back

}  // namespace shmemx::bench
