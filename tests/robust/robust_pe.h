/* Scenarios of robust_pe that have files of their own, and what they share. */
#ifndef ROBUST_PE_H
#define ROBUST_PE_H

#include <time.h>

double seconds(clockid_t clock);
void nap(double length);
void require(int holds, const char *what); /* ends the job with status 3 where it does not hold */

int blocked(const char *where, double length);
int for_ever(const char *where);
int children(const char *kind);

#endif
