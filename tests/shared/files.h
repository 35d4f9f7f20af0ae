/* files.h - whole files into memory and back, and the frames of a tape's file: for tests that damage them. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "tape/frames.h"
#include "common.h"

typedef struct { unsigned char *data; size_t length; } bytes_of;

static inline bytes_of file_bytes(const char *path)
{
    bytes_of b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    b.length = (size_t)ftell(f);
    rewind(f);
    assert_non_null(b.data = malloc(b.length + 1));
    assert_int_equal(fread(b.data, 1, b.length, f), b.length);
    fclose(f);
    return b;
}

/* a new file: the first `length` bytes, and zeros behind them */
static inline void file_is(const char *path, const unsigned char *data, size_t length, size_t zeros)
{
    remove(path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, length, f), length);
    for (size_t k = 0; k < zeros; k++) assert_int_equal(fputc(0, f), 0);
    assert_int_equal(fclose(f), 0);
}

/* Frames begin behind 16 bytes. */
enum { FRAMES_BEGIN = 16 };

static inline frame frame_at(const bytes_of *b, size_t at)
{
    frame f;
    assert_true(at + sizeof f <= b->length);
    memcpy(&f, b->data + at, sizeof f);
    return f;
}

static inline size_t frame_end(const bytes_of *b, size_t at) { return at + sizeof(frame) + frame_at(b, at).bytes; }

/* the end of the first frame of a type; 0: there is none */
static inline size_t first_end(const bytes_of *b, uint32_t type)
{
    for (size_t at = FRAMES_BEGIN; at < b->length; at = frame_end(b, at))
        if (frame_at(b, at).type == type) return frame_end(b, at);
    return 0;
}

/* its sums, after its data were changed */
static inline void frame_seal(bytes_of *b, size_t at)
{
    frame f = frame_at(b, at);
    summed data = words_begin(), head = words_begin();
    words_add(&data, b->data + at + sizeof f, f.bytes);
    f.sum = data.sum;
    words_add(&head, &f, offsetof(frame, check));
    f.check = ~head.sum;
    memcpy(b->data + at, &f, sizeof f);
}

#endif
