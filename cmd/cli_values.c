/* cli_values - the values of options, checked. */
#include "cli_values.h"

#include <stdio.h>
#include <string.h>

#include "cli_table.h"
#include "num.h"

static void
check(int failed, const struct pe_error *e)
{
	if (failed)
		cli_die(e);
}

size_t
cli_positive(int key, const char *arg)
{
	struct pe_error e;
	size_t value;

	check(pe_num_positive(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

size_t
cli_count(int key, const char *arg)
{
	struct pe_error e;
	size_t value;

	check(pe_num_count(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

int64_t
cli_integer(int key, const char *arg)
{
	struct pe_error e;
	int64_t value;

	check(pe_num_int64(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

int64_t
cli_position(int key, const char *arg)
{
	const int64_t value = cli_integer(key, arg);

	if (value < -PE_POSITION_MAX || value > PE_POSITION_MAX)
		cli_refuse("%s: beyond 2^53, where positions are exact: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	return value;
}

int64_t
cli_query_start(int key, const char *arg, bool *at_end)
{
	*at_end = strcmp(arg, "end") == 0;
	return *at_end ? 0 : cli_position(key, arg);
}

double
cli_number(int key, const char *arg)
{
	struct pe_error e;
	double value;

	check(pe_num_double(cli_spelling(key), arg, &value, &e), &e);
	return value;
}

double
cli_positive_number(int key, const char *arg)
{
	const double value = cli_number(key, arg);

	if (!(value > 0))
		cli_refuse("%s: must be positive: '%s'", cli_spelling(key), pe_quote(arg).text);
	return value;
}

int
cli_choice(int key, const char *arg, const char *const *choices)
{
	char list[512];
	size_t used = 0;

	for (int i = 0; choices[i] != NULL; i++)
		if (strcmp(arg, choices[i]) == 0)
			return i;
	list[0] = '\0';
	for (int i = 0; choices[i] != NULL && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
					 choices[i]);
	cli_refuse("%s: must be one of %s: '%s'", cli_spelling(key), list, pe_quote(arg).text);
}

/* The piece of text up to the separator or the end, as a string of its own; moves *text behind it. */
static bool
piece(const char **text, char separator, char *to, size_t room)
{
	const char *end = strchr(*text, separator);
	const size_t length = end != NULL ? (size_t)(end - *text) : strlen(*text);

	if (length >= room)
		return false;
	memcpy(to, *text, length);
	to[length] = '\0';
	*text = end != NULL ? end + 1 : NULL;
	return true;
}

void
cli_range(int key, const char *arg, int64_t *lo, int64_t *hi, int64_t *step)
{
	int64_t *const values[] = {lo, hi, step};
	const char *rest = arg;
	struct pe_error e;
	char text[32];
	bool whole = true;
	int n = 0;

	*step = 1;
	for (; rest != NULL && n < 3 && whole; n++)
		whole = piece(&rest, ':', text, sizeof text) &&
			pe_num_int64(cli_spelling(key), text, values[n], &e) == 0;
	if (!whole || n < 2 || rest != NULL)
		cli_refuse("%s: must be LO:HI or LO:HI:STEP: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	if (*step < 1)
		cli_refuse("%s: step must be positive: '%s'", cli_spelling(key),
			   pe_quote(arg).text);
	if (*lo > *hi)
		cli_refuse("%s: empty range: '%s'", cli_spelling(key), pe_quote(arg).text);
}

void
cli_shape(int key, const char *arg, size_t *rows, size_t *cols)
{
	const char *rest = arg;
	struct pe_error e;
	char text[32];

	if (!piece(&rest, 'x', text, sizeof text) ||
	    pe_num_positive(cli_spelling(key), text, rows, &e) != 0)
		goto refuse;
	*cols = *rows;
	if (rest != NULL && pe_num_positive(cli_spelling(key), rest, cols, &e) != 0)
		goto refuse;
	return;
refuse:
	cli_refuse("%s: must be a count or ROWSxCOLS, both positive: '%s'", cli_spelling(key),
		   pe_quote(arg).text);
}
