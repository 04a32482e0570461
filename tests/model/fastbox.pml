/* Fastbox and queue of one ordered pair, src/nemesis/fastbox.hpp: MESSAGES messages, each sent by fastbox or by queue
 * in any combination. Numbers count modulo WRAP, so that they wrap, and slots keep numbers of previous rounds.
 *
 * Checked: the receiver gets every message once, in order, with its content; after the sender has ended, the next
 * message is always found in the fastbox or in the queue.
 *
 * The other names seed an error that the checker must find:
 *   ANY_NUMBER     the receiver takes the content of a slot without comparing its number
 *   QUEUE_FIRST    the receiver takes the message in the queue without comparing its number
 *   NO_MEMORY      the receiver does not record the number that it took from a slot
 *   NO_CONSUMED    the sender uses a slot before its message is consumed
 *   OLD_KNOWLEDGE  the sender does not refresh its copy of `consumed`
 *   NUMBER_FIRST   the sender publishes the number before the content
 */
#ifndef MESSAGES
#define MESSAGES 13
#endif
#define WRAP 8
#define SLOTS 2
#define NEXT(number) (((number) + 1) % WRAP)
/* As the signed difference of wrapping numbers. */
#define REACHED(count, number) (((count) + WRAP - (number)) % WRAP < WRAP / 2)

byte slot_number[SLOTS];
byte slot_content[SLOTS];
byte consumed;
chan queue = [1] of { byte, byte };  /* number, content */
bool through;

proctype sender() {
  byte in_slot[SLOTS];
  byte turn;
  byte known;
  byte number;
  byte message = 1;
  do
  :: message <= MESSAGES ->
     number = NEXT(number);
#ifndef OLD_KNOWLEDGE
     if
     :: (number + WRAP - known) % WRAP >= WRAP / 2 -> known = consumed
     :: else
     fi;
#endif
     if
     :: true ->  /* by fastbox, if it has room */
        if
        :: REACHED(known, in_slot[turn])
        :: else -> known = consumed
        fi;
        if
#ifdef NO_CONSUMED
        :: true ->
#else
        :: REACHED(known, in_slot[turn]) ->
#endif
#ifdef NUMBER_FIRST
           slot_number[turn] = number;
           slot_content[turn] = message;
#else
           slot_content[turn] = message;
           slot_number[turn] = number;
#endif
           in_slot[turn] = number;
           turn = (turn + 1) % SLOTS
        :: else -> queue ! number, message
        fi
     :: true -> queue ! number, message
     :: known != consumed -> known = consumed; queue ! number, message  /* from a message of the receiver */
     fi;
     message++
  :: else -> break
  od;
  through = true
}

proctype receiver() {
  byte taken[SLOTS];
  byte turn;
  byte received;  /* number */
  byte got;       /* messages */
  byte number;
  byte content;
  bool all_sent;
  do
  :: got < MESSAGES ->
     all_sent = through;
     number = slot_number[turn];
     if
#ifdef ANY_NUMBER
     :: number != taken[turn] ->
#else
#ifdef NO_MEMORY
     :: number == NEXT(received) ->
#else
     :: number == NEXT(received) && taken[turn] != number ->
#endif
#endif
        content = slot_content[turn];
        taken[turn] = number;
        turn = (turn + 1) % SLOTS
     :: else ->
#ifdef QUEUE_FIRST
        if
        :: queue ?? [_, _] -> queue ? number, content
        :: else -> goto nothing
        fi
#else
        /* The receiver looks at the first cell's number and leaves it there while an earlier one is in the box. */
        if
        :: atomic { queue ? [eval(NEXT(received)), _] -> queue ? number, content }
        :: else -> goto nothing
        fi
#endif
     fi;
     d_step {
       assert(content == got + 1);
       got++;
       received = NEXT(received)
     };
     consumed = received;
     skip;
     goto more;
nothing:
     assert(!all_sent);
more:
     skip
  :: else -> break
  od
}

init {
  atomic {
    run sender();
    run receiver()
  }
}
