#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"
#define VB 16
#define MR 4
#define NAME(x) x##_sse2
#define TABLE whittle_sse2
#include "impl.h"
