/* The stack of bench/queue/cell_stack.hpp: PROCESSES take a cell, hold it, and put it back, ROUNDS times each. The word
 * `top` is the topmost cell and the number of pops; both change in one step.
 *
 * Checked: no process gets a cell that another one holds, and at the end all cells are in the stack.
 *
 * NO_NUMBER seeds an error that the checker must find: the number of pops is not compared.
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define CELLS 3
#define NONE 0

byte top_cell = 1;
byte top_number;
byte next[CELLS + 1];
bool held[CELLS + 1];
byte through;

#ifdef NO_NUMBER
#define SAME (top_cell == cell)
#else
#define SAME (top_cell == cell && top_number == number)
#endif

inline push() {
  do
  :: d_step { seen = top_cell; number = top_number };
     next[cell] = seen;
     if
     :: atomic { top_cell == seen && top_number == number -> held[cell] = false; top_cell = cell }; break
     :: else
     fi
  od
}

inline pop() {
  do
  :: d_step { cell = top_cell; number = top_number };
     if
     :: cell == NONE -> break
     :: else
     fi;
     below = next[cell];
     if
     :: atomic {
          SAME -> top_cell = below; top_number++; assert(!held[cell]); held[cell] = true
        };
        break
     :: else
     fi
  od
}

proctype process() {
  byte cell;
  byte second;
  byte number;
  byte below;
  byte seen;
  byte round;
  do
  :: round < ROUNDS ->
     pop();
     second = cell;
     /* Two at once: the one below goes too, and the first comes back before it. */
     pop();
     if
     :: second != NONE && cell != NONE -> seen = cell; cell = second; second = seen; push(); cell = second
     :: second != NONE && cell == NONE -> cell = second
     :: else
     fi;
     if
     :: cell != NONE -> push()
     :: else
     fi;
     round++
  :: else -> break
  od;
  atomic {
    through++;
    if
    :: through == PROCESSES ->
       cell = top_cell;
       number = 0;
       do
       :: cell != NONE -> number++; assert(number <= CELLS); cell = next[cell]
       :: else -> break
       od;
       assert(number == CELLS)
    :: else
    fi
  }
}

init {
  byte i;
  atomic {
    next[1] = 2;
    next[2] = 3;
    for (i : 1 .. PROCESSES) { run process() }
  }
}
