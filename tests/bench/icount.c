// SPDX-License-Identifier: GPL-2.0
/*
 * icount: whether a nanosecond of this machine's clock is an instruction, as in
 * QEMU with -icount shift=0. Prints the nanoseconds for an instruction of a
 * loop whose instructions are known; fails where that is not 1.
 */
#include <stdio.h>

#include "user.h"

/* Two instructions each; what is around the loop does not count against it. */
#define TURNS	(10ul << 20)

int main(void)
{
	unsigned long left = TURNS;
	long long begin = now_ns();
	double ns;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (left) : : "cc");
	ns = (now_ns() - begin) / (2.0 * TURNS);
	printf("%.4f\n", ns);
	return ns < 0.98 || ns > 1.02;
}
