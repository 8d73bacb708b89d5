// Functions of up to three elements and of numbers, one row each, included for each element type with T, POINT(x), the names, and the functions below of
// the type. Those of ROW are calculated in double and rounded once; those of NEAR in the type itself, as they lose nothing by it that others would keep.
// x, y and z are the elements, p, q, r and s the numbers; of a gradient x is the one of the result, and y the operand.

#define SOFTPLUS(v) ({ double u = (v); POINT(log1pexp)(-__builtin_fabs(u)) + (u > 0 ? u : u != u ? u : 0); })
#define LOGSIGMOID(v) ({ double u = (v); (u < 0 ? u : 0) - POINT(log1pexp)(-__builtin_fabs(u)); })
#define SIGMOID(v) (1 / (1 + POINT(exp)(-(v))))
#define TO6(v) ({ T u = (v); u = u < 0 ? 0 : u; u > 6 ? 6 : u; })
#define SLOPED(w) ((T)__builtin_fabs(w) < (T)0.5 ? x + (w) * (y - x) : y - (y - x) * (1 - (w)))
#define REMAINDER(rest) ({ double m = (rest); m != 0 && (y < 0) != (m < 0) ? m + y : m; })
#define FLOOR_DIV(rest) ({                                       \
    double m = (rest), d = (x - m) / y, e = x / y;               \
    d = m != 0 && (y < 0) != (m < 0) ? d - 1 : d;                \
    double f = __builtin_floor(d);                               \
    f = d - f > 0.5 ? f + 1 : f;                                 \
    f = d == 0 ? __builtin_copysign(0, e) : f;                   \
    y == 0 ? e : f;                                              \
  })

#define POINTS(ROW, NEAR)                                                                                                        \
  NEAR(FRAC, 1, x - (T)__builtin_trunc(x))                                                                                 \
  NEAR(ANGLE, 1, x != x ? x : x < 0 ? (T)3.14159265358979323846 : 0)                                                       \
  NEAR(SIGN, 1, (T)((x > 0) - (x < 0)))                                                                                    \
  ROW(SCALED, 1, x *p / q)                                                                                                 \
  NEAR(LEAKY, 1, x > 0 ? x : x * p)                                                                                        \
  NEAR(HARDTANH, 1, ({ T t = x < p ? p : x; t > q ? q : t; }))                                                             \
  NEAR(HARDSIGMOID, 1, TO6(x + 3) / 6)                                                                                     \
  NEAR(HARDSWISH, 1, x * TO6(x + 3) / 6)                                                                                   \
  NEAR(ELU, 1, x < 0 ? POINT(near_expm1)(x * r) * p * q : x * q)                                                           \
  ROW(SOFTPLUS, 1, (T)(x * p) > q ? x : POINT(log1pexp)(x * p) / p)                                               \
  ROW(MISH, 1, x *POINT(tanh)(SOFTPLUS(x)))                                                                                \
  NEAR(HARDSHRINK, 1, x >= -p && x <= p ? 0 : x)                                                                           \
  NEAR(SOFTSHRINK, 1, x > p ? x - p : x < -p ? x + p : x * 0)                                                              \
  NEAR(THRESHOLD, 1, x <= p ? q : x)                                                                                       \
  ROW(LOGSIGMOID, 1, LOGSIGMOID(x))                                                                                        \
  ROW(DECAY, 1, POINT(exp)(-__builtin_fabs(x)))                                                                            \
  NEAR(LOGIT, 1, ({ T t = q != 0 && x > 1 - p ? 1 - p : x; t = q != 0 && t < p ? p : t; POINT(near_log)(t / (1 - t)); }))  \
  NEAR(ENTR, 1, x > 0 ? -x * POINT(near_log)(x) : x == 0 ? 0 : x != x ? x : -(T)__builtin_inf())                           \
  NEAR(NAN_TO_NUM, 1, x != x ? p : x == (T)__builtin_inf() ? q : x == -(T)__builtin_inf() ? r : x)                         \
  NEAR(ROUND_UP, 1, (T)__builtin_rint(x * p) / p)                                                                          \
  NEAR(ROUND_DOWN, 1, (T)__builtin_rint(x / p) * p)                                                                        \
  NEAR(ADD_TIMES, 2, x + p * y)                                                                                            \
  NEAR(SUB_TIMES, 2, x - p * y)                                                                                            \
  NEAR(RSUB_TIMES, 2, y - p * x)                                                                                           \
  ROW(FMOD, 2, POINT(fmod)(x, y))                                                                                          \
  ROW(REMAINDER, 2, REMAINDER(POINT(fmod)(x, y)))                                                                          \
  ROW(FLOOR_DIV, 2, FLOOR_DIV(POINT(fmod)(x, y)))                                                                          \
  NEAR(TRUNC_DIV, 2, (T)__builtin_trunc(x / y))                                                                            \
  NEAR(COPYSIGN, 2, (T)__builtin_copysign(x, y))                                                                           \
  NEAR(FMAX, 2, x != x ? y : y != y ? x : x > y ? x : y)                                                                   \
  NEAR(FMIN, 2, x != x ? y : y != y ? x : x < y ? x : y)                                                                   \
  NEAR(HEAVISIDE, 2, x == 0 ? y : (T)(x > 0))                                                                              \
  ROW(LOGADDEXP, 2, ({ double m = x > y ? x : y, d = POINT(log1pexp)(-__builtin_fabs(x - y)); x != x ? x : y != y ? y : x == y && x - x != 0 ? x : m + d; })) \
  ROW(LOGADDEXP2, 2, ({ double m = x > y ? x : y, d = POINT(log1pexp)(-__builtin_fabs(x - y) * 0.69314718055994531) / 0.69314718055994531; x != x ? x : y != y ? y : x == y && x - x != 0 ? x : m + d; })) \
  ROW(XLOGY, 2, y != y ? y : x == 0 ? 0 : x * POINT(log)(y))                                                               \
  NEAR(XLOG1PY, 2, y != y ? y : x == 0 ? 0 : x * POINT(near_log1p)(y))                                                     \
  NEAR(LERP, 2, SLOPED(p))                                                                                                 \
  ROW(TIMES, 2, x *y *p)                                                                                                   \
  NEAR(LEAKY_BACK, 2, y > 0 ? x : x * p)                                                                                   \
  NEAR(ELU_BACK, 2, y > 0 ? x * q : s != 0 ? x * r * (y + p * q) : x * r * p * q * POINT(near_exp)(y * r))                 \
  NEAR(HARDTANH_BACK, 2, y <= p || y >= q ? 0 : x)                                                                         \
  NEAR(HARDSIGMOID_BACK, 2, y > -3 && y < 3 ? x / 6 : 0)                                                                   \
  NEAR(HARDSWISH_BACK, 2, y < -3 ? 0 : y <= 3 ? x * (y / 3 + (T)0.5) : x)                                                  \
  NEAR(SOFTPLUS_BACK, 2, y * p > q ? x : ({ T t = POINT(near_exp)(y * p); x * t / (t + 1); }))                             \
  ROW(MISH_BACK, 2, ({ double t = POINT(tanh)(SOFTPLUS(y)); x * (t + y * SIGMOID(y) * (1 - t * t)); }))                    \
  NEAR(SHRINK_BACK, 2, y >= -p && y <= p ? 0 : x)                                                                          \
  NEAR(THRESHOLD_BACK, 2, y <= p ? 0 : x)                                                                                  \
  NEAR(LOGSIGMOID_BACK, 2, x / (1 + POINT(near_exp)(y)))                                                                   \
  NEAR(LOGIT_BACK, 2, q != 0 && (y < p || y > 1 - p) ? 0 : q == 0 && (y < 0 || y > 1) ? (T)__builtin_nan("") : x / (y * (1 - y)))\
  NEAR(SOFTMAX_BACK, 2, (x - p) * y)                                                                                       \
  NEAR(LOG_SOFTMAX_BACK, 2, x - POINT(near_exp)(y) * p)                                                                    \
  NEAR(PRELU, 2, x > 0 ? x : y * x)                                                                                        \
  NEAR(MSE, 2, (x - y) * (x - y))                                                                                          \
  NEAR(SMOOTH_L1, 2, ({ T t = (T)__builtin_fabs(x - y); t < p ? (T)0.5 * t * t / p : t - (T)0.5 * p; }))                   \
  NEAR(HUBER, 2, ({ T t = (T)__builtin_fabs(x - y); t < p ? (T)0.5 * t * t : p * (t - (T)0.5 * p); }))                     \
  ROW(SOFT_MARGIN, 2, POINT(log1pexp)(-x * y))                                                                    \
  ROW(BCE, 2, ({                                                                                                           \
        double a = POINT(log)(1 - x), b = POINT(log)(x);                                                                   \
        a = x < 1e-4 ? -x * (1 + x * (0.5 + x * (1.0 / 3))) : a;                                                           \
        (y - 1) * (a < -100 ? -100 : a) - y * (b < -100 ? -100 : b);                                                       \
      }))                                                                                                                  \
  ROW(BCE_LOGITS, 2, (1 - y) * x - LOGSIGMOID(x))                                                                          \
  ROW(NEXTAFTER, 2, POINT(nextafter)(x, y))                                                                                \
  NEAR(OUTER_ADD, 3, q == 0 ? p * y * z : q * x + p * y * z)                                                               \
  NEAR(ADDCMUL, 3, x + p * y * z)                                                                                          \
  NEAR(ADDCDIV, 3, x + p * y / z)                                                                                          \
  NEAR(LERP3, 3, SLOPED(z))                                                                                                \
  NEAR(MSE_BACK, 3, x *p * (2 * (y - z)))                                                                                  \
  NEAR(SMOOTH_L1_BACK, 3, ({ T t = y - z; x * p * (t <= -q ? -1 : t >= q ? 1 : t / q); }))                                 \
  NEAR(HUBER_BACK, 3, ({ T t = y - z; x * p * (t <= -q ? -q : t >= q ? q : t); }))                                         \
  ROW(SOFT_MARGIN_BACK, 3, ({ double t = POINT(exp)(-y * z); x * p * (-z * t / (t + 1)); }))                               \
  ROW(BCE_BACK, 3, ({ double t = (1 - y) * y; p * x * (y - z) / (t < 1e-12 ? 1e-12 : t); }))                               \
  NEAR(PRELU_BACK, 3, y > 0 ? x : z * x)                                                                                   \
  NEAR(PRELU_BACK_W, 3, y > 0 ? 0 : y * x)                                                                                 \
  ROW(BCE_LOGITS_WEIGHED, 3, (1 - y) * x - (1 + (z - 1) * y) * LOGSIGMOID(x))

#ifndef POINTS_NAMED // their numbers, in the order of the rows
#define POINTS_NAMED
#define ROW(OP, N, E) W_##OP,
enum { W_POINTS = 127, POINTS(ROW, ROW) };
#undef ROW
#endif

// near is what NEAR has, where it has op: whole results, which may be one of the operands.
#define NO_ROW(OP, N, E)
#define ROW(OP, N, E) \
  case W_##OP: POINT_##N(E) return 1;
#define POINT_1(E) _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { T x = a[i]; o[i] = (E); }
#define POINT_2(E) _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { T x = a[i], y = b[i]; o[i] = (E); }
#define POINT_3(E) _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { T x = a[i], y = b[i], z = c[i]; o[i] = (E); }
static int POINT(near)(int op, T *o, const T *a, const T *b, const T *c, const double *num, int64_t n) {
  T p = (T)num[0], q = (T)num[1], r = (T)num[2], s = (T)num[3];
  switch (op) { POINTS(NO_ROW, ROW) }
  return 0;
}
#undef ROW
#undef POINT_1
#undef POINT_2
#undef POINT_3

#define ROW(OP, N, E) \
  case W_##OP: POINT_##N(E) break;
#define POINT_1(E) for (int64_t i = 0; i < n; i++) { double x = a[i]; o[i] = (T)(E); }
#define POINT_2(E) for (int64_t i = 0; i < n; i++) { double x = a[i], y = b[i]; o[i] = (T)(E); }
#define POINT_3(E) for (int64_t i = 0; i < n; i++) { double x = a[i], y = b[i], z = c[i]; o[i] = (T)(E); }

static void POINT(some)(int op, T *restrict o, const T *a, const T *b, const T *c, const double *num, int64_t n) {
  double p = num[0], q = num[1], r = num[2], s = num[3];
  switch (op) { POINTS(ROW, NO_ROW) }
}

// wild is some for the remainders of quotients so large that the fast function knows them not.
static int POINT(wild)(int op, T *restrict o, const T *a, const T *b, int64_t n) {
  if (op < W_FMOD || op > W_FLOOR_DIV || sizeof(T) == 8) return 0;
  int wild = 0;
  for (int64_t i = 0; i < n; i++) wild |= whittle_wild_fmod(a[i], b[i]);
  if (!wild) return 0;
  switch (op) {
    case W_FMOD: POINT_2(fmod(x, y)) break;
    case W_REMAINDER: POINT_2(REMAINDER(fmod(x, y))) break;
    case W_FLOOR_DIV: POINT_2(FLOOR_DIV(fmod(x, y))) break;
  }
  return 1;
}

// all goes through n elements in pieces: an operand that is one number, with a step of 0, is repeated for them.
static void POINT(all)(int op, T *o, const T *const *in, const int64_t *step, const double *num, int64_t n) {
  enum { PIECE = 2048 / sizeof(T) };
  T room[4][PIECE] __attribute__((aligned(64)));
  int past = op & W_STREAM;
  op &= ~W_STREAM;
  for (int k = 0; k < 3; k++)
    if (in[k] && !step[k])
      for (int i = 0; i < PIECE; i++) room[k][i] = in[k][0];
  int64_t m = past ? (-(uintptr_t)o & 63) / sizeof(T) : 0;
  if (m == 0) m = PIECE;
  if (!past) { // in the place of the result at once
    int whole = 1;
    for (int k = 0; k < 3; k++) whole &= !in[k] || step[k];
    for (int64_t i = 0; i < n; i += m) {
      const T *v[3];
      m = whole || n - i < PIECE ? n - i : PIECE;
      for (int k = 0; k < 3; k++) v[k] = in[k] && step[k] ? in[k] + i : room[k];
      if (!POINT(near)(op, o + i, v[0], v[1], v[2], num, m)) break;
      if (i + m == n) return;
    }
    m = PIECE;
  }
  for (int64_t i = 0; i < n; i += m, m = PIECE) {
    if (m > n - i) m = n - i;
    const T *v[3];
    for (int k = 0; k < 3; k++) v[k] = in[k] && step[k] ? in[k] + i : room[k];
    if (!POINT(wild)(op, room[3], v[0], v[1], m) && !(past && POINT(near)(op, room[3], v[0], v[1], v[2], num, m))) POINT(some)(op, room[3], v[0], v[1], v[2], num, m);
    if (past)
      whittle_stream(o + i, room[3], m * sizeof(T));
    else
      memcpy(o + i, room[3], m * sizeof(T));
  }
  if (past) whittle_stream_end();
}

#undef ROW
#undef NO_ROW
#undef POINT_1
#undef POINT_2
#undef POINT_3
#undef POINTS
#undef SOFTPLUS
#undef LOGSIGMOID
#undef SIGMOID
#undef TO6
#undef SLOPED
#undef REMAINDER
#undef FLOOR_DIV
