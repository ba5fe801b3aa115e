// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tracefile.h"
#include "../common/alloc.h"

void tracefile_reader_init(struct tracefile_reader *r, int fd)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->files[0] = fd;
	r->file_count = 1;
	r->records = xmalloc(TRACEFILE_FRAME_MAX);
	r->packed = xmalloc(ZSTD_compressBound(TRACEFILE_FRAME_MAX));
}

/* The number of the first frame of a ring's file; false: it has none. */
static bool first_sequence(int fd, u32 *sequence)
{
	struct tracefile_frame frame;

	if (pread(fd, &frame, sizeof(frame), 0) != sizeof(frame) ||
	    frame.magic != TRACEFILE_MAGIC || !(frame.flags & TRACEFILE_BEGINS))
		return false;
	*sequence = frame.sequence;
	return true;
}

static bool is_empty(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

/* In front of those that are newer. */
static void add_file(struct tracefile_reader *r, int fd, u32 sequence)
{
	u32 i = r->file_count++, other;

	for (; i && first_sequence(r->files[i - 1], &other) && other > sequence; i--)
		r->files[i] = r->files[i - 1];
	r->files[i] = fd;
}

void tracefile_segment_path(char *path, size_t room, const char *first, u32 number)
{
	if (number)
		snprintf(path, room, "%s.%u", first, number);
	else
		snprintf(path, room, "%s", first);
}

void tracefile_reader_open(struct tracefile_reader *r, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	char name[PATH_MAX];
	u32 number, sequence;

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	tracefile_reader_init(r, fd);
	/* One without a frame was about to be begun. */
	if (!first_sequence(fd, &sequence) && !is_empty(fd))
		return;
	for (number = 1; number < TRACEFILE_SEGMENTS_MAX; number++) {
		tracefile_segment_path(name, sizeof(name), path, number);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		if (first_sequence(fd, &sequence))
			add_file(r, fd, sequence);
		else
			close(fd);
	}
	r->fd = r->files[0];
}

void tracefile_reader_free(struct tracefile_reader *r)
{
	while (r->file_count)
		close(r->files[--r->file_count]);
	free(r->records);
	free(r->packed);
}

/* As many bytes as there are, up to @length. */
static size_t read_all(int fd, void *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = read(fd, (u8 *)data + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("the trace cannot be read: %s", strerror(errno));
		if (!n)
			break;
		done += n;
	}
	return done;
}

static enum tracefile_status bad(struct tracefile_reader *r, enum tracefile_status status,
				 const char *problem)
{
	r->problem = problem;
	return status;
}

static enum tracefile_status take_records(struct tracefile_reader *r,
					  const struct tracefile_frame *frame, u32 stored)
{
	u32 length = frame->length;

	if (frame->flags & TRACEFILE_ZSTD) {
		if (ZSTD_decompress(r->records, length, r->packed, stored) != length)
			return bad(r, TRACEFILE_BROKEN, "a frame does not unpack to its length");
	} else {
		if (stored != length)
			return bad(r, TRACEFILE_BROKEN,
				   "a frame that is not packed has two lengths");
		memcpy(r->records, r->packed, length);
	}
	r->length = length;
	r->at = 0;
	return TRACEFILE_OK;
}

static enum tracefile_status next_frame(struct tracefile_reader *r)
{
	struct tracefile_frame frame;
	size_t got = read_all(r->fd, &frame, sizeof(frame));
	enum tracefile_status status;
	u32 stored, crc;

	if (!got && r->file + 1 < r->file_count) {
		r->fd = r->files[++r->file];
		return next_frame(r);
	}
	if (!got)
		return TRACEFILE_END;
	if (got < sizeof(frame))
		return bad(r, TRACEFILE_TORN, "the file ends within a frame's header");
	if (frame.magic != TRACEFILE_MAGIC)
		return bad(r, TRACEFILE_BROKEN, "there is no frame where one should begin");
	if (frame.version != TRACEFILE_VERSION ||
	    frame.flags & ~(TRACEFILE_ZSTD | TRACEFILE_BEGINS))
		return bad(r, TRACEFILE_BROKEN, "a frame of another version");
	/* Of a ring, the oldest may be gone. */
	if (!r->offset && frame.flags & TRACEFILE_BEGINS)
		r->sequence = frame.sequence;
	if (frame.sequence != r->sequence)
		return bad(r, TRACEFILE_BROKEN, "a frame is missing");
	stored = frame.stored;
	if (stored > ZSTD_compressBound(TRACEFILE_FRAME_MAX) || frame.length > TRACEFILE_FRAME_MAX)
		return bad(r, TRACEFILE_BROKEN, "a frame is too long");
	if (read_all(r->fd, r->packed, stored) < stored)
		return bad(r, TRACEFILE_TORN, "the file ends within a frame");
	crc = crc32(0, (u8 *)&frame, offsetof(struct tracefile_frame, crc));
	if (crc32(crc, r->packed, stored) != frame.crc)
		return bad(r, TRACEFILE_BROKEN, "a frame's checksum is wrong");
	status = take_records(r, &frame, stored);
	if (status == TRACEFILE_OK) {
		r->sequence++;
		r->offset += sizeof(frame) + stored;
	}
	return status;
}

bool tracefile_each(const struct tracefile_record *record, u32 *at, u16 *kind, const char **data,
		    u32 *length)
{
	u32 end = record->length;
	struct tracefile_blob blob;

	if (!*at)
		*at = sizeof(*record);
	while (*at + sizeof(blob) <= end) {
		memcpy(&blob, (const u8 *)record + *at, sizeof(blob));
		*kind = blob.kind;
		*length = blob.length;
		*data = (const char *)record + *at + sizeof(blob);
		if (*at + sizeof(blob) + *length > end)
			return false;
		*at += sizeof(blob) + ((*length + 3) & ~3u);
		if (*kind)
			return true;
	}
	return false;
}

const void *tracefile_find(const struct tracefile_record *record, enum tracefile_kind kind,
			   u32 least, u32 *length)
{
	const char *data;
	u32 at = 0, n;
	u16 found;

	while (tracefile_each(record, &at, &found, &data, &n)) {
		if (found != kind)
			continue;
		if (length)
			*length = n;
		return n >= least ? data : NULL;
	}
	return NULL;
}

bool tracefile_record_valid(const void *data, size_t length)
{
	const struct tracefile_record *record = data;
	const char *blob;
	u32 at = 0, n;
	u16 kind;

	if (length < sizeof(*record) || record->length < sizeof(*record) ||
	    record->length > length || record->length % 8)
		return false;
	while (tracefile_each(record, &at, &kind, &blob, &n))
		;
	return at == record->length;
}

enum tracefile_status tracefile_next(struct tracefile_reader *r,
				     const struct tracefile_record **record)
{
	while (r->at == r->length) {
		enum tracefile_status status = next_frame(r);

		if (status != TRACEFILE_OK)
			return status;
	}
	if (!tracefile_record_valid(r->records + r->at, r->length - r->at))
		return bad(r, TRACEFILE_BROKEN, "a record is not whole");
	*record = (const struct tracefile_record *)(r->records + r->at);
	r->at += (*record)->length;
	return TRACEFILE_OK;
}
