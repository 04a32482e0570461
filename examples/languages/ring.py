"""A number travels round a ring of PEs by a put with signal. Needs shmem4py; docs/languages.md says how to build it."""
import sys

import numpy
from shmem4py import shmem

me, pe_count = shmem.my_pe(), shmem.n_pes()
left, right = (me - 1) % pe_count, (me + 1) % pe_count
box = shmem.zeros(1, dtype="i8")  # symmetric: every PE has one
signal = shmem.new_signal()

shmem.put_signal(box, numpy.array([me]), right, signal, 1, shmem.SIGNAL_SET)
shmem.signal_wait_until(signal, shmem.CMP.EQ, 1)
print(f"PE {me} of {pe_count} got {box[0]}")

is_right = box[0] == left
shmem.barrier_all()
shmem.del_signal(signal)
shmem.free(box)
sys.exit(0 if is_right else 1)
