/* relattn_memory - matrices that are counted against --max-memory, and those that grow while
 * rows arrive.
 *
 * Whatever cannot be had ends the command, before it is asked for where its size is known. */
#ifndef RELATTN_MEMORY_H
#define RELATTN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "matrix.h"

/* Ends the command with the library's message where a call has failed. */
void die_if(int failed, const struct pe_error *e);

/* --max-memory: what is taken, and the most there may be. */
struct budget {
	size_t limit, used; /* bytes; limit 0: none */
};

/* Counts rows x cols x size bytes; ends the command where they exceed the limit or cannot be
 * addressed. what names them. */
void budget_take(struct budget *b, const char *what, size_t rows, size_t cols, size_t size);

/* A matrix of zeros, counted. */
void budget_matrix(struct budget *b, const char *what, size_t rows, size_t cols, enum pe_elem elem,
		   struct pe_matrix *m);

/* Frees the elements of a counted matrix; its shape stays. */
void budget_release(struct budget *b, struct pe_matrix *m);

/* A matrix that grows while rows arrive. */
struct store {
	struct pe_matrix rows;
	size_t capacity;
};

/* Empty, of that width, with room for the rows that are expected (-1: nobody knows). */
void store_begin(struct store *s, struct budget *b, const char *what, size_t cols,
		 enum pe_elem elem, int64_t expected);
/* Makes room for `more` rows behind the last one and returns their address. */
void *store_extend(struct store *s, struct budget *b, const char *what, size_t more);
/* Gives the room behind the last row back. */
void store_trim(struct store *s, struct budget *b);

#endif
