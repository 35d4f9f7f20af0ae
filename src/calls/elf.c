/* elf.c - is a file a whole shared library?

   dlopen maps the segments of a file without asking whether they are there: where a file was cut short (a full disk, a
   copy that was interrupted), the program dies by SIGBUS at the first byte behind its end.  Opening a pipe waits until
   somebody writes to it.  What is whole and no library of this machine is left to dlopen, which says so. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <string.h>
#include "base/again.h"
#include "calls/elf.h"
#include "maps/check.h"
#if defined __unix__ || defined __APPLE__
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __ELF__
#include <elf.h>
#endif

#define SAY(...) (report ? check_says(report, COSTATE_IO, __VA_ARGS__) : COSTATE_IO)

#ifdef __ELF__

#if UINTPTR_MAX > 0xffffffff
typedef Elf64_Ehdr header;
typedef Elf64_Phdr segment;
#define CLASS ELFCLASS64
#else
typedef Elf32_Ehdr header;
typedef Elf32_Phdr segment;
#define CLASS ELFCLASS32
#endif

static int native(const header *h)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == CLASS &&
        h->e_ident[EI_DATA] == (first ? ELFDATA2LSB : ELFDATA2MSB);
}

static int inside(uint64_t from, uint64_t bytes, uint64_t size) { return from <= size && bytes <= size - from; }

/* 1: all bytes were read; 0: the file ends before; -1: it cannot be read */
static int read_all(int fd, void *to, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got;
        AGAIN(got, pread(fd, (char *)to + done, bytes - done, (off_t)(at + done)));
        if (got <= 0) return (int)got;
        done += (size_t)got;
    }
    return 1;
}

/* 1: the file has what its headers say; 0: it ends before; -1: it cannot be read */
static int holds_what_it_says(int fd, uint64_t size)
{
    header h = {0};
    int got = read_all(fd, &h, sizeof h, 0);
    if (got <= 0) return got;
    if (!native(&h) || h.e_phentsize != sizeof(segment)) return 1;
    if (!inside(h.e_phoff, (uint64_t)h.e_phnum * h.e_phentsize, size)) return 0;
    if (!inside(h.e_shoff, (uint64_t)h.e_shnum * h.e_shentsize, size)) return 0;
    for (int k = 0; k < h.e_phnum; k++) {
        segment s = {0};
        got = read_all(fd, &s, sizeof s, h.e_phoff + (uint64_t)k * sizeof s);
        if (got <= 0) return got;
        if (s.p_type != PT_NULL && !inside(s.p_offset, s.p_filesz, size)) return 0;
    }
    return 1;
}

#else

static int holds_what_it_says(int fd, uint64_t size) { return (void)fd, (void)size, 1; }

#endif

static int look(int fd, const char *path, costate_report *report)
{
    struct stat is;
    int r;
    AGAIN(r, fstat(fd, &is));
    if (r != 0) return SAY("%s cannot be read: %s.", path, strerror(errno));
    if (!S_ISREG(is.st_mode))
        return SAY("%s is a folder, a pipe or a device: a method is loaded from a file.", path);
    int whole = holds_what_it_says(fd, (uint64_t)is.st_size);
    if (whole < 0) return SAY("%s cannot be read: %s.", path, strerror(errno));
    if (!whole)
        return SAY("%s was cut short: it has %lld bytes, fewer than a shared library with its header.  Make it again.",
                   path, (long long)is.st_size);
    return COSTATE_OK;
}

int elf_whole(const char *path, costate_report *report)
{
    int fd;
    AGAIN(fd, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0) return SAY("A method cannot be loaded: %s: %s.", path, strerror(errno));
    int status = look(fd, path, report);
    close(fd);
    return status;
}

#else

/* no methods are loaded on such a system (loaded.c) */
int elf_whole(const char *path, costate_report *report) { return (void)path, (void)report, COSTATE_OK; }

#endif
