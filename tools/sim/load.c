// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <unistd.h>

#include "../common/complain.h"
#include "../../model/profile/profile-options.h"
#include "load.h"
#include "params.h"

#define LARGEST		(16 << 20)	/* no profile is as large; stops at devices and the like */

/* Open profiles/NAME.profile, of the source tree or of the installation. */
static FILE *open_named(const char *name)
{
	static const char *const places[] = { "profiles", "share/dm-david/profiles" };
	char self[PATH_MAX], path[PATH_MAX + 300];
	FILE *file = NULL;
	unsigned int i;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int level;

	if (n < 0 || strchr(name, '/') || strlen(name) > 255)
		return NULL;
	self[n] = '\0';
	for (level = 0; level < 2; level++) {
		slash = strrchr(self, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	for (i = 0; i < ARRAY_SIZE(places) && !file; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s.profile", self, places[i], name);
		file = fopen(path, "r");
	}
	return file;
}

static char *read_all(FILE *file, size_t *len)
{
	char *text = malloc(LARGEST);

	*len = text ? fread(text, 1, LARGEST, file) : 0;
	if (text && (ferror(file) || *len == LARGEST)) {
		free(text);
		return NULL;
	}
	return text;
}

char *load_text(const char *name, size_t *len)
{
	struct profile_error error = { };
	FILE *file = fopen(name, "r") ?: open_named(name);
	char *text, *profile;

	if (!file) {
		complain("%s: %s", name, "neither a file nor the name of a profile");
		return NULL;
	}
	text = read_all(file, len);
	fclose(file);
	if (!text) {
		complain("%s: %s", name, "cannot be read as a profile");
		return NULL;
	}
	if (!params_recognize(text, *len)) {
		if (!params_is_description(text, *len))
			return text;
		complain("%s: %s", name,
			 "DiskSim's own description: david profile import makes a profile of it");
		free(text);
		return NULL;
	}
	profile = params_to_profile(text, *len, strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
				    &error);
	free(text);
	if (!profile) {
		fprintf(stderr, "%s:%u: %s\n", name, error.line, error.text);
		return NULL;
	}
	*len = strlen(profile);
	return profile;
}

char *print_profile(const struct profile *profile)
{
	size_t len = profile_print(profile, NULL, 0);
	char *text = malloc(len + 1);

	if (text)
		profile_print(profile, text, len + 1);
	return text;
}

/* Each host has other presets of these. davidlib/drive/profileword.py has the same. */
static bool of_the_host(const char *item)
{
	static const char *const names[] = {
		"nr_requests=", "max_sectors=", "max_segments=", "scheduler="
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(item, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * Return a copy of @text in which @option replaces the item of the same name. With another host
 * come its presets.
 */
static char *replace_option(char *text, const char *option)
{
	size_t name_len = strcspn(option, "= ");
	char *result = NULL, *item, *rest = text;
	size_t len;
	FILE *out = open_memstream(&result, &len);

	if (!out)
		return NULL;
	fputs(option, out);
	while ((item = strsep(&rest, ";"))) {
		if (!strncmp(option, "host=", 5) && of_the_host(item))
			continue;
		if (strncmp(item, option, name_len) || item[name_len] != '=')
			fprintf(out, ";%s", item);
	}
	fclose(out);
	return result;
}

/* The last one would count, and the others be forgotten. Returns 0, or -1 after complaining. */
static int each_once(const struct option_list *values)
{
	unsigned int i, j;

	for (i = 1; i < values->nr; i++) {
		const char *text = values->texts[i];
		size_t len = strcspn(text, "= ");

		for (j = 0; j < i; j++) {
			if (strncmp(text, values->texts[j], len) ||
			    strcspn(values->texts[j], "= ") != len)
				continue;
			complain("--option %s: %s", text,
				 "that parameter is there twice; leave one out");
			return -1;
		}
	}
	return 0;
}

/*
 * Some values go together, such as those of zones. So what is wrong with one may be right with the
 * next; then nothing is said. Returns 0, or -1 after complaining.
 */
static int apply_all(struct profile *profile, const struct option_list *values)
{
	struct profile_error error, first;
	const char *wrong = NULL;
	char *text = print_profile(profile), *changed;
	unsigned int i;
	int ret = 0;

	profile_free(profile);
	for (i = 0; i < values->nr && text; i++) {
		changed = replace_option(text, values->texts[i]);
		free(text);
		text = changed;
		ret = text ? profile_parse(profile, text, strlen(text), &error) : -ENOMEM;
		if (!ret) {
			wrong = NULL;
			free(text);
			text = print_profile(profile);
			if (i + 1 < values->nr)
				profile_free(profile);
		} else if (ret != -EINVAL) {
			break;
		} else if (!wrong) {
			wrong = values->texts[i];
			first = error;
		}
	}
	if (!text || (ret && ret != -EINVAL))
		complain("%s: %s", values->texts[0], "out of memory");
	else if (ret)
		complain("%s: %s", wrong, first.text);
	free(text);
	return ret || !text ? -1 : 0;
}

int load_profile(struct profile *profile, const char *name, const struct option_list *values)
{
	struct profile_error error;
	size_t len;
	char *text = load_text(name, &len);
	int ret;

	if (!text)
		return -1;
	ret = profile_parse(profile, text, len, &error);
	if (ret == -EINVAL)
		fprintf(stderr, "%s:%u: %s%s\n", name, error.line, error.text,
			strncmp(text, PARAMS_HEAD, strlen(PARAMS_HEAD)) ? "" :
			" (the line is that of 'david-sim profile import')");
	else if (ret)
		complain("%s: %s", name, "out of memory");
	free(text);
	if (ret)
		return -1;
	if (!values || !values->nr)
		return 0;
	if (!each_once(values))
		return apply_all(profile, values);
	profile_free(profile);
	return -1;
}

int load_scaled(const char *command, struct profile *profile, u64 sectors)
{
	u64 zone = profile->zone_size;

	if (!sectors || !profile_scale(profile, sectors))
		return 0;
	if (!zone)
		return bad_usage(command,
				 "--size: of %s a disk has whole blocks of %u bytes, and %llu sectors are none or too many",
				 profile->name, profile->logical_block,
				 (unsigned long long)sectors);
	return bad_usage(command,
			 "--size: %s has zones of %llu sectors; a disk has two or more whole ones, and %llu at most",
			 profile->name, (unsigned long long)zone,
			 (unsigned long long)PROFILE_MAX_HOST_ZONES);
}
