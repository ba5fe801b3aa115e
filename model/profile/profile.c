// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles: text to struct and back, by the option table.
 *
 * Anybody who may write a table line may have written the text. It is parsed twice. The first pass
 * counts the repeated items, so that their tables are allocated in full. The second pass fills the
 * struct.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "profile-options.h"

struct item {
	const struct profile_option *option;
	const char *name;
	const char *value;
	u32 name_len;
	u32 value_len;
	u32 line;
};

struct parser {
	struct profile *profile;
	struct profile_error *error;
	const char *text, *end;
	const char *at;
	bool by_line;			/* errors tell lines, else the items of a single line */
	u32 line;
	u32 nr[ITEM_NR];
	struct profile_lines lines;
	struct profile_remap *slips;	/* as given: zone and from */
};

int profile_fail(struct profile_error *error, unsigned int line, const char *format, ...)
{
	va_list args;

	error->line = line;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* A piece of the text for an error message: not too long, and nothing that a terminal obeys. */
struct quote {
	char text[28];
};

static const char *quote_text(struct quote *quote, const char *text, u32 len)
{
	const u32 most = sizeof(quote->text) - 4;
	u32 i, n = min(len, most);

	for (i = 0; i < n; i++)
		quote->text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	strscpy(quote->text + n, len > most ? "..." : "", sizeof(quote->text) - n);
	return quote->text;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void trim_blanks(const char **text, u32 *len)
{
	while (*len && is_blank(**text)) {
		(*text)++;
		(*len)--;
	}
	while (*len && is_blank((*text)[*len - 1]))
		(*len)--;
}

static bool is_word(const char *text, u32 len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

static void parser_restart(struct parser *parser)
{
	parser->at = parser->text;
	parser->line = 1;
}

static void skip_comment(struct parser *parser)
{
	while (parser->at < parser->end && *parser->at != '\n')
		parser->at++;
}

/* To the next item's first character. Returns false at the end of the text. */
static bool skip_to_item(struct parser *parser)
{
	for (; parser->at < parser->end; parser->at++) {
		if (*parser->at == '#')
			skip_comment(parser);
		if (parser->at == parser->end)
			return false;
		if (*parser->at == (parser->by_line ? '\n' : ';'))
			parser->line++;
		else if (*parser->at != '\n' && *parser->at != ';' && !is_blank(*parser->at))
			return true;
	}
	return false;
}

static const struct profile_option *find_option(const char *name, u32 len)
{
	unsigned int i;

	for (i = 0; i < profile_nr_options; i++)
		if (is_word(name, len, profile_options[i].name))
			return &profile_options[i];
	return NULL;
}

/* Returns 1 and fills @item, 0 at the end, or -EINVAL. */
static int next_item(struct parser *parser, struct item *item)
{
	struct quote quote;
	const char *c, *equals;

	if (!skip_to_item(parser))
		return 0;
	for (c = parser->at, equals = NULL; c < parser->end; c++) {
		if (*c == ';' || *c == '\n' || *c == '#')
			break;
		if (*c == '=' && !equals)
			equals = c;
	}
	item->line = parser->line;
	item->name = parser->at;
	item->name_len = (equals ?: c) - parser->at;
	trim_blanks(&item->name, &item->name_len);
	parser->at = c;
	if (!equals)
		return profile_fail(parser->error, item->line,
				    "'%s' is not of the form name = value",
				    quote_text(&quote, item->name, item->name_len));
	item->value = equals + 1;
	item->value_len = c - item->value;
	trim_blanks(&item->value, &item->value_len);
	item->option = find_option(item->name, item->name_len);
	if (!item->option)
		return profile_fail(parser->error, item->line, "there is no parameter '%s'",
				    quote_text(&quote, item->name, item->name_len));
	if (!item->value_len)
		return profile_fail(parser->error, item->line, "%s has no value",
				    item->option->name);
	return 1;
}

/* What is wrong with a value. The caller adds the names of parameter and column. */
struct complaint {
	char text[80];
};

__printf(2, 3)
static int value_fail(struct complaint *complaint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint->text, sizeof(complaint->text), format, args);
	va_end(args);
	return -EINVAL;
}

static const struct option_unit *find_unit(enum option_kind kind, const char *word, u32 len)
{
	const struct option_unit *unit = profile_units(kind);

	for (; unit->name[0]; unit++)
		if (is_word(word, len, unit->name))
			return unit;
	return !len && unit->scale ? unit : NULL;
}

static int wrong_unit(enum option_kind kind, const char *word, u32 len, struct complaint *complaint)
{
	const struct option_unit *unit = profile_units(kind);
	struct quote quote;
	char names[40];
	size_t n = 0;

	for (names[0] = '\0'; unit->name[0]; unit++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", unit->name);
	if (!n)
		return value_fail(complaint, "has '%s' after the number; it takes no unit",
				  quote_text(&quote, word, len));
	if (!len)
		return value_fail(complaint, "has no unit; it takes %s", names);
	return value_fail(complaint, "has the unit '%s'; it takes %s",
			  quote_text(&quote, word, len), names);
}

/* An exact decimal number with its unit. */
static int parse_quantity(enum option_kind kind, const char *text, u32 len, s64 *value,
			  struct complaint *complaint)
{
	const struct option_unit *unit;
	struct quote quote;
	u64 number = 0, scale, divisor = 1;
	u32 i = 0, digits = 0, places = 0;
	bool negative = len && text[0] == '-', point = false;

	for (i = negative; i < len && (is_digit(text[i]) || (text[i] == '.' && !point)); i++) {
		if (text[i] == '.') {
			point = true;
			continue;
		}
		if (++digits > 18)
			return value_fail(complaint, "has more than 18 digits");
		number = number * 10 + (text[i] - '0');
		places += point;
	}
	if (!digits)
		return value_fail(complaint, "is '%s', not a number",
				  quote_text(&quote, text, len));
	text += i;
	len -= i;
	trim_blanks(&text, &len);
	unit = find_unit(kind, text, len);
	if (!unit)
		return wrong_unit(kind, text, len, complaint);

	for (scale = unit->scale; places && div64_u64(scale, 10) * 10 == scale; places--)
		scale = div64_u64(scale, 10);
	for (; places; places--)
		divisor *= 10;	/* 10^18 at most, as there are no more digits */
	if (check_mul_overflow(number, scale, &number) || number > U64_MAX >> 1)
		return value_fail(complaint, "is too large");
	if (div64_u64(number, divisor) * divisor != number)
		return value_fail(complaint, "has more decimals than it is kept with");
	*value = div64_u64(number, divisor);
	if (negative)
		*value = -*value;
	return 0;
}

static int parse_flag(const char *text, u32 len, s64 *value, struct complaint *complaint)
{
	struct quote quote;

	*value = is_word(text, len, "yes");
	if (*value || is_word(text, len, "no"))
		return 0;
	return value_fail(complaint, "is '%s', neither yes nor no", quote_text(&quote, text, len));
}

static int parse_choice(const struct profile_option *option, const char *text, u32 len, s64 *value,
			struct complaint *complaint)
{
	const char *const *choices = option->choices, *const *refused = option->refused;
	struct quote quote;
	char names[56];
	size_t n = 0;
	u32 i;

	for (i = 0; choices[i]; i++) {
		if (len && is_word(text, len, choices[i])) {
			*value = i;
			return 0;
		}
	}
	for (; refused && *refused; refused += 2)
		if (is_word(text, len, refused[0]))
			return value_fail(complaint, "%s %s", refused[0], refused[1]);
	names[0] = '\0';
	for (i = 0; choices[i]; i++)
		if (choices[i][0])
			n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
				      choices[i]);
	return value_fail(complaint, "is '%.12s', none of %s",
			  quote_text(&quote, text, len), names);
}

/* The unit that a value is printed with. */
static const struct option_unit *print_unit(enum option_kind kind, u64 value)
{
	const struct option_unit *unit = profile_units(kind);

	switch (kind) {
	case OPTION_TIME:
	case OPTION_FINE_TIME:
	case OPTION_RATE:
		while (unit->scale > 1 && unit->scale > value)
			unit++;
		return unit;
	case OPTION_SECTORS:
	case OPTION_BYTES:
		while (unit->scale > 1)
			unit++;
		return unit;
	case OPTION_SHARE:
		return unit + 1;
	default:
		return unit;
	}
}

/* Longest: a sign, 19 digits, a point, the unit */
struct number_text {
	char text[32];
};

static const char *number_text(struct number_text *out, enum option_kind kind, s64 value)
{
	u64 size = value < 0 ? -(u64)value : value;
	const struct option_unit *unit = print_unit(kind, size);
	u64 whole = div64_u64(size, unit->scale), scale = unit->scale;
	u64 rest = size - whole * scale;
	size_t n;

	n = snprintf(out->text, sizeof(out->text), "%s%llu", value < 0 ? "-" : "",
		     (unsigned long long)whole);
	if (rest)
		out->text[n++] = '.';
	while (rest) {	/* scales with a rest are powers of ten */
		scale = div64_u64(scale, 10);
		out->text[n++] = '0' + (u32)div64_u64(rest, scale);
		rest -= div64_u64(rest, scale) * scale;
	}
	strscpy(out->text + n, unit->name, sizeof(out->text) - n);
	return out->text;
}

static int check_limits(const struct profile_option *option, s64 value,
			struct complaint *complaint)
{
	struct number_text is, limit;

	if (value < option->least)
		return value_fail(complaint, "is %s, less than %s",
				  number_text(&is, option->kind, value),
				  number_text(&limit, option->kind, option->least));
	if (value > option->most)
		return value_fail(complaint, "is %s, more than %s",
				  number_text(&is, option->kind, value),
				  number_text(&limit, option->kind, option->most));
	return 0;
}

static int parse_value(const struct profile_option *option, const char *text, u32 len,
		       s64 *value, struct complaint *complaint)
{
	switch (option->kind) {
	case OPTION_FLAG:
		return parse_flag(text, len, value, complaint);
	case OPTION_CHOICE:
		return parse_choice(option, text, len, value, complaint);
	default:
		return parse_quantity(option->kind, text, len, value, complaint) ?:
		       check_limits(option, *value, complaint);
	}
}

static void option_store(void *base, const struct profile_option *option, s64 value)
{
	void *field = (char *)base + option->offset;

	if (option->size == sizeof(u8))
		*(u8 *)field = value;
	else if (option->size == sizeof(u32))
		*(u32 *)field = value;
	else
		*(u64 *)field = value;
}

static s64 option_load(const void *base, const struct profile_option *option)
{
	const void *field = (const char *)base + option->offset;

	if (option->size == sizeof(u8))
		return *(const u8 *)field;
	if (option->size == sizeof(u32))
		return *(const u32 *)field;
	return *(const s64 *)field;
}

static bool name_character(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '.' || c == '_' || c == '-';
}

static int parse_name(struct parser *parser, const struct item *item)
{
	struct quote quote;
	u32 i;

	if (item->value_len >= PROFILE_NAME_LEN)
		return profile_fail(parser->error, item->line, "name is longer than %d characters",
				    PROFILE_NAME_LEN - 1);
	for (i = 0; i < item->value_len; i++)
		if (!name_character(item->value[i]))
			return profile_fail(parser->error, item->line,
					    "name '%s' has other characters than letters, digits, '.', '_', '-'",
					    quote_text(&quote, item->value, item->value_len));
	memset(parser->profile->name, 0, PROFILE_NAME_LEN);
	memcpy(parser->profile->name, item->value, item->value_len);
	return 0;
}

/* The columns of a repeated item, into the struct at @base. */
static int parse_columns(struct parser *parser, const struct item *item, void *base)
{
	const struct profile_option *column = item->option->columns;
	const char *text = item->value, *end = text + item->value_len;
	struct complaint complaint;
	s64 value;

	for (; column->name && text <= end; column++) {
		const char *comma = memchr(text, ',', end - text) ?: end;
		u32 len = comma - text;

		trim_blanks(&text, &len);
		if (parse_value(column, text, len, &value, &complaint))
			return profile_fail(parser->error, item->line, "%s: %s %s",
					    item->option->name, column->name, complaint.text);
		option_store(base, column, value);
		text = comma + 1;
	}
	if (text <= end)
		return profile_fail(parser->error, item->line, "%s has more than %u values",
				    item->option->name,
				    (unsigned int)(column - item->option->columns));
	if (column->name && column->required)
		return profile_fail(parser->error, item->line, "%s has no %s", item->option->name,
				    column->name);
	return 0;
}

static int parse_items(struct parser *parser, const struct item *item)
{
	struct profile *profile = parser->profile;
	unsigned int kind = item->option - profile_options;
	u32 i = parser->nr[kind]++;

	parser->lines.items[kind][i] = item->line;
	switch (kind) {
	case ITEM_ZONE:
		return parse_columns(parser, item, &profile->zones[i]);
	case ITEM_SEEK:
		return parse_columns(parser, item, &profile->seeks[i]);
	case ITEM_SLIP:
		return parse_columns(parser, item, &parser->slips[i]);
	default:
		return parse_columns(parser, item, &profile->remaps[i]);
	}
}

static int parse_item(struct parser *parser, const struct item *item)
{
	struct complaint complaint;
	s64 value;

	if (item->option->kind == OPTION_ITEMS)
		return parse_items(parser, item);
	if (item->option->kind == OPTION_NAME)
		return parse_name(parser, item);
	if (parse_value(item->option, item->value, item->value_len, &value, &complaint))
		return profile_fail(parser->error, item->line, "%s %s", item->option->name,
				    complaint.text);
	option_store(parser->profile, item->option, value);
	return 0;
}

/* First pass: names, how many items there are, and the kind of the drive. */
static int count_items(struct parser *parser)
{
	struct item item;
	int ret;

	parser_restart(parser);
	while ((ret = next_item(parser, &item)) > 0) {
		unsigned int i = item.option - profile_options;

		if (item.option->kind == OPTION_ITEMS) {
			if (++parser->nr[i] > item.option->most)
				return profile_fail(parser->error, item.line,
						    "there are more than %lld items '%s'",
						    (long long)item.option->most,
						    item.option->name);
		} else if (parser->lines.options[i]) {
			return profile_fail(parser->error, item.line,
					    "%s is given twice, first in %s %u", item.option->name,
					    parser->by_line ? "line" : "item",
					    parser->lines.options[i]);
		}
		parser->lines.options[i] = item.line;
		if (item.option->offset == offsetof(struct profile, kind) && item.option->size) {
			ret = parse_item(parser, &item);
			if (ret)
				return ret;
		}
	}
	return ret;
}

/* A parameter that the kind of drive needs and has not, or has and knows not. */
static int check_names(struct parser *parser)
{
	unsigned int i;

	for (i = 0; i < profile_nr_options; i++) {
		const struct profile_option *option = &profile_options[i];
		u32 line = parser->lines.options[i];

		if (!profile_has(option, parser->profile->kind)) {
			if (line)
				return profile_fail(parser->error, line,
						    "%s is no parameter of this kind of drive",
						    option->name);
		} else if (option->required && !line) {
			return profile_fail(parser->error, parser->line, "%s is missing",
					    option->name);
		}
	}
	return 0;
}

static void preset_options(struct profile *profile)
{
	unsigned int i;

	for (i = 0; i < profile_nr_options; i++)
		if (profile_options[i].size && profile_options[i].kind != OPTION_NAME)
			option_store(profile, &profile_options[i], profile_options[i].preset);
}

static bool is_given(const struct parser *parser, const void *field)
{
	return profile_line(parser->profile, &parser->lines, field);
}

/* Linux 6.12: BLK_DEF_MAX_SECTORS_CAP, AHCI_MAX_SG, blk_mq_default_nr_requests(), elevator.c */
static void preset_blk_mq(struct parser *parser)
{
	struct profile *profile = parser->profile;

	if (!is_given(parser, &profile->scheduler))
		profile->scheduler = profile->hw_queues > 1 ? SCHEDULER_NONE :
							      SCHEDULER_MQ_DEADLINE;
	if (!is_given(parser, &profile->nr_requests))
		profile->nr_requests = 2 * min(profile->hw_depth, 128u);
	if (!is_given(parser, &profile->max_sectors))
		profile->max_sectors = 2560;
	if (!is_given(parser, &profile->max_segments))
		profile->max_segments = 168;
}

static void *item_table(u32 n, size_t size)
{
	return kvcalloc(max(n, 1u), size, GFP_KERNEL);
}

static int parser_allocate(struct parser *parser)
{
	struct profile *profile = parser->profile;
	bool good;
	int i;

	profile->nr_zones = parser->nr[ITEM_ZONE];
	profile->nr_seeks = parser->nr[ITEM_SEEK];
	profile->nr_slips = parser->nr[ITEM_SLIP];
	profile->nr_remaps = parser->nr[ITEM_REMAP];
	profile->zones = item_table(profile->nr_zones, sizeof(*profile->zones));
	profile->seeks = item_table(profile->nr_seeks, sizeof(*profile->seeks));
	profile->slips = item_table(profile->nr_slips, sizeof(*profile->slips));
	profile->remaps = item_table(profile->nr_remaps, sizeof(*profile->remaps));
	parser->slips = item_table(profile->nr_slips, sizeof(*parser->slips));
	good = profile->zones && profile->seeks && profile->slips && profile->remaps &&
	       parser->slips;
	for (i = 0; i < ITEM_NR; i++) {
		parser->lines.items[i] = item_table(parser->nr[i], sizeof(u32));
		good = good && parser->lines.items[i];
	}
	memset(parser->nr, 0, sizeof(parser->nr));
	return good ? 0 : -ENOMEM;
}

/* Sectors, or tracks, of which one may be slipped. */
static u64 slip_limit(const struct profile *profile, const struct profile_zone *zone)
{
	u64 tracks = (u64)(zone->last_cyl - zone->first_cyl + 1) * profile->heads;

	return profile->sparing == SPARING_TRACKS ? tracks : tracks * zone->sectors_per_track;
}

/* Slips by zone; within one in the order given, which some sparing schemes go by. */
static int parser_sort_slips(struct parser *parser)
{
	struct profile *profile = parser->profile;
	const u32 *lines = parser->lines.items[ITEM_SLIP];
	struct profile_zone *zone;
	u32 i, at = 0;

	for (i = 0; i < profile->nr_slips; i++) {
		struct profile_remap *slip = &parser->slips[i];

		if (slip->zone >= profile->nr_zones)
			return profile_fail(parser->error, lines[i],
					    "slip of zone %u, but zones are 0 to %u", slip->zone,
					    profile->nr_zones - 1);
		zone = &profile->zones[slip->zone];
		if (slip->from >= slip_limit(profile, zone))
			return profile_fail(parser->error, lines[i],
					    "slip of %u, but zone %u has only %llu %s", slip->from,
					    slip->zone,
					    (unsigned long long)slip_limit(profile, zone),
					    profile->sparing == SPARING_TRACKS ?
					    "tracks" : "sectors");
		zone->slips++;
	}
	for (i = 0; i < profile->nr_zones; i++) {
		profile->zones[i].first_slip = at;
		at += profile->zones[i].slips;
		profile->zones[i].slips = 0;
	}
	for (i = 0; i < profile->nr_slips; i++) {
		zone = &profile->zones[parser->slips[i].zone];
		profile->slips[zone->first_slip + zone->slips++] = parser->slips[i].from;
	}
	return 0;
}

/* Decimal gigabytes sold of binary ones made. */
static u64 default_raw(u64 sectors)
{
	return sectors + div64_u64(sectors * 7, 100);
}

/* What follows from the parameters. */
void profile_derive(struct profile *profile)
{
	u64 first_sector = 0;
	u32 i;

	if (profile->kind == DRIVE_SSD && !profile->raw_sectors)
		profile->raw_sectors = default_raw(profile->sectors);
	if (!profile->zone_capacity)
		profile->zone_capacity = profile->zone_size;
	if (profile->kind != DRIVE_DISK)
		return;
	profile->revolution = div64_u64(60000ULL * 1000 * 1000 * 1000 + profile->rpm / 2,
					profile->rpm);
	for (i = 0; i < profile->nr_zones; i++) {
		profile->zones[i].first_sector = first_sector;
		first_sector += profile->zones[i].sectors;
	}
}

static int parse_text(struct parser *parser)
{
	struct item item;
	int ret;

	ret = count_items(parser) ?: check_names(parser) ?: parser_allocate(parser);
	if (ret)
		return ret;
	preset_options(parser->profile);
	parser_restart(parser);
	while ((ret = next_item(parser, &item)) > 0) {
		ret = parse_item(parser, &item);
		if (ret)
			return ret;
	}
	if (parser->profile->host == HOST_BLK_MQ)
		preset_blk_mq(parser);
	profile_derive(parser->profile);
	return profile_check(parser->profile, &parser->lines, parser->error) ?:
	       parser_sort_slips(parser);
}

int profile_parse(struct profile *profile, const char *text, size_t len,
		  struct profile_error *error)
{
	struct parser parser = {
		.profile = profile, .error = error, .text = text, .end = text + len,
		.by_line = memchr(text, '\n', len),
		.lines.options = item_table(profile_nr_options, sizeof(u32)),
	};
	int i, ret = -ENOMEM;

	memset(profile, 0, sizeof(*profile));
	memset(error, 0, sizeof(*error));
	if (len > PROFILE_MAX_TEXT)
		ret = profile_fail(error, 1, "longer than %d MiB", PROFILE_MAX_TEXT >> 20);
	else if (parser.lines.options)
		ret = parse_text(&parser);
	kvfree(parser.lines.options);
	for (i = 0; i < ITEM_NR; i++)
		kvfree(parser.lines.items[i]);
	kvfree(parser.slips);
	if (ret)
		profile_free(profile);
	return ret;
}

void profile_free(struct profile *profile)
{
	kvfree(profile->zones);
	kvfree(profile->seeks);
	kvfree(profile->slips);
	kvfree(profile->remaps);
	memset(profile, 0, sizeof(*profile));
}

struct printer {
	char *buf;
	size_t size;
	size_t at;		/* goes on past the end, as snprintf() counts */
};

static void printer_put(struct printer *printer, const char *text)
{
	for (; *text; text++, printer->at++)
		if (printer->at + 1 < printer->size)
			printer->buf[printer->at] = *text;
}

static void print_value(struct printer *printer, const void *base,
			const struct profile_option *option)
{
	struct number_text number;
	s64 value = option_load(base, option);

	if (option->kind == OPTION_FLAG)
		printer_put(printer, value ? "yes" : "no");
	else if (option->kind == OPTION_CHOICE)
		printer_put(printer, option->choices[value]);
	else
		printer_put(printer, number_text(&number, option->kind, value));
}

static void print_name(struct printer *printer, const struct profile_option *option)
{
	if (printer->at)
		printer_put(printer, ";");
	printer_put(printer, option->name);
	printer_put(printer, "=");
}

static void print_item(struct printer *printer, unsigned int kind, const void *base)
{
	const struct profile_option *column = profile_options[kind].columns;

	print_name(printer, &profile_options[kind]);
	for (; column->name; column++) {
		if (column != profile_options[kind].columns)
			printer_put(printer, ",");
		print_value(printer, base, column);
	}
}

static void print_items(struct printer *printer, const struct profile *profile)
{
	u32 i, j;

	for (i = 0; i < profile->nr_zones; i++)
		print_item(printer, ITEM_ZONE, &profile->zones[i]);
	for (i = 0; i < profile->nr_seeks; i++)
		print_item(printer, ITEM_SEEK, &profile->seeks[i]);
	for (i = 0; i < profile->nr_zones; i++) {
		const struct profile_zone *zone = &profile->zones[i];

		for (j = 0; j < zone->slips; j++) {
			struct profile_remap slip = {
				.zone = i, .from = profile->slips[zone->first_slip + j],
			};

			print_item(printer, ITEM_SLIP, &slip);
		}
	}
	for (i = 0; i < profile->nr_remaps; i++)
		print_item(printer, ITEM_REMAP, &profile->remaps[i]);
}

/* Every parameter, also those at their presets: those may be others in another version. */
size_t profile_print(const struct profile *profile, char *buf, size_t size)
{
	struct printer printer = { .buf = buf, .size = size };
	unsigned int i;

	for (i = ITEM_NR; i < profile_nr_options; i++) {
		if (!profile_has(&profile_options[i], profile->kind))
			continue;
		print_name(&printer, &profile_options[i]);
		if (profile_options[i].kind == OPTION_NAME)
			printer_put(&printer, profile->name);
		else
			print_value(&printer, profile, &profile_options[i]);
	}
	print_items(&printer, profile);
	if (size)
		buf[min(printer.at, size - 1)] = '\0';
	return printer.at;
}
