"""The assignment problem."""
import numpy as np

from scipy._absent import names_of

__all__ = ["linear_sum_assignment"]
__getattr__ = names_of(__name__)


def linear_sum_assignment(cost_matrix, maximize=False):
    """Rows and columns, each an array of min(n, m) integers with the rows in order, that pair each row, or column, of a cost matrix (n, m) with one of
    its own at the least cost in sum: shortest augmenting paths, after Crouse, On implementing 2D rectangular assignment algorithms, 2016."""
    cost = np.asarray(cost_matrix)
    if cost.ndim != 2:
        raise ValueError(f"expected a matrix (2-D array), got a {cost.ndim} array")
    cost = cost.astype(np.double, casting="safe")
    if maximize:
        cost = -cost
    if np.any(np.isneginf(cost) | np.isnan(cost)):
        raise ValueError("matrix contains invalid numeric entries")
    turned = cost.shape[1] < cost.shape[0]
    if turned:
        cost = cost.T
    n, m = cost.shape
    rows, u, v = cost.tolist(), [0.0] * n, [0.0] * m
    of_row, of_column = [-1] * n, [-1] * m
    for row in range(n):
        # The shortest path from this row to a column that is free, by reduced costs.
        path, shortest = [-1] * m, [float("inf")] * m
        seen_rows, seen = set(), set()
        remaining = list(range(m - 1, -1, -1))
        i, least, sink = row, 0.0, -1
        while sink < 0:
            seen_rows.add(i)
            at, lowest = -1, float("inf")
            base, ui = rows[i], u[i]
            for k, j in enumerate(remaining):
                r = least + base[j] - ui - v[j]
                if r < shortest[j]:
                    path[j], shortest[j] = i, r
                if shortest[j] < lowest or shortest[j] == lowest and of_column[j] < 0:
                    lowest, at = shortest[j], k
            least = lowest
            if least == float("inf"):
                raise ValueError("cost matrix is infeasible")
            j = remaining[at]
            if of_column[j] < 0:
                sink = j
            else:
                i = of_column[j]
            seen.add(j)
            remaining[at] = remaining[-1]
            remaining.pop()
        u[row] += least
        for i in seen_rows - {row}:
            u[i] += least - shortest[of_row[i]]
        for j in seen:
            v[j] -= least - shortest[j]
        j = sink
        while True:
            i = path[j]
            of_column[j] = i
            of_row[i], j = j, of_row[i]
            if i == row:
                break
    pairs = np.array(of_row, dtype=np.int64)
    if not turned:
        return np.arange(n), pairs
    order = np.argsort(pairs)
    return pairs[order], order
