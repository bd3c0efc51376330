/* pairing - columns from one pair layout to the other, without a number changed.
 *
 * RoPE and the sinusoidal table pair column 2i with 2i + 1 (interleaved), or i with i + d/2
 * (halves). A table moves between the two by a permutation of its columns. So do query and key
 * projections: with W_q and W_k permuted alike, head by head, a model trained with one pairing
 * gives the same scores with the other (what checkpoint converters do). */
#ifndef PE_PAIRING_H
#define PE_PAIRING_H

#include <stdbool.h>
#include <stddef.h>

/* The column of the old layout that stands at `column` in the new one. dim, the width of a head,
 * is even; column may be in any head. */
size_t pe_pairing_source(bool to_halves, size_t dim, size_t column);

#endif
