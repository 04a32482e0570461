// What abi.queue_hot_path disassembles: one function for each operation, optimised as the library is.
#include "nemesis/mpsc_queue.hpp"

using shmemx::nemesis::Cell;
using shmemx::nemesis::MpscQueue;

extern "C" {
void queue_enqueue(MpscQueue* queue, Cell* cell);
Cell* queue_try_dequeue(MpscQueue* queue);
}

void queue_enqueue(MpscQueue* queue, Cell* cell) { queue->enqueue(cell); }
Cell* queue_try_dequeue(MpscQueue* queue) { return queue->try_dequeue(); }
