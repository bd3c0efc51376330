/* project - rows times a matrix. */
#include "project.h"

static void
transpose(const struct pe_matrix *w, struct pe_matrix *to)
{
	const double *from = pe_matrix_f64(w);

	for (size_t i = 0; i < w->rows; i++)
		for (size_t j = 0; j < w->cols; j++) {
			const size_t at = j * w->rows + i;

			if (to->elem == PE_F32)
				((float *)to->data)[at] = (float)from[i * w->cols + j];
			else
				pe_matrix_f64(to)[at] = from[i * w->cols + j];
		}
}

int
pe_project_init(struct pe_project *p, const struct pe_matrix *w, enum pe_elem elem, size_t threads,
		struct pe_error *e)
{
	*p = (struct pe_project){0};
	if (pe_matrix_init(&p->columns, w->cols, w->rows, elem, e))
		return -1;
	transpose(w, &p->columns);
	const struct pe_attend_spec spec = {
	    .elem = elem,
	    .heads = 1,
	    .kv_heads = 1,
	    .dim = w->rows,
	    .value_dim = 1,
	    .keys = w->cols,
	    .key = p->columns.data,
	    .scale = 1,
	    .threads = threads,
	};
	if (pe_attend_init(&p->scores, &spec, e)) {
		pe_project_free(p);
		return -1;
	}
	return 0;
}

void
pe_project_free(struct pe_project *p)
{
	pe_attend_free(p->scores);
	pe_matrix_free(&p->columns);
	p->scores = NULL;
}

int
pe_project_rows(const struct pe_project *p, const void *x, size_t rows, void *y, struct pe_error *e)
{
	const struct pe_attend_rows call = {.query = x, .rows = rows, .heads = 1};

	return pe_attend_matrix(p->scores, &call, PE_ATTEND_LOGITS, y, e);
}
