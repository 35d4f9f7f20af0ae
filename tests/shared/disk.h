/* disk.h - files whose system calls fail on demand, for tests linked with --wrap of open, pread, pwrite, ftruncate,
   fstat, flock.  They see the calls of the library and of the test, not those of the C library. */
#ifndef TESTS_DISK_H
#define TESTS_DISK_H

/* What happens instead of a call: an error of the system (errno's number, > 0), or: half of the bytes are moved; a read
   finds the end of the file.  Calls that move no bytes, or write, are not harmed by these. */
enum { DISK_SHORT = -1, DISK_END = -2 };

void disk_fail(int how, long from, long until);     /* calls from .. until - 1 from now (1 is the next); 0, 0: none */
long disk_failures(void);                           /* calls that were harmed since */
long disk_calls(void);                              /* calls since */

#endif
