/* attend_kernel_f32 - attention in f32 for any machine: vectors of 16 bytes by the compiler's
 * vector extension. */
#include "attend_kernel.h"

#define ELEMENT 32
#define VECTOR_BYTES 16
#if defined(__aarch64__)
#include <arm_neon.h>
#define MAX(a, b) vmaxnmq_f32(a, b)
#define REGISTERS 32
#define FUSED(a, b, c) vfmaq_f32(c, a, b)
#else
#define REGISTERS 16
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif
#define SPLAT(x) ((vec){x, x, x, x})
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (bits){__VA_ARGS__})
#endif
#define SQUARES(p, n) load(p)
#define LOW(a, b) PICK(a, b, 0, 4, 1, 5)
#define HIGH(a, b) PICK(a, b, 2, 6, 3, 7)
#define LOW_PAIRS(a, b) PICK(a, b, 0, 1, 4, 5)
#define HIGH_PAIRS(a, b) PICK(a, b, 2, 3, 6, 7)
#define KERNEL pe_attend_kernel_f32

#include "attend_kernel.inc.h"
