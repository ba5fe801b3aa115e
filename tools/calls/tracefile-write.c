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
	w->frame_limit = min_t(u64, TRACEFILE_FRAME_MAX, bytes / 8);
	w->begins = true;
}

/* Is there no room for what is in memory, and a frame more? */
bool tracefile_segment_full(const struct tracefile_writer *w)
{
	u64 frames = 2 * (u64)(w->frame_limit + TRACEFILE_RECORD_MAX);

	return w->segments > 1 && w->stored_bytes - w->segment_start + frames > w->segment_bytes;
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
		die("%s: %s", path, strerror(errno));
	w->segment_start = w->stored_bytes;
	w->begins = true;
}

static void write_all(struct tracefile_writer *w, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = write(w->fd, w->packed + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("the trace cannot be written: %s", strerror(errno));
		done += n;
		w->writes++;
	}
	w->stored_bytes += length;
}

void tracefile_flush(struct tracefile_writer *w)
{
	struct tracefile_frame *frame = (struct tracefile_frame *)w->packed;
	size_t stored;
	u32 crc;

	if (!w->used)
		return;
	stored = ZSTD_compressCCtx(w->zstd, w->packed + sizeof(*frame),
				   w->packed_size - sizeof(*frame), w->records, w->used, 1);
	if (ZSTD_isError(stored))
		die("zstd: %s", ZSTD_getErrorName(stored));
	frame->magic = TRACEFILE_MAGIC;
	frame->version = TRACEFILE_VERSION;
	frame->flags = TRACEFILE_ZSTD | (w->begins ? TRACEFILE_BEGINS : 0);
	w->begins = false;
	frame->stored = stored;
	frame->length = w->used;
	frame->sequence = w->sequence++;
	crc = crc32(0, w->packed, offsetof(struct tracefile_frame, crc));
	crc = crc32(crc, w->packed + sizeof(*frame), stored);
	frame->crc = crc;
	write_all(w, sizeof(*frame) + stored);
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
