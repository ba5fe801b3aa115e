// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tracefile.h"
#include "../common/alloc.h"

/*
 * A frame that is not full is written by the record that ends so long after its first one. A tracer
 * that is killed loses no more calls than end within that time; where none ends, it waits.
 */
#define FRAME_AGE 1000000000ull

/* A frame of a ring, and what is left free of a file, are such a part of the file. */
#define PARTS 16

static void drop(struct tracefile_writer *w, const struct tracefile_record *record)
{
	if (record->type == TRACEFILE_CALL)
		w->dropped(w->arg, record);
}

/* What is in memory is dropped, and what will come. */
static void write_failed(struct tracefile_writer *w)
{
	int error = w->error ?: errno;
	u32 at;

	if (!w->dropped)
		die("the trace cannot be written: %s", strerror(error));
	w->error = error;
	for (at = 0; at < w->used;) {
		const struct tracefile_record *record =
			(const struct tracefile_record *)(w->records + at);

		drop(w, record);
		at += record->length;
	}
	w->used = 0;
}

void tracefile_writer_init(struct tracefile_writer *w, int fd)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->lock = fd;
	w->segments = 1;
	w->frame_limit = TRACEFILE_FRAME_MAX;
	w->records = xmalloc(TRACEFILE_FRAME_MAX);
	w->packed_size = sizeof(struct tracefile_frame) + ZSTD_compressBound(TRACEFILE_FRAME_MAX);
	w->packed = xmalloc(w->packed_size);
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		die("no memory");
}

void tracefile_rotate(struct tracefile_writer *w, const char *path, u32 segments, u64 bytes)
{
	if (segments < 2)
		return;
	w->path = path;
	w->segments = segments;
	w->segment_bytes = bytes;
	w->frame_limit = min_t(u64, TRACEFILE_FRAME_MAX, bytes / PARTS);
	w->begins = true;
}

/*
 * Is there no room for what is in memory, and as much again? How small that will be is known when
 * it has been written.
 */
bool tracefile_segment_full(struct tracefile_writer *w)
{
	u64 more = w->segment_bytes / PARTS + ZSTD_compressBound(w->frame_limit);

	if (w->segments < 2 || w->error)
		return false;
	if (w->stored_bytes - w->segment_start + ZSTD_compressBound(w->used) + more <=
	    w->segment_bytes)
		return false;
	tracefile_flush(w);
	return w->stored_bytes - w->segment_start + more > w->segment_bytes;
}

void tracefile_next_segment(struct tracefile_writer *w)
{
	char path[PATH_MAX];

	w->segment++;
	tracefile_segment_path(path, sizeof(path), w->path, w->segment % w->segments);
	if (w->fd != w->lock)
		close(w->fd);
	/* The first one stays open for its locks. */
	w->fd = w->segment % w->segments
			? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
			: w->lock;
	if (w->fd < 0 || (w->fd == w->lock && (ftruncate(w->fd, 0) || lseek(w->fd, 0, SEEK_SET))))
		write_failed(w);
	w->segment_start = w->stored_bytes;
	w->begins = true;
}

/* False: errno; the file ends where it did before. */
static bool write_all(struct tracefile_writer *w, size_t length)
{
	size_t done = 0;
	int error;

	while (done < length) {
		ssize_t n = write(w->fd, w->packed + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n ? errno : ENOSPC;
			if (done && !ftruncate(w->fd, w->stored_bytes - w->segment_start))
				lseek(w->fd, 0, SEEK_END);
			errno = error;
			return false;
		}
		done += n;
		w->writes++;
	}
	w->stored_bytes += length;
	return true;
}

void tracefile_flush(struct tracefile_writer *w)
{
	struct tracefile_frame *frame = (struct tracefile_frame *)w->packed;
	size_t stored;
	u32 crc;

	if (!w->used)
		return;
	if (w->error) {
		write_failed(w);
		return;
	}
	stored = ZSTD_compressCCtx(w->zstd, w->packed + sizeof(*frame),
				   w->packed_size - sizeof(*frame), w->records, w->used, 1);
	if (ZSTD_isError(stored))
		die("zstd: %s", ZSTD_getErrorName(stored));
	frame->magic = TRACEFILE_MAGIC;
	frame->version = TRACEFILE_VERSION;
	frame->flags = TRACEFILE_ZSTD | (w->begins ? TRACEFILE_BEGINS : 0);
	frame->stored = stored;
	frame->length = w->used;
	frame->sequence = w->sequence;
	crc = crc32(0, w->packed, offsetof(struct tracefile_frame, crc));
	crc = crc32(crc, w->packed + sizeof(*frame), stored);
	frame->crc = crc;
	if (!write_all(w, sizeof(*frame) + stored)) {
		write_failed(w);
		return;
	}
	w->begins = false;
	w->sequence++;
	w->record_bytes += w->used;
	w->used = 0;
}

void tracefile_begin(struct tracefile_writer *w, const struct tracefile_record *record)
{
	if (w->used + TRACEFILE_RECORD_MAX > TRACEFILE_FRAME_MAX || w->used >= w->frame_limit)
		tracefile_flush(w);
	if (!w->used)
		w->oldest = record->exit;
	w->start = w->used;
	memcpy(w->records + w->used, record, sizeof(*record));
	w->used += sizeof(*record);
}

void tracefile_add(struct tracefile_writer *w, enum tracefile_kind kind, const void *data,
		   u32 length)
{
	struct tracefile_blob blob = { (kind), 0 };
	u32 room = w->start + TRACEFILE_RECORD_MAX - w->used;

	length = length < TRACEFILE_BLOB_MAX ? length : TRACEFILE_BLOB_MAX;
	if (room < sizeof(blob) + length + 16)
		die("a record is too long");
	blob.length = length;
	memcpy(w->records + w->used, &blob, sizeof(blob));
	w->used += sizeof(blob);
	memcpy(w->records + w->used, data, length);
	memset(w->records + w->used + length, 0, 3);
	w->used += (length + 3) & ~3u;
}

void tracefile_blobs(struct tracefile_writer *w, const u8 *blobs, u32 length)
{
	if (length + 16 > w->start + TRACEFILE_RECORD_MAX - w->used)
		die("a record is too long");
	if (length)
		memcpy(w->records + w->used, blobs, length);
	w->used += length;
}

void tracefile_text(struct tracefile_writer *w, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tracefile_add(w, TRACEFILE_TEXT, text, strlen(text));
}

void tracefile_end(struct tracefile_writer *w)
{
	struct tracefile_record *record = (struct tracefile_record *)(w->records + w->start);
	u64 exit = record->exit;

	/* Blobs end at a multiple of 4, records at one of 8. An empty blob fills up. */
	while ((w->used - w->start) % 8) {
		memset(w->records + w->used, 0, 4);
		w->used += 4;
	}
	record->length = (w->used - w->start);
	if (exit > w->oldest && exit - w->oldest > FRAME_AGE)
		tracefile_flush(w);
}
