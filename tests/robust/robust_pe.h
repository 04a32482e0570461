/* Scenarios of robust_pe in separate files, and shared functions. */
#ifndef ROBUST_PE_H
#define ROBUST_PE_H

#include <time.h>

double seconds(clockid_t clock);
void sleep_for(double length);
void require(int holds, const char *what); /* ends the job with status 3 unless `holds` */

int blocked(const char *where, double length);
int for_ever(const char *where);
int children(const char *kind);

#endif
