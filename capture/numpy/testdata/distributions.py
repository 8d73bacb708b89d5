# Distributions that are drawn one by one, legacy and new.
import numpy as np
def bad(f):
    try: f()
    except ValueError as e: print(e)
for f, a in (("geometric", (.2,)), ("geometric", (.6,)), ("negative_binomial", (3, .4)), ("logseries", (.6,)), ("zipf", (2.5,)), ("standard_t", (4.,)), ("f", (3., 5.)), ("noncentral_chisquare", (3., 1.)), ("noncentral_chisquare", (.5, 1.)), ("noncentral_f", (3., 5., 1.)), ("standard_cauchy", ()), ("vonmises", (.3, 2.)), ("vonmises", (3., .5)), ("wald", (1., 2.)), ("power", (2.,))):
    np.random.seed(0)
    print(f, [round(x, 6) for x in getattr(np.random, f)(*a, size=6).tolist()], type(getattr(np.random, f)(*a)).__name__)
    g = np.random.default_rng(0)
    x = getattr(g, f)(*a, size=(2, 3))
    print("   ", x.dtype, [round(v, 6) for v in x.ravel().tolist()])
np.random.seed(1)
print(np.random.geometric([.2, .5, .9]).tolist(), np.random.standard_t([3., 30.], size=(2, 2)).shape)
bad(lambda: np.random.geometric(0)); bad(lambda: np.random.geometric([.5, 1.5])); bad(lambda: np.random.zipf(1)); bad(lambda: np.random.standard_t(0)); bad(lambda: np.random.f(1, 0)); bad(lambda: np.random.vonmises(0, -1)); bad(lambda: np.random.logseries(1)); bad(lambda: np.random.negative_binomial(0, .5)); bad(lambda: np.random.wald(0, 1)); bad(lambda: np.random.power(0)); bad(lambda: np.random.noncentral_chisquare(1, -1))
