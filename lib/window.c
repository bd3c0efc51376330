/* window - matrices that know the offset alone, written without ever being held. */
#include "window.h"

#include <string.h>

#include "matrix.h"

enum { BAND = 65536 }; /* rows whose windows come out of one vector */

static void
fill(char *to, const char *value, size_t size, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * size, value, size);
}

/* Rows first_row .. first_row + rows - 1 of one head; values hold the offsets from
 * that of the last row with key 0 to that of the first row with the last key. */
static int
write_band(const struct pe_window *w, struct pe_writer *out, size_t head, size_t first_row,
	   size_t rows, const char *values, struct pe_error *e)
{
	const size_t size = pe_elem_size(pe_writer_carrier(out)), width = w->cols * size;

	for (size_t done = 0, room; done < rows; done += room) {
		char *to = pe_writer_room(out, rows - done, &room);

		for (size_t r = 0; r < room; r++, to += width) {
			const int64_t position = w->first + (int64_t)(first_row + done + r);

			memcpy(to, values + (rows - 1 - done - r) * size, width);
			if (w->cls_row != NULL && position == 0)
				fill(to, (const char *)w->cls_row + head * size, size, w->cols);
			else if (w->cls_column != NULL)
				memcpy(to, (const char *)w->cls_column + head * size, size);
		}
		if (pe_writer_filled(out, room, e))
			return -1;
	}
	return 0;
}

int
pe_window_write(const struct pe_window *w, struct pe_writer *out, struct pe_error *e)
{
	const size_t band = w->rows < BAND ? w->rows : BAND;
	struct pe_matrix values;
	int status = pe_matrix_init(&values, 1, band + w->cols, pe_writer_carrier(out), e);

	for (size_t head = 0; status == 0 && head < w->heads; head++)
		for (size_t row = 0; status == 0 && row < w->rows; row += band) {
			const size_t rows = w->rows - row < band ? w->rows - row : band;
			const int64_t lo = -(w->first + (int64_t)(row + rows - 1));

			status = w->values(w->context, head, lo, rows + w->cols - 1, values.elem,
					   values.data, e);
			if (status == 0)
				status = write_band(w, out, head, row, rows, values.data, e);
		}
	pe_matrix_free(&values);
	return status;
}
