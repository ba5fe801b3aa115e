// SPDX-License-Identifier: GPL-2.0
/* The zones of a zoned drive: see zones.h. */
#include "zones.h"

#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"

static bool has_limits(const struct zones *zones)
{
	return zones->limits.max_open || zones->limits.max_active;
}

static bool limits_make_sense(const struct zone_limits *limits)
{
	u64 size = limits->zone_size;

	return size && !(size & (size - 1)) && size <= 1ull << 31 &&
	       limits->sectors && !(limits->sectors & (size - 1)) &&
	       limits->sectors / size < ZONES_NONE &&
	       limits->zone_capacity && limits->zone_capacity <= size &&
	       limits->conventional < limits->sectors / size + MODEL_PLANTED(zone_sense);
}

void zones_normalize(struct zone_limits *limits)
{
	u32 sequential = div64_u64(limits->sectors, limits->zone_size) - limits->conventional;

	if (limits->max_active >= sequential)
		limits->max_active = 0;
	if (limits->max_active && limits->max_open > limits->max_active)
		limits->max_open = limits->max_active;
	else if (limits->max_open >= sequential)
		limits->max_open = 0;
}

int zones_init(struct zones *zones, const struct zone_limits *limits)
{
	u32 i;

	memset(zones, 0, sizeof(*zones));
	if (!limits_make_sense(limits))
		return -EINVAL;
	zones->limits = *limits;
	while ((1ull << zones->shift) < limits->zone_size)
		zones->shift++;
	zones->count = limits->sectors >> zones->shift;
	zones->next_close = limits->conventional;
	zones_normalize(&zones->limits);

	zones->state = kvcalloc(zones->count, sizeof(*zones->state), GFP_KERNEL);
	if (!zones->state)
		return -ENOMEM;
	for (i = limits->conventional; i < zones->count; i++)
		zones->state[i].condition = ZONE_EMPTY;
	return 0;
}

void zones_exit(struct zones *zones)
{
	kvfree(zones->state);
	zones->state = NULL;
}

/* The count that a zone in this condition is part of, or NULL. */
static u32 *zone_count_of(struct zones *zones, u8 condition)
{
	switch (condition) {
	case ZONE_IMP_OPEN:
		return &zones->imp_open;
	case ZONE_EXP_OPEN:
		return &zones->exp_open;
	case ZONE_CLOSED:
		return &zones->closed;
	default:
		return NULL;
	}
}

static void set_condition(struct zones *zones, struct zone_state *zone, u8 condition)
{
	u32 *count = zone_count_of(zones, zone->condition);

	if (count)
		--*count;
	zone->condition = condition;
	count = zone_count_of(zones, condition);
	if (count)
		++*count;
}

/* A zone that is not open any more. */
static void set_closed(struct zones *zones, struct zone_state *zone)
{
	set_condition(zones, zone, zone->written ? ZONE_CLOSED : ZONE_EMPTY);
}

/* An implicitly open zone is closed, each in its turn. Returns its number; there is one. */
static u32 close_one(struct zones *zones)
{
	u32 number = zones->next_close, i;

	for (i = zones->limits.conventional; i < zones->count; i++) {
		if (number >= zones->count)
			number = zones->limits.conventional;
		if (zones->state[number].condition == ZONE_IMP_OPEN)
			break;
		number++;
	}
	set_closed(zones, &zones->state[number]);
	zones->next_close = number + !MODEL_PLANTED(zone_closes);
	return number;
}

static bool may_activate(const struct zones *zones)
{
	u32 active = zones->imp_open + zones->exp_open + zones->closed;

	return !zones->limits.max_active ||
	       active < zones->limits.max_active + MODEL_PLANTED(zone_active);
}

/* May the empty or closed zone be opened? An implicitly open one is closed for it if need be. */
static enum zone_error make_room(struct zones *zones, const struct zone_state *zone,
				 struct zone_result *result)
{
	u32 open = zones->imp_open + zones->exp_open;

	if (zone->condition == ZONE_EMPTY && !may_activate(zones))
		return ZONES_TOO_MANY_ACTIVE;
	if (!zones->limits.max_open || open < zones->limits.max_open ||
	    MODEL_PLANTED(open_zones))
		return ZONES_OK;
	/* The zone that is closed stays active. null_blk asks for room of a closed zone, too. */
	if (!zones->imp_open || !may_activate(zones))
		return ZONES_TOO_MANY_OPEN;
	result->closed = close_one(zones);
	result->changed = true;
	return ZONES_OK;
}

static enum zone_error write_zone(struct zones *zones, struct zone_state *zone, u32 offset,
				  u32 sectors, struct zone_result *result)
{
	enum zone_error error;

	/* Of a zone that is full, or cannot be written, the pointer leaves no room. */
	if (offset != zone->written || !sectors || zone->condition == ZONE_READONLY ||
	    (u64)offset + sectors > zones->limits.zone_capacity + MODEL_PLANTED(zone_end))
		return ZONES_INVALID;
	if (zone->condition == ZONE_CLOSED || zone->condition == ZONE_EMPTY) {
		error = make_room(zones, zone, result);
		if (error)
			return error;
		set_condition(zones, zone, ZONE_IMP_OPEN);
		result->opened = !MODEL_PLANTED(zone_opens);
	}
	zone->written += sectors + MODEL_PLANTED(zone_wp);
	if (zone->written == zones->limits.zone_capacity)
		set_condition(zones, zone, ZONE_FULL);
	result->changed = true;
	return ZONES_OK;
}

static enum zone_error open_zone(struct zones *zones, struct zone_state *zone,
				 struct zone_result *result)
{
	enum zone_error error;

	switch (zone->condition) {
	case ZONE_EXP_OPEN:
		return ZONES_OK;
	case ZONE_EMPTY:
	case ZONE_CLOSED:
		error = make_room(zones, zone, result);
		if (error)
			return error;
		break;
	case ZONE_IMP_OPEN:
		break;
	default:
		return ZONES_INVALID;
	}
	set_condition(zones, zone, ZONE_EXP_OPEN);
	result->changed = true;
	return ZONES_OK;
}

static enum zone_error close_zone(struct zones *zones, struct zone_state *zone,
				  struct zone_result *result)
{
	switch (zone->condition) {
	case ZONE_CLOSED:
		return ZONES_OK;
	case ZONE_IMP_OPEN:
	case ZONE_EXP_OPEN:
		set_closed(zones, zone);
		result->changed = true;
		return ZONES_OK;
	default:
		return ZONES_INVALID;
	}
}

static enum zone_error finish_zone(struct zones *zones, struct zone_state *zone,
				   struct zone_result *result)
{
	enum zone_error error;

	switch (zone->condition) {
	case ZONE_FULL:
		/* As null_blk has it, which only without limits looks at nothing. */
		if (!has_limits(zones))
			zone->written = zones->limits.zone_size;
		result->sectors = 0;
		return ZONES_OK;
	case ZONE_EMPTY:
	case ZONE_CLOSED:
		error = make_room(zones, zone, result);
		if (error)
			return error;
		break;
	case ZONE_IMP_OPEN:
	case ZONE_EXP_OPEN:
		break;
	default:
		return ZONES_INVALID;
	}
	result->sectors = zones->limits.zone_capacity - zone->written;
	result->changed = true;
	set_condition(zones, zone, ZONE_FULL);
	if (!MODEL_PLANTED(zone_finish))
		zone->written = zones->limits.zone_size;
	return ZONES_OK;
}

/* Sectors that were written to the zone: all, if it was finished. */
static u32 sectors_in(const struct zones *zones, const struct zone_state *zone)
{
	return min_t(u64, zone->written, zones->limits.zone_capacity);
}

static enum zone_error reset_zone(struct zones *zones, struct zone_state *zone,
				  struct zone_result *result)
{
	if (zone->condition == ZONE_READONLY)
		return ZONES_INVALID;
	result->sectors = sectors_in(zones, zone);
	result->changed = zone->condition != ZONE_EMPTY;
	set_condition(zones, zone, ZONE_EMPTY);
	if (!MODEL_PLANTED(zone_reset))
		zone->written = 0;
	return ZONES_OK;
}

static enum zone_error reset_all(struct zones *zones, struct zone_result *result)
{
	u64 sectors = 0;
	bool changed = false;
	u32 i;

	for (i = zones->limits.conventional; i < zones->count; i++) {
		if (zones->state[i].condition == ZONE_EMPTY ||
		    reset_zone(zones, &zones->state[i], result) != ZONES_OK)
			continue;
		sectors += result->sectors;
		changed = true;
	}
	result->sectors = sectors;
	result->changed = changed;
	return ZONES_OK;
}

enum zone_error zones_command(struct zones *zones, enum zone_op op, u64 sector, u32 sectors,
			      struct zone_result *result)
{
	u32 number = zones_number(zones, sector);
	u64 start = (u64)number << zones->shift;
	struct zone_state *zone = &zones->state[number];

	*result = (struct zone_result){
		.sector = op == ZONE_OP_WRITE ? sector : start,
		.sectors = sectors,
		.closed = ZONES_NONE,
		.before = zone->condition,
	};
	if (op == ZONE_OP_RESET_ALL)
		return reset_all(zones, result);
	if (number < zones->limits.conventional)
		return op == ZONE_OP_WRITE ? ZONES_OK : ZONES_INVALID;
	switch (op) {
	case ZONE_OP_WRITE:
		return write_zone(zones, zone, sector - start, sectors, result);
	case ZONE_OP_APPEND:
		if (!zones->limits.append_limit)
			return ZONES_INVALID;
		result->sector = start + zone->written + MODEL_PLANTED(zone_append);
		return write_zone(zones, zone, zone->written, sectors, result);
	case ZONE_OP_OPEN:
		return open_zone(zones, zone, result);
	case ZONE_OP_CLOSE:
		return close_zone(zones, zone, result);
	case ZONE_OP_FINISH:
		return finish_zone(zones, zone, result);
	default:
		return reset_zone(zones, zone, result);
	}
}

void zones_take_back(struct zones *zones, u32 number, enum zone_op op, u8 before)
{
	struct zone_state *zone = &zones->state[number];
	bool opens = before == ZONE_IMP_OPEN || before == ZONE_EXP_OPEN;
	u32 open = zones->imp_open + zones->exp_open;

	if (op == ZONE_OP_OPEN) {
		if (zone->condition != ZONE_EXP_OPEN || MODEL_PLANTED(zone_back))
			return;
		if (opens)
			set_condition(zones, zone, before);
		else
			set_closed(zones, zone);
		return;
	}
	if (!opens || (zone->condition != ZONE_CLOSED && zone->condition != ZONE_EMPTY))
		return;
	if (zones->limits.max_open && open >= zones->limits.max_open)
		return;
	if (zone->condition == ZONE_EMPTY && !may_activate(zones))
		return;
	set_condition(zones, zone, before);
}

void zones_report(const struct zones *zones, u32 number, struct zone_report *report)
{
	const struct zone_state *zone = &zones->state[number];
	u64 start = (u64)number << zones->shift;

	report->start = start;
	report->len = zones->limits.zone_size;
	report->condition = zone->condition;
	if (number < zones->limits.conventional) {
		report->type = ZONE_CONVENTIONAL;
		report->capacity = report->len;
		report->wp = start + report->len;
		return;
	}
	report->type = ZONE_SEQUENTIAL;
	report->capacity = zones->limits.zone_capacity;
	report->wp = zone->condition == ZONE_READONLY ? U64_MAX :
		     start + zone->written - (zone->written && MODEL_PLANTED(zone_report));
}

void zones_restore(struct zones *zones, u32 number, u64 written)
{
	struct zone_state *zone = &zones->state[number];

	zone->written = written;
	if (written >= zones->limits.zone_capacity && !MODEL_PLANTED(zone_restore))
		set_condition(zones, zone, ZONE_FULL);
	else
		set_closed(zones, zone);
}

void zones_set_readonly(struct zones *zones, u32 number)
{
	set_condition(zones, &zones->state[number], ZONE_READONLY);
}
