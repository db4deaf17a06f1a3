# SPDX-License-Identifier: MIT
"""Calibration by NumPy, for test_calibrate.sh: shares no code with bevscope. Magnitudes are counted in bins of
equal width by numpy.histogram; entropy is the loop of PyTorch Quantization's HistogramCalibrator."""
import numpy as np

BINS, FIRST = 2048, 128


def histogram(values):
    """Counts without zeros, and the width of a bin."""
    values = np.abs(values[np.isfinite(values)].astype(np.float64))
    limit = 2.0 ** (np.floor(np.log2(values.max())) + 1)
    counts, _ = np.histogram(values[values > 0], bins=BINS, range=(0, limit))
    return counts, limit / BINS


def e4m3():
    """All magnitudes of E4M3."""
    tiny = np.arange(8) / 8 * 2.0**-6
    return np.concatenate([tiny] + [(1 + np.arange(8) / 8) * 2.0**e for e in range(-6, 9)])[:-1]


MIDDLES = (e4m3()[1:] + e4m3()[:-1]) / 2
LARGEST = {"fp8": 448, "int8": 127, "uint8": 255}


def codes_of(bin_numbers, bins, dtype):
    """The code of each bin when `bins` of them are kept."""
    if dtype == "fp8":
        return np.digitize(bin_numbers * 448.0, MIDDLES * bins)
    return np.digitize(bin_numbers, np.linspace(0, bins, LARGEST[dtype] + 2)) - 1


def quantise(values, cut, dtype):
    scale = np.float32(float(np.float32(cut)) / LARGEST[dtype])
    codes = (values.astype(np.float32) / scale).astype(np.float64)
    if dtype != "fp8":
        codes = np.minimum(np.rint(codes), LARGEST[dtype])
    else:
        step = 2.0 ** (np.maximum(np.floor(np.log2(np.maximum(np.abs(codes), 1e-30))), -6) - 3)
        codes = np.minimum(np.rint(codes / step) * step, 448)
    return (codes.astype(np.float32) * scale).astype(np.float64)


def entropy_cut(values, dtype):
    counts, width = histogram(values)
    last = np.flatnonzero(counts)[-1] + 1
    counts = counts.astype(float)
    counts[0] = counts[1]
    at = np.flatnonzero(counts)
    divergences = []
    for i in range(FIRST, last + 1):
        kept = np.searchsorted(at, i)
        p, beyond = counts[at[:kept]], counts[at[kept:]].sum()
        if not kept or (beyond and at[kept - 1] != i - 1):
            divergences.append(np.inf)
            continue
        codes = codes_of(at[:kept], i, dtype)
        q = (np.bincount(codes, p) / np.maximum(np.bincount(codes), 1))[codes]
        p[-1] += beyond
        p, q = p / p.sum(), q / q.sum()
        divergences.append((p * np.log(p / q)).sum())
    divergences = np.array(divergences)
    if not np.isfinite(divergences).any():
        return last * width
    return (FIRST + len(divergences) - 1 - np.argmin(divergences[::-1])) * width


def mse_cut(values, dtype):
    counts, width = histogram(values)
    at = np.flatnonzero(counts)
    centres, counts = (at + 0.5) * width, counts[at]
    errors = [(counts * (quantise(centres, i * width, dtype) - centres) ** 2).sum()
              for i in range(FIRST, at[-1] + 2)]
    return (FIRST + int(np.argmin(errors))) * width


def percentile_cut(values, percentile):
    counts, width = histogram(values)
    below = (values == 0).sum() + np.cumsum(counts)
    return (np.flatnonzero(below >= percentile / 100 * np.isfinite(values).sum())[0] + 1) * width


def cut(values, method, dtype):
    largest = float(np.abs(values[np.isfinite(values)]).max())
    if method == "max":
        return largest
    if method.startswith("percentile"):
        return min(largest, percentile_cut(values, float(method.split()[1])))
    return min(largest, entropy_cut(values, dtype) if method == "entropy" else mse_cut(values, dtype))


def costs(values, cut, dtype):
    """Shares saturated and lost in percent, and the relative L2."""
    magnitude = np.abs(values.astype(np.float64)).ravel()
    stored = quantise(magnitude, cut, dtype)
    return (100 * (magnitude > cut * (1 + 1e-6)).mean(), 100 * (stored == 0)[magnitude > 0].mean(),
            np.linalg.norm(stored - magnitude) / np.linalg.norm(magnitude))
