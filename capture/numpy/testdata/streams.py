# Random streams, legacy and new, bit for bit.
import numpy as np

np.random.seed(0)
print(np.random.rand(3), np.random.randn(3), np.random.randint(0, 10, 5), np.random.uniform(-1, 1, 2), np.random.normal(2, 3, 2))
print(np.random.choice(5, 3), np.random.choice([1.5, 2.5], 4), np.random.choice(5, 3, replace=False), np.random.choice(4, 5, p=[0.1, 0.2, 0.3, 0.4]), np.random.choice(4, 3, replace=False, p=[0.1, 0.2, 0.3, 0.4]))
print(np.random.permutation(6), np.random.permutation([3, 4, 5]))
x = np.arange(5)
np.random.shuffle(x)
l = [1, 2, 3, 4]
np.random.shuffle(l)
print(x, l)
print(np.random.exponential(2, 2), np.random.gamma(2.5, 1, 2), np.random.gamma(0.5, 1, 2), np.random.beta(2, 3, 2), np.random.beta(0.5, 0.5, 2), np.random.poisson(3, 4), np.random.poisson(30, 4), np.random.binomial(10, 0.3, 4), np.random.binomial(100, 0.5, 4))
print(np.random.random(), np.random.rand(), np.random.randn(), np.random.randint(5), np.random.normal(), np.random.uniform(), np.random.choice(3))
print(type(np.random.randint(5)), type(np.random.rand()), type(np.random.choice(3)), type(np.random.randint(5, dtype=np.int32)))
print(np.random.randint(0, 256, 4, dtype=np.uint8), np.random.randint(-5, 5, (2, 2), dtype=np.int16), np.random.randint(0, 2, 5, dtype=bool), np.random.randint(0, 2**40, 2), np.random.randint(0, 2**32, 2))
print(np.random.laplace(0, 1, 2), np.random.lognormal(0, 1, 2), np.random.logistic(size=2), np.random.gumbel(size=2), np.random.triangular(0, 1, 3, 2), np.random.rayleigh(1, 2), np.random.weibull(2, 2), np.random.chisquare(3, 2))
print(np.random.multinomial(10, [0.2, 0.3, 0.5]), np.random.dirichlet([1, 2, 3]), np.random.bytes(4))
r = np.random.RandomState(42)
s = r.get_state()
print(r.rand(2), s[0], s[1][:3], s[2:])
r.set_state(s)
print(r.rand(2), r.random_sample((1, 2)), r.standard_normal(2))
print(np.random.RandomState([1, 2, 3]).rand(2))
g = np.random.default_rng(0)
print(g.random(3), g.integers(0, 10, 5), g.standard_normal(5), g.normal(1, 2, 2), g.uniform(0, 1, 2), g.choice(5, 3), g.choice(5, 3, replace=False), g.permutation(5))
y = np.arange(6)
g.shuffle(y)
print(y, g.integers(5), g.random(), g.exponential(size=3), g.standard_normal(1000).sum().round(9), g.exponential(size=1000).sum().round(9), g.integers(0, 100, 3, dtype=np.int8), g.integers(0, 2**40, 2), g.random(2, dtype=np.float32), g.poisson(4, 3), g.gamma(3, 1, 2), g.beta(2, 3, 2), g.choice([1, 2, 3], p=[0.2, 0.3, 0.5], size=4), g.choice(100000, 5, replace=False), g.binomial(10, 0.4, 3))
print(np.random.default_rng([1, 2]).random(2), np.random.SeedSequence(5).generate_state(2), np.random.default_rng(2**70).random(), np.random.Generator(np.random.MT19937(3)).random(2), np.random.Generator(np.random.PCG64(3)).random(2))
print(g.bit_generator.state)
print([c.generate_state(1)[0] for c in np.random.SeedSequence(1).spawn(2)])
for f in (lambda: np.random.seed(-1), lambda: np.random.randint(5, 5), lambda: np.random.choice(3, 5, replace=False), lambda: np.random.choice(0), lambda: np.random.choice(3, p=[1, 2, 3]), lambda: g.integers(3, 2), lambda: np.random.normal(0, -1), lambda: np.random.randint(0, 300, dtype=np.uint8)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
