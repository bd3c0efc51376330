/* decimal - nanoseconds a number of every function, beside the C library's way to the same text or
 * value; the least of several rounds. Once with the values of a table, once with any bits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decimal.h"

enum { COUNT = 1 << 16, ROUNDS = 15, WIDTH = 48 };

/* One set of numbers, in every element, and as text in which every number ends with a comma. */
struct numbers {
	double f64[COUNT];
	float f32[COUNT];
	uint16_t f16[COUNT];
	int64_t i64[COUNT];
	char text64[COUNT * WIDTH], text32[COUNT * WIDTH], texti[COUNT * WIDTH];
	char *end64, *end32, *endi;
	char out[COUNT * WIDTH];
	double sum; /* keeps the work from being dropped */
};

typedef void job(struct numbers *n);

static void
write_f64(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++) {
		to += pe_decimal_write_f64(to, n->f64[i]);
		*to++ = ',';
	}
}

static void
write_f32(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++) {
		to += pe_decimal_write_f32(to, n->f32[i]);
		*to++ = ',';
	}
}

enum { COLUMNS = 512 };

static void
rows_f64(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i += COLUMNS)
		to += pe_decimal_write_rows_f64(to, ',', n->f64 + i, 1, COLUMNS);
}

static void
rows_f32(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i += COLUMNS)
		to += pe_decimal_write_rows_f32(to, ',', n->f32 + i, 1, COLUMNS);
}

static void
write_f16(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++) {
		to += pe_decimal_write_f16(to, n->f16[i]);
		*to++ = ',';
	}
}

static void
write_i64(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++) {
		to += pe_decimal_write_i64(to, n->i64[i]);
		*to++ = ',';
	}
}

static void
write_digits(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++) {
		to += pe_decimal_write_digits(to, n->f64[i], 6);
		*to++ = ',';
	}
}

static void
print_17(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++)
		to += sprintf(to, "%.17g,", n->f64[i]);
}

static void
print_9(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++)
		to += sprintf(to, "%.9g,", (double)n->f32[i]);
}

static void
print_6(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++)
		to += sprintf(to, "%.6g,", n->f64[i]);
}

static void
print_integer(struct numbers *n)
{
	char *to = n->out;

	for (size_t i = 0; i < COUNT; i++)
		to += sprintf(to, "%" PRId64 ",", n->i64[i]);
}

static void
read_f64(struct numbers *n)
{
	double x;

	for (const char *s = n->text64; s < n->end64; s++) {
		(void)pe_decimal_read_f64(s, n->end64, &x, &s);
		n->sum += x;
	}
}

static void
read_f32(struct numbers *n)
{
	float x;

	for (const char *s = n->text32; s < n->end32; s++) {
		(void)pe_decimal_read_f32(s, n->end32, &x, &s);
		n->sum += (double)x;
	}
}

static void
read_rows_f64(struct numbers *n)
{
	double x[COLUMNS];

	for (const char *s = n->text64; s < n->end64; s++) {
		const size_t got =
		    pe_decimal_read_row_f64(n->text64, s, n->end64, ',', x, COLUMNS, &s);
		if (got == 0)
			(void)pe_decimal_read_f64(s, n->end64, x, &s);
		n->sum += x[0];
	}
}

static void
read_rows_f32(struct numbers *n)
{
	float x[COLUMNS];

	for (const char *s = n->text32; s < n->end32; s++) {
		const size_t got =
		    pe_decimal_read_row_f32(n->text32, s, n->end32, ',', x, COLUMNS, &s);
		if (got == 0)
			(void)pe_decimal_read_f32(s, n->end32, x, &s);
		n->sum += (double)x[0];
	}
}

static void
read_i64(struct numbers *n)
{
	int64_t x;

	for (const char *s = n->texti; s < n->endi; s++) {
		(void)pe_decimal_read_i64(s, n->endi, &x, &s);
		n->sum += (double)x;
	}
}

static void
scan_f64(struct numbers *n)
{
	char *behind;

	for (const char *s = n->text64; s < n->end64; s = behind + 1)
		n->sum += strtod(s, &behind);
}

static void
scan_f32(struct numbers *n)
{
	char *behind;

	for (const char *s = n->text32; s < n->end32; s = behind + 1)
		n->sum += (double)strtof(s, &behind);
}

static void
scan_i64(struct numbers *n)
{
	char *behind;

	for (const char *s = n->texti; s < n->endi; s = behind + 1)
		n->sum += (double)strtoll(s, &behind, 10);
}

/* ---- the numbers ---- */

static void
complete(struct numbers *n)
{
	n->end64 = n->text64;
	n->end32 = n->text32;
	n->endi = n->texti;
	for (size_t i = 0; i < COUNT; i++) {
		n->f16[i] = pe_f16_round(n->f64[i]);
		n->end64 += pe_decimal_write_f64(n->end64, n->f64[i]);
		*n->end64++ = ',';
		n->end32 += pe_decimal_write_f32(n->end32, n->f32[i]);
		*n->end32++ = ',';
		n->endi += pe_decimal_write_i64(n->endi, n->i64[i]);
		*n->endi++ = ',';
	}
}

/* a sinusoidal table, 128 pairs of base 10000; buckets and offsets beside it */
static void
fill_table(struct numbers *n)
{
	for (size_t i = 0; i < COUNT; i++) {
		const double angle = (double)(i / 256) * pow(10000, -(double)(i % 256 / 2) / 128);
		n->f64[i] = i & 1 ? cos(angle) : sin(angle);
		n->f32[i] = (float)n->f64[i];
		n->i64[i] = (int64_t)(i * 2654435761 % 4096) - 1024;
	}
	complete(n);
}

/* any finite bits, whole numbers of any length */
static void
fill_random(struct numbers *n)
{
	uint64_t x = 88172645463325252u;

	for (size_t i = 0; i < COUNT;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(&n->f64[i], &x, sizeof x);
		n->i64[i] = (int64_t)(x * 0x9e3779b97f4a7c15u) >> (x % 64);
		const uint32_t narrow = (uint32_t)(x >> 20);
		memcpy(&n->f32[i], &narrow, sizeof narrow);
		i += isfinite(n->f64[i]) && isfinite(n->f32[i]);
	}
	complete(n);
}

/* ---- the clock ---- */

static double
nanoseconds(job *work, struct numbers *n)
{
	double least = INFINITY;

	for (int round = 0; round < ROUNDS; round++) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		work(n);
		clock_gettime(CLOCK_MONOTONIC, &b);
		const double t =
		    (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
		least = fmin(least, t / COUNT);
	}
	return least;
}

int
main(void)
{
	static const struct {
		const char *name;
		job *ours, *theirs;
	} jobs[] = {
	    {"write f64 shortest | %.17g", write_f64, print_17},
	    {"write f32 shortest | %.9g", write_f32, print_9},
	    {"rows written, f64 | %.17g", rows_f64, print_17},
	    {"rows written, f32 | %.9g", rows_f32, print_9},
	    {"write f16 shortest | %.9g", write_f16, print_9},
	    {"write f64, 6 digits | %.6g", write_digits, print_6},
	    {"write i64 | PRId64", write_i64, print_integer},
	    {"read f64 | strtod", read_f64, scan_f64},
	    {"read f32 | strtof", read_f32, scan_f32},
	    {"rows read, f64 | strtod", read_rows_f64, scan_f64},
	    {"rows read, f32 | strtof", read_rows_f32, scan_f32},
	    {"read i64 | strtoll", read_i64, scan_i64},
	};
	struct numbers *n = malloc(sizeof *n);

	if (n == NULL)
		return 1;
	for (int set = 0; set < 2; set++) {
		n->sum = 0;
		(set == 0 ? fill_table : fill_random)(n);
		printf("%-30s %10s %10s\n", set == 0 ? "sines, ns a number" : "random bits", "ours",
		       "C library");
		for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
			printf("%-30s %10.1f %10.1f\n", jobs[i].name, nanoseconds(jobs[i].ours, n),
			       nanoseconds(jobs[i].theirs, n));
	}
	free(n);
	return 0;
}
