/* cpu - which of the instruction sets that kernels are compiled for this processor has: v3 and v4
 * are what the Makefile gives to files named so. Both false elsewhere than on x86-64. */
#ifndef PE_CPU_H
#define PE_CPU_H

#include <stdbool.h>

/* Every processor with these has F16C and LZCNT too, which clang cannot ask for. */
static inline bool
pe_cpu_has_v3(void)
{
#if defined(__x86_64__) || defined(__amd64__)
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi2");
#else
	return false;
#endif
}

static inline bool
pe_cpu_has_v4(void)
{
#if defined(__x86_64__) || defined(__amd64__)
	return pe_cpu_has_v3() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
	return false;
#endif
}

#endif
