// SPDX-License-Identifier: GPL-2.0
/*
 * Content by file.
 *
 * The size of a file determines its layout: a head, a body that can be cut
 * anywhere, and a tail. Each format lists its parts once, in their order. A
 * window keeps only the bytes that the read wants. So the cost of a page depends
 * on what is in it alone.
 */
#include "content.h"
#include "../portable/crc.h"
#include "filecontent.h"
#include "pangrams.h"

struct window {
	u8 *buf;
	u64 from, to;	/* bytes of the file that @buf takes */
};

static const struct content random_bytes = { .kind = CONTENT_INCOMPRESSIBLE };
static const struct content pangram_lines = { .kind = CONTENT_TEXT };

/* Clip [*at, *at + *len) to the window. Returns where it goes in the buffer, NULL if outside. */
static u8 *clip_to(const struct window *w, u64 *at, u64 *len)
{
	u64 end = min(*at + *len, w->to);

	*at = max(*at, w->from);
	if (*at >= end)
		return NULL;
	*len = end - *at;
	return w->buf + (*at - w->from);
}

static void put_bytes(const struct window *w, u64 at, const void *bytes, u64 len)
{
	u64 start = at;
	u8 *p = clip_to(w, &at, &len);

	if (p)
		memcpy(p, (const u8 *)bytes + (at - start), len);
}

static void put_string(const struct window *w, u64 at, const char *string)
{
	put_bytes(w, at, string, strlen(string));
}

static void file_put_byte(const struct window *w, u64 at, u64 len, u8 byte)
{
	u8 *p = clip_to(w, &at, &len);

	if (p)
		memset(p, byte, len);
}

static void put_random(const struct window *w, u64 at, u64 len, u64 seed)
{
	u8 *p = clip_to(w, &at, &len);

	if (p)
		content_fill_at(p, &random_bytes, seed, at, len);
}

/* @value in NUMBER columns, padded with spaces, so that a longer number moves nothing. */
#define NUMBER		20

static void print_number(char *p, u64 value)
{
	char digits[NUMBER + 1];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	memset(p, ' ', NUMBER);
	memcpy(p, digits, n);
}

/* Text */

static void put_text(const struct window *w, const struct file_place *f)
{
	u64 at = 0, len = f->size;
	u8 *p = clip_to(w, &at, &len);

	if (p)
		content_fill_at(p, &pangram_lines, f->seed, at, len);
	if (f->size)
		file_put_byte(w, f->size - 1, 1, '\n');
}

/* HTML and JSON: a head, records of a pangram each, spaces as padding, a tail. */

struct document {
	const char *head, *tail;
	char front[8], back[8];		/* padded, to be copied as words */
	unsigned int head_len, front_len, back_len, tail_len;
};

#define DOCUMENT(h, f, b, t)							\
	{									\
		.head = (h), .front = (f), .back = (b), .tail = (t),		\
		.head_len = sizeof(h) - 1, .front_len = sizeof(f) - 1,		\
		.back_len = sizeof(b) - 1, .tail_len = sizeof(t) - 1		\
	}

static const struct document html =
	DOCUMENT("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<title>Generated content</title>\n</head>\n<body>\n",
		 "<p>", "</p>\n", "</body>\n</html>\n");

static const struct document json =
	DOCUMENT("{\"title\": \"Generated content\", \"lines\": [\n", "\"", "\",\n", "\"\"]}\n");

static u64 smallest_document(const struct document *d)
{
	return d->head_len + d->tail_len;
}

static void put_records(const struct window *w, const struct document *d, u64 at, u64 count,
			u64 seed)
{
	unsigned int size = d->front_len + PANGRAM_LEN + d->back_len;
	u64 i = 0;

	if (w->from > at)
		i = div_u64(w->from - at, size);
	for (at += i * size; i < count && at < w->to; i++, at += size) {
		const char *line = pangram_for(seed + i * PANGRAM_STEP);

		/* By words. The bytes behind the end that this writes are written again later. */
		if (at >= w->from && at + size + 8 <= w->to) {
			u8 *p = w->buf + (at - w->from);
			unsigned int k;

			memcpy(p, d->front, 8);
			p += d->front_len;
			for (k = 0; k <= PANGRAM_LEN; k += 8)
				memcpy(p + k, line + k, 8);
			memcpy(p + PANGRAM_LEN, d->back, 8);
		} else {
			put_bytes(w, at, d->front, d->front_len);
			put_bytes(w, at + d->front_len, line, PANGRAM_LEN);
			put_bytes(w, at + d->front_len + PANGRAM_LEN, d->back, d->back_len);
		}
	}
}

static void put_document(const struct window *w, const struct file_place *f,
			 const struct document *d)
{
	unsigned int size = d->front_len + PANGRAM_LEN + d->back_len;
	u64 body = f->size - smallest_document(d), records = div_u64(body, size);
	u64 at = d->head_len + records * size, tail = f->size - d->tail_len;

	put_bytes(w, 0, d->head, d->head_len);
	put_records(w, d, d->head_len, records, f->seed);
	file_put_byte(w, at, tail - at, ' ');
	put_bytes(w, tail, d->tail, d->tail_len);
}

/*
 * PDF (ISO 32000-1, 7.5). Offsets in the cross-reference table have ten digits.
 * So all objects that the table points to stand in front of the large stream.
 */

static const char * const pdf_object[] = {
	"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n",
	"1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
	"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n",
	"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R\n"
	"/Resources<</Font<</F 4 0 R>>>>>>\nendobj\n",
	"4 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n",
	"5 0 obj\n<</Length 47>>\nstream\nBT /F 24 Tf 72 720 Td (Generated content) Tj ET\nendstream\n"
	"endobj\n",
	"6 0 obj\n<</Length ",
};

#define PDF_OBJECTS	(ARRAY_SIZE(pdf_object) - 1)
#define PDF_STREAM	">>\nstream\n"
#define PDF_TAIL	"\nendstream\nendobj\nxref\n0 7\n0000000000 65535 f\x20\n"
#define PDF_XREF	18	/* of those bytes, in front of xref */
#define PDF_ENTRY	20
#define PDF_TRAILER	"trailer\n<</Size 7/Root 1 0 R>>\nstartxref\n"
#define PDF_EOF		"\n%%EOF\n"

#define PDF_TAIL_LEN	(sizeof(PDF_TAIL) - 1 + PDF_OBJECTS * PDF_ENTRY + \
			 sizeof(PDF_TRAILER) - 1 + NUMBER + sizeof(PDF_EOF) - 1)

/* Where object @n begins; with PDF_OBJECTS + 1, where they end. */
static u32 pdf_offset(unsigned int n)
{
	u32 at = 0;

	while (n--)
		at += strlen(pdf_object[n]);
	return at;
}

static u64 smallest_pdf(void)
{
	return pdf_offset(PDF_OBJECTS + 1) + NUMBER + sizeof(PDF_STREAM) - 1 + PDF_TAIL_LEN;
}

static void put_pdf_tail(const struct window *w, u64 at)
{
	char text[NUMBER + 1];
	u64 xref = at + PDF_XREF;
	unsigned int i;

	put_string(w, at, PDF_TAIL);
	at += sizeof(PDF_TAIL) - 1;
	for (i = 1; i <= PDF_OBJECTS; i++) {
		snprintf(text, sizeof(text), "%010u 00000 n\x20\n", pdf_offset(i));
		put_bytes(w, at, text, PDF_ENTRY);
		at += PDF_ENTRY;
	}
	put_string(w, at, PDF_TRAILER);
	at += sizeof(PDF_TRAILER) - 1;
	print_number(text, xref);
	put_bytes(w, at, text, NUMBER);
	put_string(w, at + NUMBER, PDF_EOF);
}

static void put_pdf(const struct window *w, const struct file_place *f)
{
	u64 body = f->size - smallest_pdf(), at = 0;
	char length[NUMBER];
	unsigned int i;

	if (w->from < smallest_pdf()) {
		for (i = 0; i <= PDF_OBJECTS; i++) {
			put_string(w, at, pdf_object[i]);
			at += strlen(pdf_object[i]);
		}
		print_number(length, body);
		put_bytes(w, at, length, NUMBER);
		put_string(w, at + NUMBER, PDF_STREAM);
	}
	at = pdf_offset(PDF_OBJECTS + 1) + NUMBER + sizeof(PDF_STREAM) - 1;
	put_random(w, at, body, f->seed);
	at += body;
	if (w->to > at)
		put_pdf_tail(w, at);
}

/*
 * gzip (RFC 1952) of stored blocks (RFC 1951, 3.2.4). The body repeats with a
 * period. The period is longer than deflate looks back, so that the file cannot
 * be compressed. It is short enough to compute its checksum at each read of the
 * file's end.
 */

#define GZIP_HEAD	10u
#define GZIP_TAIL	8u
#define BLOCK_HEAD	5u
#define BLOCK_DATA	65535u
#define BLOCK		(BLOCK_HEAD + BLOCK_DATA)
#define PERIOD		36864u

struct blocks {
	u64 last;	/* number of the last block; all before are full ones */
	u64 last_at;	/* where it begins, from the first block's beginning */
	u64 data;	/* bytes in all blocks */
};

/*
 * Divide @bytes into blocks with heads. If there is too little left for the last
 * block's head, the block in front of it becomes shorter.
 */
static struct blocks lay_blocks(u64 bytes)
{
	struct blocks b;

	b.last = div_u64(bytes - 1, BLOCK);
	b.last_at = b.last * BLOCK;
	if (bytes - b.last_at < BLOCK_HEAD)
		b.last_at -= BLOCK_HEAD;
	b.data = bytes - (b.last + 1) * BLOCK_HEAD;
	return b;
}

/* Put @len bytes of the body, from its byte @from on, at byte @at of the file. */
static void put_body(const struct window *w, u64 at, u64 len, u64 from, u64 seed)
{
	u64 start = at;
	u8 *p = clip_to(w, &at, &len);
	u32 in_period;

	if (!p)
		return;
	div_u64_rem(from + (at - start), PERIOD, &in_period);
	while (len) {
		unsigned int n = min_t(u64, len, PERIOD - in_period);

		content_fill_at(p, &random_bytes, seed, in_period, n);
		p += n;
		len -= n;
		in_period = 0;
	}
}

static u32 crc_of_period(u32 state, u32 len, u64 seed)
{
	u8 buf[512];
	u32 at, n;

	for (at = 0; at < len; at += n) {
		n = min_t(u32, len - at, sizeof(buf));
		content_fill_at(buf, &random_bytes, seed, at, n);
		state = crc_update(CRC_32, state, buf, n);
	}
	return state;
}

/*
 * One period changes the register from s to s * factor + term. Two periods are a
 * step of the same form. So the number of products grows with the logarithm of
 * the number of periods.
 */
static u32 crc_of_body(u64 len, u64 seed)
{
	u32 state = ~0u, rest, factor, term;
	u64 periods = div_u64_rem(len, PERIOD, &rest);

	if (periods) {
		factor = crc_power(CRC_32, PERIOD);
		term = crc_of_period(0, PERIOD, seed);
		for (; periods; periods >>= 1) {
			if (periods & 1)
				state = crc_multiply(CRC_32, state, factor) ^ term;
			term ^= crc_multiply(CRC_32, term, factor);
			factor = crc_multiply(CRC_32, factor, factor);
		}
	}
	return ~crc_of_period(state, rest, seed);
}

static void put_le32(u8 *p, u32 x)
{
	__le32 le = cpu_to_le32(x);

	memcpy(p, &le, 4);
}

static void put_gzip(const struct window *w, const struct file_place *f)
{
	static const u8 head[GZIP_HEAD] = { 0x1f, 0x8b, 8, [9] = 255 };
	u64 tail_at = f->size - GZIP_TAIL, at, i = 0;
	struct blocks b = lay_blocks(tail_at - GZIP_HEAD);

	put_bytes(w, 0, head, GZIP_HEAD);
	if (w->from > GZIP_HEAD)
		i = min(div_u64(w->from - GZIP_HEAD, BLOCK), b.last);
	for (; i <= b.last; i++) {
		u64 begin = i < b.last ? i * BLOCK : b.last_at;
		u64 end = i + 1 < b.last ? (i + 1) * BLOCK :
			  i < b.last ? b.last_at : tail_at - GZIP_HEAD;
		u32 len = end - begin - BLOCK_HEAD;
		u8 block[BLOCK_HEAD] = { i == b.last, len, len >> 8, ~len, ~len >> 8 };

		at = GZIP_HEAD + begin;
		if (at >= w->to)
			break;
		put_bytes(w, at, block, BLOCK_HEAD);
		put_body(w, at + BLOCK_HEAD, len, begin - i * BLOCK_HEAD, f->seed);
	}
	if (w->to > tail_at) {
		u8 tail[GZIP_TAIL];

		put_le32(tail, crc_of_body(b.data, f->seed));
		put_le32(tail + 4, b.data);
		put_bytes(w, tail_at, tail, GZIP_TAIL);
	}
}

/*
 * JPEG (ITU-T T.81): one grey square of 8 x 8 pixels. Between the frame's header
 * and the scan are comments (B.2.4.5) of any bytes, up to 64 KiB each. Up to three
 * bytes are too few for a comment: they become fill bytes, which may precede any
 * marker (B.1.1.2). One fill byte always precedes the first comment, so that
 * file(1) stops there. Otherwise it would print the comments, and give up at the
 * fiftieth.
 */

#define COMMENT		65536u

static const u8 jpeg_head[] = {
	0xff, 0xd8,						/* start of image */
	0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0,
	0xff, 0xdb, 0, 67, 0,					/* quantisation: all alike */
	[25 ... 88] = 16,
	0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0,	/* baseline, 8 x 8, one component */
	0xff,							/* fill byte */
};

static const u8 jpeg_image[] = {
	0xff, 0xc4, 0, 20, 0x00,				/* DC: a code of one bit, for 0 */
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xc4, 0, 20, 0x10,				/* AC: the same */
	1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xda, 0, 8, 1, 1, 0x00, 0, 63, 0,			/* scan */
	0x3f,							/* no difference, end of block */
	0xff, 0xd9,						/* end of image */
};

static void put_jpeg(const struct window *w, const struct file_place *f)
{
	u64 image_at = f->size - sizeof(jpeg_image), at = sizeof(jpeg_head);

	put_bytes(w, 0, jpeg_head, sizeof(jpeg_head));
	if (w->from > at)
		at += div_u64(min(w->from, image_at) - at, COMMENT) * COMMENT;
	while (at < image_at && at < w->to) {
		u32 size = min_t(u64, image_at - at, COMMENT);
		u8 head[4] = { 0xff, 0xfe, (size - 2) >> 8, size - 2 };

		if (size < sizeof(head)) {
			file_put_byte(w, at, size, 0xff);
		} else {
			put_bytes(w, at, head, sizeof(head));
			put_random(w, at + sizeof(head), size - sizeof(head), f->seed);
		}
		at += size;
	}
	put_bytes(w, image_at, jpeg_image, sizeof(jpeg_image));
}

u64 file_smallest(enum file_kind kind)
{
	switch (kind) {
	case FILE_HTML:
		return smallest_document(&html);
	case FILE_JSON:
		return smallest_document(&json);
	case FILE_PDF:
		return smallest_pdf();
	case FILE_GZIP:
		return GZIP_HEAD + BLOCK_HEAD + GZIP_TAIL;
	case FILE_JPEG:
		return sizeof(jpeg_head) + sizeof(jpeg_image);
	default:
		return 1;
	}
}

void file_fill(void *buf, const struct file_place *f, u64 offset, unsigned int len)
{
	struct window w = { .buf = buf, .from = offset, .to = min(offset + len, f->size) };
	enum file_kind kind = f->kind;

	if (kind == FILE_NONE || offset >= f->size) {
		memset(buf, 0, len);
		return;
	}
	if (w.to < offset + len)
		memset((u8 *)buf + (w.to - offset), 0, offset + len - w.to);
	if (f->size < file_smallest(kind))
		kind = FILE_TEXT;
	switch (kind) {
	case FILE_HTML:
		put_document(&w, f, &html);
		break;
	case FILE_JSON:
		put_document(&w, f, &json);
		break;
	case FILE_PDF:
		put_pdf(&w, f);
		break;
	case FILE_GZIP:
		put_gzip(&w, f);
		break;
	case FILE_JPEG:
		put_jpeg(&w, f);
		break;
	default:
		put_text(&w, f);
	}
}

static const char * const kinds[FILE_KINDS] = {
	[FILE_NONE] = "none",
	[FILE_TEXT] = "text",
	[FILE_HTML] = "html",
	[FILE_JSON] = "json",
	[FILE_PDF] = "pdf",
	[FILE_GZIP] = "gzip",
	[FILE_JPEG] = "jpeg",
};

const char *file_kind_name(enum file_kind kind)
{
	return kind < FILE_KINDS ? kinds[kind] : NULL;
}
