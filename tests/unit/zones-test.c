// SPDX-License-Identifier: GPL-2.0
/*
 * Zones of a drive: what a command does to one. Cases by the text of the specifications, and random
 * commands beside a second implementation that counts everything anew for each command.
 */
#include <kunit/test.h>

#include "../../model/planted.h"
#include "../../model/zones/zones.h"
#include "random.h"

#define MOST	40	/* zones of the naive drive */

/* A drive by the rules as one reads them: no counters, one list of facts. */
struct naive {
	struct zone_limits limits;
	u32 count, turn;
	struct naive_zone {
		bool sequential, explicit, open, full, finished;
		u64 written;
	} zone[MOST];
};

static void naive_init(struct naive *drive, const struct zone_limits *limits)
{
	u32 sequential, i;

	memset(drive, 0, sizeof(*drive));
	drive->limits = *limits;
	drive->count = limits->sectors / limits->zone_size;
	drive->turn = limits->conventional;
	for (i = limits->conventional; i < drive->count; i++)
		drive->zone[i].sequential = true;
	sequential = drive->count - limits->conventional;
	if (limits->max_active >= sequential)
		drive->limits.max_active = 0;
	if (drive->limits.max_active)
		drive->limits.max_open = min(drive->limits.max_open, drive->limits.max_active);
	if (drive->limits.max_open >= sequential)
		drive->limits.max_open = 0;
}

static bool naive_active(const struct naive_zone *zone)
{
	return zone->sequential && !zone->full && (zone->open || zone->written);
}

static enum zone_error naive_open(struct naive *drive, struct naive_zone *zone, bool explicit)
{
	u32 open = 0, active = 0, implicit = 0, i;
	bool room;

	if (zone->open) {
		zone->explicit |= explicit;
		return ZONES_OK;
	}
	for (i = 0; i < drive->count; i++) {
		open += drive->zone[i].open;
		implicit += drive->zone[i].open && !drive->zone[i].explicit;
		active += naive_active(&drive->zone[i]);
	}
	room = !drive->limits.max_active || active < drive->limits.max_active;
	if (!zone->written && !room)
		return ZONES_TOO_MANY_ACTIVE;
	if (drive->limits.max_open && open == drive->limits.max_open) {
		if (!implicit || !room)
			return ZONES_TOO_MANY_OPEN;
		for (i = 0; i < drive->count; i++) {
			u32 n = (drive->turn + i) % drive->count;

			if (drive->zone[n].open && !drive->zone[n].explicit) {
				drive->zone[n].open = false;
				drive->turn = n + 1;
				break;
			}
		}
	}
	zone->open = true;
	zone->explicit = explicit;
	return ZONES_OK;
}

static enum zone_error naive_fill(struct naive *drive, struct naive_zone *zone)
{
	enum zone_error error = zone->full ? ZONES_OK : naive_open(drive, zone, false);

	if (error)
		return error;
	if (!zone->full || (!drive->limits.max_open && !drive->limits.max_active))
		zone->finished = true;
	zone->full = true;
	zone->open = false;
	zone->explicit = false;
	return ZONES_OK;
}

static enum zone_error naive_write(struct naive *drive, struct naive_zone *zone, u64 offset,
				   u64 sectors)
{
	enum zone_error error;

	if (zone->full || offset != zone->written ||
	    offset + sectors > drive->limits.zone_capacity)
		return ZONES_INVALID;
	error = naive_open(drive, zone, zone->explicit);
	if (error)
		return error;
	zone->written += sectors;
	if (zone->written == drive->limits.zone_capacity) {
		zone->full = true;
		zone->open = false;
		zone->explicit = false;
	}
	return ZONES_OK;
}

static enum zone_error naive_command(struct naive *drive, enum zone_op op, u64 sector, u32 sectors)
{
	u32 number = sector / drive->limits.zone_size, i;
	struct naive_zone *zone = &drive->zone[number];

	if (op == ZONE_OP_RESET_ALL) {
		for (i = 0; i < drive->count; i++)
			drive->zone[i] = (struct naive_zone){
				.sequential = drive->zone[i].sequential
			};
		return ZONES_OK;
	}
	if (!zone->sequential)
		return op == ZONE_OP_WRITE ? ZONES_OK : ZONES_INVALID;
	switch (op) {
	case ZONE_OP_WRITE:
		return naive_write(drive, zone, sector % drive->limits.zone_size, sectors);
	case ZONE_OP_APPEND:
		return drive->limits.append_limit ?
		       naive_write(drive, zone, zone->written, sectors) : ZONES_INVALID;
	case ZONE_OP_OPEN:
		return zone->full ? ZONES_INVALID : naive_open(drive, zone, true);
	case ZONE_OP_CLOSE:
		if (zone->full || (!zone->open && !zone->written))
			return ZONES_INVALID;
		zone->open = false;
		zone->explicit = false;
		return ZONES_OK;
	case ZONE_OP_FINISH:
		return naive_fill(drive, zone);
	default:
		*zone = (struct naive_zone){ .sequential = true };
		return ZONES_OK;
	}
}

static void naive_report(const struct naive *drive, u32 number, struct zone_report *report)
{
	const struct naive_zone *zone = &drive->zone[number];

	*report = (struct zone_report){
		.start = number * drive->limits.zone_size,
		.len = drive->limits.zone_size,
		.capacity = drive->limits.zone_capacity,
		.type = ZONE_SEQUENTIAL,
	};
	report->wp = report->start + (zone->finished ? report->len : zone->written);
	if (!zone->sequential) {
		report->type = ZONE_CONVENTIONAL;
		report->condition = ZONE_NOT_WP;
		report->capacity = report->len;
		report->wp = report->start + report->len;
	} else if (zone->full) {
		report->condition = ZONE_FULL;
	} else if (zone->open) {
		report->condition = zone->explicit ? ZONE_EXP_OPEN : ZONE_IMP_OPEN;
	} else {
		report->condition = zone->written ? ZONE_CLOSED : ZONE_EMPTY;
	}
}

/* The number of zones that differ between the two. */
static u32 differing(const struct zones *zones, const struct naive *drive)
{
	struct zone_report is, should;
	u32 i, differ = 0;

	for (i = 0; i < drive->count; i++) {
		memset(&is, 0, sizeof(is));
		zones_report(zones, i, &is);
		naive_report(drive, i, &should);
		differ += is.start != should.start || is.len != should.len ||
			  is.capacity != should.capacity || is.wp != should.wp ||
			  is.type != should.type || is.condition != should.condition;
	}
	return differ;
}

static struct zone_limits random_limits(struct rnd *rnd)
{
	struct zone_limits limits = { .zone_size = 8u << rnd_below(rnd, 5) };
	u32 count = 1 + rnd_below(rnd, MOST);

	limits.sectors = count * limits.zone_size;
	limits.zone_capacity = rnd_below(rnd, 2) ? limits.zone_size :
			       1 + rnd_below(rnd, limits.zone_size);
	limits.conventional = rnd_below(rnd, 2) ? 0 : rnd_below(rnd, count);
	limits.max_open = rnd_below(rnd, 3) ? rnd_below(rnd, 6) : 0;
	limits.max_active = rnd_below(rnd, 3) ? rnd_below(rnd, 9) : 0;
	limits.append_limit = rnd_below(rnd, 4) ? 8 : 0;
	return limits;
}

/* A command that makes sense more often than not. */
static enum zone_op random_command(struct rnd *rnd, const struct zones *zones, u64 *sector,
				   u32 *sectors)
{
	static const enum zone_op ops[] = {
		ZONE_OP_WRITE, ZONE_OP_WRITE, ZONE_OP_WRITE, ZONE_OP_WRITE, ZONE_OP_APPEND,
		ZONE_OP_APPEND, ZONE_OP_OPEN, ZONE_OP_CLOSE, ZONE_OP_FINISH, ZONE_OP_RESET,
	};
	enum zone_op op = rnd_below(rnd, 200) ? ops[rnd_below(rnd, ARRAY_SIZE(ops))] :
			  ZONE_OP_RESET_ALL;
	u32 number = rnd_below(rnd, zones->count), size = zones->limits.zone_size;
	struct zone_report report;
	u32 offset;

	zones_report(zones, number, &report);
	*sector = report.start;
	*sectors = 0;
	if (op == ZONE_OP_RESET_ALL)
		*sector = 0;
	if (op != ZONE_OP_WRITE && op != ZONE_OP_APPEND)
		return op;
	offset = rnd_below(rnd, 10) ? report.wp - report.start : rnd_below(rnd, size);
	if (offset >= size || op == ZONE_OP_APPEND)
		offset = 0;
	*sector += offset;
	*sectors = 1 + rnd_below(rnd, min(size - offset, 8u));
	if (!rnd_below(rnd, 4))
		*sectors = size - offset;
	return op;
}

/* Commands until the two differ, @commands at most. Returns how many agreed. */
static u32 run_beside(struct kunit *test, struct rnd *rnd, struct naive *drive, u32 commands,
		      u32 *errors)
{
	struct zone_limits limits = random_limits(rnd);
	struct zone_result result;
	struct zones zones;
	u32 i, sectors;
	u64 sector;

	KUNIT_ASSERT_EQ(test, zones_init(&zones, &limits), 0);
	naive_init(drive, &limits);
	for (i = 0; i < commands; i++) {
		enum zone_op op = random_command(rnd, &zones, &sector, &sectors);
		u64 place = sector;
		u32 number = zones_number(&zones, sector);
		enum zone_error should;

		if (op == ZONE_OP_APPEND)
			place += drive->zone[number].written;
		should = naive_command(drive, op, sector, sectors);
		errors[should]++;
		if (zones_command(&zones, op, sector, sectors, &result) != should ||
		    differing(&zones, drive))
			break;
		if (should == ZONES_OK && op <= ZONE_OP_APPEND && result.sector != place)
			break;
	}
	zones_exit(&zones);
	return i;
}

static void agrees_with_a_naive_drive(struct kunit *test)
{
	struct naive *drive = kmalloc(sizeof(*drive), GFP_KERNEL);
	struct rnd rnd = { .state = 40 };
	u32 errors[4] = {}, run;

	KUNIT_ASSERT_NOT_NULL(test, drive);
	for (run = 0; run < 300; run++)
		KUNIT_EXPECT_EQ_MSG(test, run_beside(test, &rnd, drive, 500, errors), 500u,
				    "run %u", run);
	kfree(drive);
	/* It did meet each answer. */
	for (run = 0; run < ARRAY_SIZE(errors); run++)
		KUNIT_EXPECT_GE_MSG(test, errors[run], 500u, "error %u", run);
}

#ifdef MODEL_PLANT
static void a_limit_that_is_ignored_is_found(struct kunit *test)
{
	struct naive *drive = kmalloc(sizeof(*drive), GFP_KERNEL);
	struct rnd rnd = { .state = 40 };
	u32 errors[4] = {}, run, found = 0;
	const char *before = model_plant;

	KUNIT_ASSERT_NOT_NULL(test, drive);
	model_plant = "open_zones";
	for (run = 0; run < 300; run++)
		found += run_beside(test, &rnd, drive, 500, errors) < 500;
	model_plant = before;
	KUNIT_EXPECT_GE(test, found, 50u);
	kfree(drive);
}
#endif

/* A letter for each condition, for tables of cases. */
static char letter(const struct zones *zones, u32 number)
{
	struct zone_report report;

	zones_report(zones, number, &report);
	switch (report.condition) {
	case ZONE_EMPTY:
		return 'e';
	case ZONE_IMP_OPEN:
		return 'i';
	case ZONE_EXP_OPEN:
		return 'x';
	case ZONE_CLOSED:
		return 'c';
	case ZONE_FULL:
		return 'f';
	case ZONE_READONLY:
		return 'r';
	default:
		return '-';
	}
}

/*
 * A script of commands: a letter and the zone. w writes 8 sectors at the pointer, W all that is
 * left, B 8 sectors behind the pointer, a appends 8; o open, c close, f finish, r reset. Behind the
 * last is what became of it: + done, ! invalid, O too many open, A too many active; and behind that
 * the zones' conditions.
 */
struct zone_case {
	const char *script;
	char answer;
	const char *conditions;
};

/* Zone 0 is conventional; 2 may be open, 3 active; the capacity is 24 of 32 sectors. */
static const struct zone_case zone_cases[] = {
	{ "w0", '+', "-eeeee" },		/* no pointer */
	{ "a0", '!', "-eeeee" },
	{ "o0", '!', "-eeeee" },
	{ "c0", '!', "-eeeee" },
	{ "f0", '!', "-eeeee" },
	{ "r0", '!', "-eeeee" },
	{ "w1", '+', "-ieeee" },		/* opened implicitly */
	{ "B1", '!', "-eeeee" },
	{ "w1w1w1", '+', "-feeee" },		/* the capacity is written */
	{ "w1w1w1w1", '!', "-feeee" },
	{ "w1w1w1a1", '!', "-feeee" },
	{ "W1", '+', "-feeee" },
	{ "a1", '+', "-ieeee" },
	{ "o1", '+', "-xeeee" },
	{ "o1o1", '+', "-xeeee" },
	{ "o1w1", '+', "-xeeee" },		/* stays explicitly open */
	{ "o1c1", '+', "-eeeee" },		/* nothing was written */
	{ "o1w1c1", '+', "-ceeee" },
	{ "w1c1c1", '+', "-ceeee" },
	{ "w1c1w1", '+', "-ieeee" },
	{ "c1", '!', "-eeeee" },
	{ "f1", '+', "-feeee" },		/* of an empty zone */
	{ "f1f1", '+', "-feeee" },
	{ "f1c1", '!', "-feeee" },
	{ "f1o1", '!', "-feeee" },
	{ "f1w1", '!', "-feeee" },
	{ "f1r1", '+', "-eeeee" },
	{ "r1", '+', "-eeeee" },
	{ "w1w2w3", '+', "-ciiee" },		/* the first is closed for the third */
	{ "w1w2w3w1", 'O', "-ciiee" },		/* three are active: none is closed for it */
	{ "w1w2w3w4", 'A', "-ciiee" },
	{ "o1o2w3", 'O', "-xxeee" },		/* explicitly open zones stay */
	{ "o1o2o3", 'O', "-xxeee" },
	{ "o1w2o3", '+', "-xcxee" },
	{ "w1c1w2c2w3c3w4", 'A', "-cccee" },
	{ "w1c1w2c2w3c3w1", '+', "-iccee" },
	{ "w1c1w2c2w3c3f4", 'A', "-cccee" },
	{ "w1c1w2c2w3c3f1", '+', "-fccee" },
	{ "w1c1w2c2w3c3r1w4", '+', "-eccie" },
};

static enum zone_error play(struct zones *zones, const char *script)
{
	enum zone_error error = ZONES_OK;
	struct zone_result result;
	struct zone_report report;

	for (; *script; script += 2) {
		static const char letters[] = "wWBaocfr";
		static const enum zone_op ops[] = {
			ZONE_OP_WRITE, ZONE_OP_WRITE, ZONE_OP_WRITE, ZONE_OP_APPEND, ZONE_OP_OPEN,
			ZONE_OP_CLOSE, ZONE_OP_FINISH, ZONE_OP_RESET,
		};
		u32 which = strchr(letters, *script) - letters, sectors = 8;
		u64 sector;

		zones_report(zones, script[1] - '0', &report);
		sector = report.start;
		if (*script == 'B')
			sector = report.wp + 8;
		else if (ops[which] == ZONE_OP_WRITE && report.type == ZONE_SEQUENTIAL)
			sector = min(report.wp, report.start + report.len - 8);
		if (*script == 'W')
			sectors = report.start + report.capacity - sector;
		error = zones_command(zones, ops[which], sector, sectors, &result);
	}
	return error;
}

static void follows_the_specification(struct kunit *test)
{
	static const struct zone_limits limits = {
		.sectors = 6 * 32, .zone_size = 32, .zone_capacity = 24, .conventional = 1,
		.max_open = 2, .max_active = 3, .append_limit = 8,
	};
	static const char answers[] = "+!OA";
	u32 i, zone;

	for (i = 0; i < ARRAY_SIZE(zone_cases); i++) {
		const struct zone_case *c = &zone_cases[i];
		char conditions[7] = {};
		struct zones zones;
		enum zone_error error;

		KUNIT_ASSERT_EQ(test, zones_init(&zones, &limits), 0);
		error = play(&zones, c->script);
		for (zone = 0; zone < zones.count; zone++)
			conditions[zone] = letter(&zones, zone);
		KUNIT_EXPECT_EQ_MSG(test, answers[error], c->answer, "%s", c->script);
		KUNIT_EXPECT_EQ_MSG(test, strcmp(conditions, c->conditions), 0, "%s: %s",
				    c->script, conditions);
		zones_exit(&zones);
	}
}

static void says_what_a_model_is_told(struct kunit *test)
{
	static const struct zone_limits limits = {
		.sectors = 128, .zone_size = 32, .zone_capacity = 24, .max_open = 1,
		.append_limit = 8,
	};
	struct zone_result result;
	struct zones zones;

	KUNIT_ASSERT_EQ(test, zones_init(&zones, &limits), 0);
	zones_command(&zones, ZONE_OP_APPEND, 32, 8, &result);
	KUNIT_EXPECT_TRUE(test, result.opened && result.sector == 32);
	KUNIT_EXPECT_EQ(test, result.closed, ZONES_NONE);
	zones_command(&zones, ZONE_OP_APPEND, 32, 8, &result);
	KUNIT_EXPECT_TRUE(test, !result.opened && result.sector == 40 && result.sectors == 8);
	zones_command(&zones, ZONE_OP_WRITE, 64, 4, &result);
	KUNIT_EXPECT_TRUE(test, result.opened && result.closed == 1);
	zones_command(&zones, ZONE_OP_FINISH, 64, 0, &result);
	KUNIT_EXPECT_TRUE(test, result.sectors == 20 && result.sector == 64 && result.changed);
	zones_command(&zones, ZONE_OP_RESET, 64, 0, &result);
	KUNIT_EXPECT_TRUE(test, result.sectors == 24 && result.changed);
	zones_command(&zones, ZONE_OP_RESET, 64, 0, &result);
	KUNIT_EXPECT_TRUE(test, !result.sectors && !result.changed);
	zones_command(&zones, ZONE_OP_FINISH, 96, 0, &result);
	KUNIT_EXPECT_EQ(test, result.sectors, 24u);
	zones_command(&zones, ZONE_OP_RESET_ALL, 0, 0, &result);
	KUNIT_EXPECT_TRUE(test, result.sectors == 40 && result.changed);
	zones_exit(&zones);
}

static void knows_again_what_was_written(struct kunit *test)
{
	static const struct zone_limits limits = {
		.sectors = 160, .zone_size = 32, .zone_capacity = 24,
		.max_open = 2, .max_active = 3,
	};
	struct zone_report report;
	struct zones zones;

	KUNIT_ASSERT_EQ(test, zones_init(&zones, &limits), 0);
	zones_restore(&zones, 0, 8);
	zones_restore(&zones, 1, 24);
	zones_restore(&zones, 2, 0);
	KUNIT_EXPECT_EQ(test, letter(&zones, 0), 'c');
	KUNIT_EXPECT_EQ(test, letter(&zones, 1), 'f');
	KUNIT_EXPECT_EQ(test, letter(&zones, 2), 'e');
	/* It counts as active: of three more only two are. */
	KUNIT_EXPECT_EQ(test, play(&zones, "w2w3w4"), ZONES_TOO_MANY_ACTIVE);
	/* A write that came to nothing */
	zones_restore(&zones, 3, 0);
	KUNIT_EXPECT_EQ(test, play(&zones, "w4"), ZONES_OK);
	zones_set_readonly(&zones, 4);
	zones_report(&zones, 4, &report);
	KUNIT_EXPECT_EQ(test, report.wp, U64_MAX);
	KUNIT_EXPECT_EQ(test, play(&zones, "r4"), ZONES_INVALID);
	KUNIT_EXPECT_EQ(test, play(&zones, "o4"), ZONES_INVALID);
	KUNIT_EXPECT_EQ(test, play(&zones, "f4"), ZONES_INVALID);
	zones_exit(&zones);
}

/* An open or close of zone 1 that failed, behind and before other commands: its condition. */
struct take_back {
	const char *before, *command, *between, *condition;
};

static const struct take_back take_backs[] = {
	{ "", "o1", "", "e" },
	{ "w1", "o1", "", "i" },
	{ "w1c1", "o1", "", "c" },
	/* Written to meanwhile: not empty. */
	{ "", "o1", "w1", "c" },
	{ "", "o1", "r1", "e" },
	{ "", "o1", "f1", "f" },
	{ "o1", "c1", "", "x" },
	{ "w1", "c1", "", "i" },
	{ "w1o1", "c1", "", "x" },
	{ "w1c1", "c1", "", "c" },
	/* No room to have two open. */
	{ "w1", "c1", "o2o3", "c" },
	{ "o1", "c1", "o2o3", "e" },
	/* Nor to have three active. */
	{ "o1", "c1", "w2w3w4c2c3c4", "e" },
	{ "w1", "c1", "r1", "i" },
};

static void takes_back_what_the_drive_failed(struct kunit *test)
{
	static const struct zone_limits limits = {
		.sectors = 6 * 32, .zone_size = 32, .zone_capacity = 24, .conventional = 1,
		.max_open = 2, .max_active = 3, .append_limit = 8,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(take_backs); i++) {
		const struct take_back *c = &take_backs[i];
		enum zone_op op = *c->command == 'o' ? ZONE_OP_OPEN : ZONE_OP_CLOSE;
		struct zone_result result;
		struct zones zones;
		char now[2] = {};
		u32 zone;

		KUNIT_ASSERT_EQ(test, zones_init(&zones, &limits), 0);
		play(&zones, c->before);
		KUNIT_EXPECT_EQ(test, zones_command(&zones, op, 32, 0, &result), ZONES_OK);
		play(&zones, c->between);
		zones_take_back(&zones, 1, op, result.before);
		now[0] = letter(&zones, 1);
		KUNIT_EXPECT_EQ_MSG(test, strcmp(now, c->condition), 0, "%s %s %s: %s", c->before,
				    c->command, c->between, now);
		for (zone = 0; zone < zones.count; zone++)
			zones_command(&zones, ZONE_OP_RESET, zone * 32, 0, &result);
		KUNIT_EXPECT_EQ(test, zones.imp_open + zones.exp_open + zones.closed, 0u);
		zones_exit(&zones);
	}
}

static void refuses_limits_of_no_drive(struct kunit *test)
{
	static const struct zone_limits good = {
		.sectors = 128, .zone_size = 32, .zone_capacity = 24, .conventional = 3,
	};
	struct zone_limits bad[9];
	struct zones zones;
	u32 i;

	KUNIT_EXPECT_EQ(test, zones_init(&zones, &good), 0);
	zones_exit(&zones);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	bad[0].sectors = 0;
	bad[1].sectors = 127;
	bad[2].zone_size = 0;
	bad[3].zone_size = 48;
	bad[4].zone_size = 1ull << 32;
	bad[5].zone_capacity = 0;
	bad[6].zone_capacity = 33;
	bad[7].conventional = 4;
	bad[8].sectors = 1ull << 40;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ_MSG(test, zones_init(&zones, &bad[i]), -EINVAL, "limits %u", i);
		zones_exit(&zones);
	}
}

static struct kunit_case zones_cases[] = {
	KUNIT_CASE(follows_the_specification),
	KUNIT_CASE(takes_back_what_the_drive_failed),
	KUNIT_CASE(agrees_with_a_naive_drive),
#ifdef MODEL_PLANT
	KUNIT_CASE(a_limit_that_is_ignored_is_found),
#endif
	KUNIT_CASE(says_what_a_model_is_told),
	KUNIT_CASE(knows_again_what_was_written),
	KUNIT_CASE(refuses_limits_of_no_drive),
	{}
};

static struct kunit_suite zones_suite = {
	.name = "zones",
	.test_cases = zones_cases,
};

kunit_test_suite(zones_suite);
