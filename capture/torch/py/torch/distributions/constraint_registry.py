"""Which transform of all real numbers fills a region."""
import numbers

from torch.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions from constraints to transforms, by the class of the constraint."""

    def __init__(self):
        self._registry = {}
        super().__init__()

    def register(self, constraint, factory=None):
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {kind}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()  # one to one
transform_to = ConstraintRegistry()  # onto


def _both(*kinds):
    """Registers a factory of the registry and the constraint with both registries."""

    def register(factory):
        for registry in (biject_to, transform_to):
            for kind in kinds:
                registry.register(kind, lambda c, registry=registry: factory(registry, c))
        return factory

    return register


@_both(constraints.real)
def _(registry, c):
    return transforms.identity_transform


@_both(constraints.independent)
def _(registry, c):
    return transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)


@_both(constraints.nonnegative, constraints.positive)
def _(registry, c):
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.lower_bound, 1)])


@_both(constraints.less_than)
def _(registry, c):
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.upper_bound, -1)])


@_both(constraints.half_open_interval, constraints.interval)
def _(registry, c):
    ends = (c.lower_bound, c.upper_bound)
    if all(isinstance(end, numbers.Number) for end in ends) and ends == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(c.lower_bound, c.upper_bound - c.lower_bound)])


@biject_to.register(constraints.simplex)
def _(c):
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _(c):
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _(c):
    return transforms.LowerCholeskyTransform()


for _kind in (constraints.positive_semidefinite, constraints.positive_definite):
    transform_to.register(_kind, lambda c: transforms.PositiveDefiniteTransform())


@_both(constraints.corr_cholesky)
def _(registry, c):
    return transforms.CorrCholeskyTransform()


@_both(constraints.cat)
def _(registry, c):
    return transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)


@_both(constraints.stack)
def _(registry, c):
    return transforms.StackTransform([registry(part) for part in c.cseq], c.dim)
