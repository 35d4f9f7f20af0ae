/* windows.h (base) - the functions of Windows that are called, declared here: the header of the system defines hundreds
   of short names, some of which are ours. */
#ifndef COSTATE_BASE_WINDOWS_H
#define COSTATE_BASE_WINDOWS_H

#ifdef _WIN32
enum { EVERY_GROUP = 0xffff };                              /* ALL_PROCESSOR_GROUPS: more than 64 cores form groups */
__declspec(dllimport) unsigned long __stdcall GetActiveProcessorCount(unsigned short group);

__declspec(dllimport) unsigned long __stdcall WaitForSingleObject(void *thread, unsigned long milliseconds);
__declspec(dllimport) int __stdcall CloseHandle(void *thread);

typedef struct { void *state; } slim_lock;                  /* SRWLOCK; all zero: free */
__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(slim_lock *);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(slim_lock *);
#endif

#endif
