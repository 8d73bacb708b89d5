"""Points that fill a cube evenly: Sobol's sequence, plain or scrambled."""
import torch


class SobolEngine:
    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        cpu = torch.device("cpu")
        self.sobolstate = torch.zeros(dimension, self.MAXBIT, device=cpu, dtype=torch.long)
        torch._sobol_engine_initialize_state_(self.sobolstate, dimension)
        self.shift = torch.zeros(dimension, device=cpu, dtype=torch.long)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone(memory_format=torch.contiguous_format)
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        """A random digital shift, and random lower triangular matrices for the direction numbers."""
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        cpu = torch.device("cpu")
        bits = torch.randint(2, (self.dimension, self.MAXBIT), device=cpu, generator=generator)
        self.shift = torch.mv(bits, torch.pow(2, torch.arange(0, self.MAXBIT, device=cpu)))
        matrices = torch.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), device=cpu, generator=generator).tril()
        torch._sobol_engine_scramble_(self.sobolstate, matrices, self.dimension)

    def draw(self, n=1, out=None, dtype=None):
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:  # the first point is where the sequence starts
            result = self._first_point.to(dtype)
            if n != 1:
                more, self.quasi = torch._sobol_engine_draw(self.quasi, n - 1, self.sobolstate, self.dimension, self.num_generated, dtype=dtype)
                result = torch.cat((result, more), dim=-2)
        else:
            result, self.quasi = torch._sobol_engine_draw(self.quasi, n, self.sobolstate, self.dimension, self.num_generated - 1, dtype=dtype)
        self.num_generated += n
        if out is not None:
            out.resize_as_(result).copy_(result)
            return out
        return result

    def draw_base2(self, m, out=None, dtype=None):
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been previously generated, then: "
                             f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        steps, at = (n - 1, 0) if self.num_generated == 0 else (n, self.num_generated - 1)
        torch._sobol_engine_ff_(self.quasi, steps, self.sobolstate, self.dimension, at)
        self.num_generated += n
        return self

    def __repr__(self):
        text = [f"dimension={self.dimension}"] + [f"{name}={getattr(self, name)}" for name, shown in (("scramble", self.scramble), ("seed", self.seed is not None)) if shown]
        return f"{type(self).__name__}({', '.join(text)})"
