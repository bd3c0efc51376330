/* picture - a matrix as an image in netpbm's binary formats. */
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"

void
pe_picture_fit(struct pe_picture *p, const struct pe_matrix *m)
{
	const double *x = pe_matrix_f64(m);
	double low = (double)INFINITY, high = -(double)INFINITY;

	for (size_t i = 0; i < m->rows * m->cols; i++) {
		const double value = p->colour ? fabs(x[i]) : x[i];

		if (isfinite(value)) {
			low = fmin(low, value);
			high = fmax(high, value);
		}
	}
	if (p->colour)
		low = -high;
	if (!(low < high)) {
		low = p->colour || !isfinite(low) ? -1 : low;
		high = low + (p->colour ? 2 : 1);
	}
	p->low = low;
	p->high = high;
}

/* 0 .. 255 of a share 0 .. 1. */
static unsigned char
level(double share)
{
	return (unsigned char)floor(255 * share + 0.5);
}

enum { GREY = 128 };

static void
paint(const struct pe_picture *p, double x, unsigned char *pixel)
{
	const double held = fmin(fmax(x, p->low), p->high);

	if (isnan(x)) {
		memset(pixel, GREY, p->colour ? 3 : 1);
	} else if (!p->colour) {
		/* halves first: the width of the widest range would overflow */
		pixel[0] = level((held / 2 - p->low / 2) / (p->high / 2 - p->low / 2));
	} else {
		const double end = held < 0 ? p->low : p->high;
		const unsigned char pale = level(held == 0 ? 1 : 1 - held / end);

		pixel[0] = held < 0 ? pale : 255;
		pixel[1] = pale;
		pixel[2] = held > 0 ? pale : 255;
	}
}

/* A row of cells, each zoom pixels wide. */
static void
paint_row(const struct pe_picture *p, const double *x, size_t cols, unsigned char *line)
{
	const size_t depth = p->colour ? 3 : 1;

	for (size_t c = 0; c < cols; c++) {
		unsigned char pixel[3] = {0};

		paint(p, x[c], pixel);
		for (size_t z = 0; z < p->zoom; z++, line += depth)
			memcpy(line, pixel, depth);
	}
}

int
pe_picture_write(const struct pe_picture *p, const struct pe_matrix *m, struct pe_output *out,
		 struct pe_error *e)
{
	const double *x = pe_matrix_f64(m);
	char header[64];
	size_t width, height, size;
	int failed;

	if (!pe_num_size(m->cols, p->zoom, 1, &width) ||
	    !pe_num_size(m->rows, p->zoom, 1, &height) ||
	    !pe_num_size(width, p->colour ? 3 : 1, 1, &size))
		return pe_fail(e, PE_FAULT_MEMORY, "%zu rows x %zu columns x zoom %zu overflows",
			       m->rows, m->cols, p->zoom);
	unsigned char *line = malloc(size);
	if (line == NULL)
		return pe_fail_memory(e);
	const int used = snprintf(header, sizeof header, "P%c\n%zu %zu\n255\n",
				  p->colour ? '6' : '5', width, height);
	failed = pe_output_write(out, header, (size_t)used, e);
	for (size_t r = 0; !failed && r < m->rows; r++) {
		paint_row(p, x + r * m->cols, m->cols, line);
		for (size_t z = 0; !failed && z < p->zoom; z++)
			failed = pe_output_write(out, line, size, e);
	}
	free(line);
	return failed;
}
