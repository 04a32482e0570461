/* The receive queue of src/nemesis/mpsc_queue.hpp: PRODUCERS processes enqueue, one dequeues. Each step is one access to
 * shared memory, in program order; exchange and compare-and-swap are single steps.
 *
 * Cell 0 is the queue itself, so next[0] is the head. Every producer has CELLS cells, which it reuses.
 *
 * Checked: each producer's messages arrive in order, each once, with unchanged content; the consumer can take a step in
 * every state (otherwise Spin reports a deadlock); after all producers have ended, try_dequeue returns the remaining
 * messages and leaves an empty queue.
 *
 * DIES: producer 0 may end before any of its steps. Then all cells before its missing link are received, except at most
 * the last one, which first_cell() returns.
 *
 * The other names seed an error that the checker must find:
 *   HEAD_CLEARED_LATE  the consumer clears the head after its compare-and-swap
 *   NO_SHADOW_HEAD     the consumer always reads the head and ignores its shadow head
 *   NO_CAS             the consumer dequeues the last cell without comparing tail
 *   SPLIT_EXCHANGE     the producer reads tail and writes it in two steps
 *   LINK_CLEARED_LATE  the producer clears its cell's link after the exchange
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef CELLS
#define CELLS 2
#endif
#define NONE 0
#define FIRST(producer) ((producer) * CELLS + 1)
#define OWNER(cell) (((cell) - 1) / CELLS)

byte next[PRODUCERS * CELLS + 1];
byte tail;
byte shadow;

bool busy[PRODUCERS * CELLS + 1];     /* the cell is in the queue or with the consumer */
byte content[PRODUCERS * CELLS + 1];  /* number of the message, 0: invalid */
byte through;                         /* producers that have ended */

#ifdef DIES
byte places;          /* number of cells that have been enqueued */
byte gap = 255;       /* the place before which the link is missing */
bool unlinked;
#define MAY_DIE if :: me == 0 -> goto dead :: skip fi
#else
#define MAY_DIE skip
#endif

proctype producer(byte me) {
  byte number = 1;
  byte cell;
  byte prev;
  do
  :: number <= MESSAGES ->
     MAY_DIE;
     cell = FIRST(me);
     if
     :: !busy[FIRST(me)]
     :: CELLS > 1 && !busy[FIRST(me) + CELLS - 1] -> cell = FIRST(me) + CELLS - 1
     fi;
     busy[cell] = true;
     content[cell] = number;
#ifndef LINK_CLEARED_LATE
     next[cell] = NONE;
#endif
     MAY_DIE;
#ifdef SPLIT_EXCHANGE
     prev = tail;
     tail = cell;
#else
     atomic {
       prev = tail;
       tail = cell;
#ifdef DIES
       if
       :: me == 0 -> unlinked = true; gap = places
       :: else
       fi;
       places++
#endif
     };
#endif
#ifdef LINK_CLEARED_LATE
     next[cell] = NONE;
#endif
     MAY_DIE;
     atomic {
       next[prev] = cell;
#ifdef DIES
       if
       :: me == 0 -> unlinked = false; gap = 255
       :: else
       fi
#endif
     };
     number++
  :: else -> break
  od;
#ifdef DIES
dead:
#endif
  through++
}

proctype consumer() {
  byte got;
  byte self;
  byte behind;
  bool all_through;
  byte received[PRODUCERS];

again:
  all_through = (through == PRODUCERS);

  /* try_dequeue */
#ifdef NO_SHADOW_HEAD
  if
  :: true ->
#else
  if
  :: shadow != NONE
  :: else ->
#endif
     self = next[0];
     if
     :: self == NONE -> goto nothing
     :: else
     fi;
#ifndef HEAD_CLEARED_LATE
     next[0] = NONE;
#endif
     if
     :: atomic { tail == self -> tail = NONE };
#ifdef HEAD_CLEARED_LATE
        next[0] = NONE;
#endif
        goto have
     :: else
     fi;
#ifdef HEAD_CLEARED_LATE
     next[0] = NONE;
#endif
     shadow = self
  fi;
  self = shadow;
  behind = next[self];
  if
  :: behind != NONE
  :: else ->
#ifdef NO_CAS
     tail = NONE
#else
     if
     :: atomic { tail == self -> tail = NONE }
     :: else -> goto nothing
     fi
#endif
  fi;
  shadow = behind;

have:
  skip;
  d_step {
    assert(self != NONE);
    assert(busy[self]);
    received[OWNER(self)]++;
    assert(content[self] == received[OWNER(self)]);
    content[self] = 0;
    got++
  };
  busy[self] = false;
#ifdef DIES
  goto again;
#else
  if
  :: got < PRODUCERS * MESSAGES -> goto again
  :: else -> goto ended
  fi;
#endif

nothing:
  if
  :: !all_through -> goto again
  :: else
  fi;
#ifdef DIES
  if
  :: unlinked -> assert(got == gap || (got + 1 == gap && shadow != NONE && content[shadow] != 0)); goto stop
  :: else -> assert(got == places)
  fi;
#else
  assert(false);  /* a message is lost */
#endif

ended:
  assert(tail == NONE && shadow == NONE && next[0] == NONE);
  goto stop;
stop:
  skip
}

init {
  byte i;
  atomic {
    for (i : 0 .. PRODUCERS - 1) { run producer(i) };
    run consumer()
  }
}
