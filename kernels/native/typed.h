// The kernels that are written once for each element type; the names that impl.h defines for one are gone behind it.
#include "gemm.h"
#include "conv.h"
#include "point.h"
#include "reduce.h"
#undef T
#undef V
#undef I
#undef GEMM
#undef CONV
#undef POINT
#undef REDUCE
#undef INT
#undef ZIP
#undef HEIGHTS
