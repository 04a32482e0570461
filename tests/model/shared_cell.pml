/* Shared cells, src/nemesis/shared_cell.hpp: MESSAGES messages of one sender to two receivers, in cells that hold ROOM
 * of them. A cell comes back when its receiver has closed it, and may go to the other receiver next.
 *
 * Checked: each receiver gets its messages once, in order, and none of the other one's; all arrive.
 *
 * The other names seed an error that the checker must find:
 *   NO_TARGET      the sender does not compare the target of the cell that it adds to
 *   PLAIN_APPEND   the sender raises `filled` without comparing it
 *   PLAIN_CLOSE    the receiver closes the cell without comparing `filled` in the same step
 *   FILLED_FIRST   the sender raises `filled` before it writes the message
 */
#ifndef MESSAGES
#define MESSAGES 6
#endif
#define ROOM 3
#define CELLS 2
#define NONE 255
#define AT(cell, place) content[(cell) * ROOM + (place)]

byte filled[CELLS];
byte target[CELLS];
byte content[CELLS * ROOM];  /* number * 2 + receiver */
byte sent[2];
byte received[2];
bool through;
chan free = [CELLS] of { byte };
chan queue0 = [CELLS] of { byte };
chan queue1 = [CELLS] of { byte };

proctype sender() {
  byte open[2] = NONE;
  byte end[2];
  byte cell;
  byte to;
  byte count;
  bool done;
  do
  :: count < MESSAGES ->
     if
     :: to = 0
     :: to = 1
     fi;
     count++;
     sent[to]++;
     done = false;
     cell = open[to];
     if
     :: cell != NONE ->
        if
#ifdef NO_TARGET
        :: filled[cell] == end[to] && end[to] < ROOM ->
#else
        :: target[cell] == to && filled[cell] == end[to] && end[to] < ROOM ->
#endif
#ifdef FILLED_FIRST
           if
           :: atomic { filled[cell] == end[to] -> filled[cell] = end[to] + 1 };
              AT(cell, end[to]) = sent[to] * 2 + to;
              end[to]++;
              done = true
           :: else
           fi
#else
           AT(cell, end[to]) = sent[to] * 2 + to;
#ifdef PLAIN_APPEND
           filled[cell] = end[to] + 1;
           end[to]++;
           done = true
#else
           if
           :: atomic { filled[cell] == end[to] -> filled[cell] = end[to] + 1 };
              end[to]++;
              done = true
           :: else
           fi
#endif
#endif
        :: else
        fi
     :: else
     fi;
     if
     :: !done ->
        free ? cell;
        target[cell] = to;
        AT(cell, 0) = sent[to] * 2 + to;
        filled[cell] = 1;
        open[to] = cell;
        end[to] = 1;
        if
        :: to == 0 -> queue0 ! cell
        :: else -> queue1 ! cell
        fi
     :: else
     fi
  :: else -> break
  od;
  through = true
}

proctype receiver(byte me; chan queue) {
  byte cell;
  byte at;
  byte seen;
  do
  :: queue ? cell ->
     at = 0;
     seen = 0;
     do
     :: at != seen ->
        received[me]++;
        assert(AT(cell, at) == received[me] * 2 + me);
        at++
     :: at == seen ->
        if
#ifdef PLAIN_CLOSE
        :: at > 0 && filled[cell] == at -> filled[cell] = 0; break
#else
        :: atomic { at > 0 && filled[cell] == at -> filled[cell] = 0 }; break
#endif
        :: else -> seen = filled[cell]; assert(seen > at && seen <= ROOM)
        fi
     od;
     free ! cell
  :: through && received[me] == sent[me] && empty(queue) -> break
  od
}

init {
  atomic {
    free ! 0;
    free ! 1;
    run sender();
    run receiver(0, queue0);
    run receiver(1, queue1)
  }
}
