// The rivals: the same cases on a bare TCP connection between PE 0 and its partner, or on bare frames with
// SHMEMX_TRANSPORT=ethernet. The library is not called
// meanwhile; its agents sleep. All PEs call them; PEs without a part return at once.
#pragma once

#include "cases.hpp"
#include "raw_link.hpp"

namespace shmemx::bench {

// The size that the library may need for a put of 8 bytes, and how many of them one send carries.
constexpr std::size_t kRecordBytes = 40;
constexpr std::size_t kRecordsAtOnce = 4096;

// The first PE of the second half: on another host, since hosts are filled one after the other.
inline int raw_partner(const Work& work) { return work.pes / 2; }

// Connects PE 0 and its partner. All PEs call it; repeated calls have no effect.
void connect_raw(Work& work);

void raw_pingpong(Work& work, long iterations);    // `work.bytes` there and back
void raw_round_trip(Work& work, long iterations);  // 8 bytes there and back, whatever the case's size
void raw_records(Work& work, long iterations);     // kBurst records, then a reply of 8 bytes
void raw_stream_out(Work& work, long iterations);  // `work.bytes` to the partner in each iteration, then a reply
void raw_stream_in(Work& work, long iterations);   // `work.bytes` from the partner in each iteration
void raw_fetch(Work& work, long iterations);       // 8 bytes there, `work.bytes` back

}  // namespace shmemx::bench
