"""Writes values.json: what scipy says of fixed lists of numbers. Needs scipy; the versions are in the file.

    python3 make.py > values.json
"""

import json
import math
import platform

import numpy as np
import scipy
from scipy import stats

LISTS = {
    # Rates of a disk in KiB/s, of a machine that is steady, of one that is not, and with a value far out.
    "steady": [58412.0, 57100.0, 59033.0, 58800.0, 58155.0],
    "slower": [55310.0, 54870.0, 56120.0, 55004.0],
    "noisy": [41200.0, 66010.0, 52333.0, 47810.0, 59120.0, 71204.0, 38800.0, 50150.0],
    "far": [944.1, 941.7, 943.0, 942.2, 940.9, 942.8, 944.0, 611.3, 943.6, 942.5],
    "near": [938.2, 941.0, 939.9, 937.5, 940.1, 938.8, 939.4, 940.6, 936.9, 939.0],
    # Whole seconds: many are the same.
    "ties": [12.0, 13.0, 12.0, 14.0, 13.0, 12.0],
    "more ties": [13.0, 14.0, 14.0, 15.0, 13.0, 14.0, 15.0],
    "two": [9.0, 11.0],
    "other two": [10.0, 12.5],
    "below": [-3.0, -2.5, 0.25, 1.0, -0.75],
    "skewed": [1.02, 1.1, 0.97, 1.31, 1.05, 2.9, 1.18, 0.99, 1.44, 1.08, 5.6, 1.01],
    "long": [100.0 + 7.0 * math.sin(i * 1.7) + 0.05 * i for i in range(60)],
    "long tied": [float(round(100.0 + 5.0 * math.cos(i * 2.3))) for i in range(45)],
}
PAIRS = [
    ("steady", "slower"), ("steady", "noisy"), ("far", "near"), ("near", "far"), ("ties", "more ties"),
    ("two", "other two"), ("below", "two"), ("steady", "steady"), ("long", "long tied"), ("long tied", "far"),
    ("skewed", "below"), ("noisy", "slower"),
]
P_VALUES = {
    "spread": [0.01, 0.04, 0.03, 0.005],
    "equal": [0.02, 0.02, 0.02],
    "certain": [1.0, 0.9, 1e-12, 0.3, 0.011, 0.0499, 0.5],
    "one": [0.03],
}


def summary(values):
    x = np.array(values)
    n, mean, sd = len(x), x.mean(), x.std(ddof=1)
    low, high = stats.t.interval(0.95, n - 1, loc=mean, scale=sd / math.sqrt(n))
    return {
        "mean": mean, "sd": sd, "relative_sd": stats.variation(x, ddof=1) * math.copysign(1, mean),
        "median": np.median(x), "mad": stats.median_abs_deviation(x), "low": low, "high": high,
        "harmonic_mean": stats.hmean(x) if x.min() > 0 else None,
        "geometric_mean": stats.gmean(x) if x.min() > 0 else None,
    }


def exact_ranks(a, b):
    """The permutation distribution of the rank sum, ties included: twice the smaller tail."""
    result = stats.permutation_test(
        (np.array(a), np.array(b)),
        lambda x, y: stats.rankdata(np.concatenate([x, y]))[: len(x)].sum(),
        vectorized=False, n_resamples=np.inf, alternative="two-sided",
    )
    return result.pvalue


def pair(first, second):
    a, b = LISTS[first], LISTS[second]
    welch = stats.ttest_ind(a, b, equal_var=False)
    tied = len(set(a + b)) < len(a + b)
    few = len(a) + len(b) <= (16 if tied else 40)
    ranks = stats.mannwhitneyu(a, b, method="exact" if few and not tied else "asymptotic")
    freedom = len(a) + len(b) - 2
    pooled = math.sqrt(((len(a) - 1) * np.var(a, ddof=1) + (len(b) - 1) * np.var(b, ddof=1)) / freedom)
    factor = scipy.special.gamma(freedom / 2) / (math.sqrt(freedom / 2) * scipy.special.gamma((freedom - 1) / 2))
    greater = sum((x > y) - (x < y) for x in a for y in b)
    found = {
        "a": first, "b": second, "t": welch.statistic, "freedom": welch.df, "p": welch.pvalue,
        "u": ranks.statistic, "exact": few, "rank_p": exact_ranks(a, b) if few and tied else ranks.pvalue,
        "cliffs_delta": greater / (len(a) * len(b)), "hedges_g": factor * (np.mean(a) - np.mean(b)) / pooled,
        "ratio": None, "low": None, "high": None,
    }
    if min(np.mean(a), np.mean(b)) > 0:
        # Welch's interval of the difference of the logarithms, by the delta method.
        va, vb = (np.var(x, ddof=1) / np.mean(x) ** 2 / len(x) for x in (a, b))
        freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
        half = stats.t.ppf(0.975, freedom) * math.sqrt(va + vb)
        ratio = np.mean(a) / np.mean(b)
        found |= {"ratio": ratio, "low": ratio * math.exp(-half), "high": ratio * math.exp(half)}
    return found


def kendall(values):
    found = stats.kendalltau(range(len(values)), values)
    slope = stats.theilslopes(values, range(len(values)))[0]
    return {"tau": found.statistic, "p": found.pvalue, "slope": slope}


def bca(values):
    """Of a given list of resampled means, so that no random number is needed."""
    means = [np.mean(values) * (1 + 0.02 * math.sin(i * 1.3) + 0.011 * math.cos(i * 0.7)) for i in range(399)]
    given = type("Given", (), {"bootstrap_distribution": np.array(means)})
    found = stats.bootstrap((values,), np.mean, n_resamples=0, method="BCa", bootstrap_result=given)
    return {"means": means, "low": found.confidence_interval.low, "high": found.confidence_interval.high}


def adjusted(p):
    """Holm's step-down, from its definition: scipy has none."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    least = [min(1.0, max(p[order[j]] * (len(p) - j) for j in range(k + 1))) for k in range(len(p))]
    return [least[order.index(i)] for i in range(len(p))]


def replicates(spread, target):
    n = 2
    while stats.t.ppf(0.975, n - 1) * spread / math.sqrt(n) > target:
        n += 1
    return n


document = {
    "versions": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__},
    "lists": LISTS,
    "summaries": {name: summary(values) for name, values in LISTS.items()},
    "pairs": [pair(a, b) for a, b in PAIRS],
    "kendall": {name: kendall(values) for name, values in LISTS.items() if len(values) > 2},
    "bca": {name: bca(LISTS[name]) for name in ["far", "skewed"]},
    "holm": [{"p": p, "adjusted": adjusted(p)} for p in P_VALUES.values()],
    "replicates": [
        {"spread": s, "target": t, "n": replicates(s, t)}
        for s, t in [(0.01, 0.02), (0.03, 0.02), (0.05, 0.02), (0.2, 0.05), (0.001, 0.02), (0.1, 0.01)]
    ],
}
print(json.dumps(document, indent=1))
