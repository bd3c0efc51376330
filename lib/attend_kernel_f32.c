/* attend_kernel_f32 - attention in f32 for any machine: vectors of 16 bytes by the compiler's vector extension. */
#include "attend_kernel.h"

#define ELEMENT 32
#define VECTOR_BYTES 16
#if defined(__aarch64__)
#include <arm_neon.h>
#define MAX(a, b) vmaxnmq_f32(a, b)
#define VECTORS 4 /* of 32 registers, 24 hold sums */
#define FUSED(a, b, c) vfmaq_f32(c, a, b)
#else
#define VECTORS 2 /* of 16 registers, 12 hold sums */
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif
#define SPLAT(x) ((vec){x, x, x, x})
#define KERNEL pe_attend_kernel_f32

#include "attend_kernel.inc.h"
