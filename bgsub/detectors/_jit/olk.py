"""Numba kernels of the OLK_N bank: one band of rows of kernel expansions that store every learned sample.

The inner loops have the form that `_norma_kernels` explains.
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel

__all__ = ["FIXED", "POOLED", "PUBLISHED", "QUANTILE", "step"]

FIXED, PUBLISHED, QUANTILE, POOLED = 0, 1, 2, 3
"""Rules for the threshold: on the density q = f / sum of coefficients, but for PUBLISHED, which is on f."""


@kernel
def step(
    first_row,
    last_row,
    frame,  # (H, W, D) u1, u2 or f4
    colours,  # (H, D, B, W) of the frame's dtype: support vectors
    coefficients,  # (H, B, W) f4, to be multiplied by `scale`
    heads,  # (H, W) u1: the slot written next
    theta,  # (H, W) f4 for QUANTILE, else (0, 0): the threshold; in the warm-up the sum of q
    counts,  # (H, W) i4 for QUANTILE, else (0, 0): samples learned
    where,  # (H, W) u1, or (0, 0) for everywhere: pixels that may learn
    gain,  # f4: -log2(e) / width**2
    scale,  # f4
    rule,  # i4
    level,  # f4: the threshold of FIXED, PUBLISHED and POOLED
    learn,  # bool
    only_slot,  # i4: the slot that is next at every pixel, or -1 where they differ
    stored,  # f4: 1 / scale, what a coefficient of 1 / (1 + r) becomes under the scale after the step
    r,  # f4
    v,  # f4
    C,  # f4
    nu,  # f4: QUANTILE: share of samples to flag
    eta_rho,  # f4: QUANTILE: last step size
    warmup,  # i4: QUANTILE: samples before a threshold
    mask,  # (H, W) u1, or (0, 0) for none: written
    score,  # (H, W) f4, or (0, 0) for none: written
):
    """Score one band of rows and let it learn (Li 2013, eq. 67; the rules for the threshold are ours)."""
    zero, one = np.float32(0.0), np.float32(1.0)
    width, channels = frame.shape[1], frame.shape[2]
    slots = coefficients.shape[1]
    pixels = np.empty((channels, width), frame.dtype)
    x0, x1, x2 = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    f, m, q = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    threshold = np.empty(width, np.float32)
    alpha = np.empty(width, np.float32)
    insert = np.empty(width, np.uint8)  # the slot that takes this pixel's colour now
    shrink = np.float32(one + r)
    no_slot = np.uint8(255)
    for y in range(first_row, last_row):
        for x in range(width):
            f[x] = zero
            m[x] = zero
        if channels == 3:
            interleaved = frame[y].reshape(-1)
            for c in range(3):
                row = pixels[c]
                for x in range(width):
                    row[x] = interleaved[3 * x + c]
            for x in range(width):
                x0[x], x1[x], x2[x] = (
                    np.float32(pixels[0, x]),
                    np.float32(pixels[1, x]),
                    np.float32(pixels[2, x]),
                )
            for j in range(slots):
                a, s0, s1, s2 = coefficients[y, j], colours[y, 0, j], colours[y, 1, j], colours[y, 2, j]
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    d1 = np.float32(s1[x]) - x1[x]
                    d2 = np.float32(s2[x]) - x2[x]
                    f[x] += a[x] * exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
                    m[x] += a[x]
        else:
            for x in range(width):
                pixels[0, x] = frame[y, x, 0]
                x0[x] = np.float32(frame[y, x, 0])
            for j in range(slots):
                a, s0 = coefficients[y, j], colours[y, 0, j]
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)
                    m[x] += a[x]
        for x in range(width):
            ratio = f[x] / (m[x] if m[x] > zero else one)
            q[x] = ratio if m[x] > zero else one
            f[x] *= scale
            threshold[x] = level
        if rule == QUANTILE:
            theta_row, counts_row = theta[y], counts[y]
            for x in range(width):
                warm = theta_row[x]
                threshold[x] = warm if counts_row[x] >= warmup else zero
        compared = f if rule == PUBLISHED else q
        if mask.shape[0] > 0:
            mask_row = mask[y]
            for x in range(width):
                mask_row[x] = np.uint8(255) if compared[x] < threshold[x] else np.uint8(0)
        if score.shape[0] > 0:
            score_row = score[y]
            for x in range(width):
                ratio = compared[x] / (threshold[x] if threshold[x] > zero else one)
                score_row[x] = one - ratio if threshold[x] > zero else np.float32(-1e6)
        if not learn:
            continue
        heads_row = heads[y]
        everywhere = where.shape[0] == 0
        where_row = heads_row if everywhere else where[y]
        for x in range(width):
            head = heads_row[x]
            learns = everywhere or where_row[x] != 0
            alpha[x] = min(max(one + r - f[x], v), C) * stored
            following = np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))
            insert[x] = head if learns else no_slot
            heads_row[x] = following if learns else head
        if rule == QUANTILE:
            theta_row, counts_row = theta[y], counts[y]
            for x in range(width):
                if not (everywhere or where_row[x] != 0):
                    continue
                counts_row[x] += np.int32(1)
                n = counts_row[x]
                if n <= warmup:
                    if n >= 2:  # the first sample meets an empty expansion
                        theta_row[x] += q[x]
                    if n == warmup:
                        theta_row[x] *= np.float32(0.5) / np.float32(warmup - np.int32(1))
                else:
                    eta = min(max(np.float32(3.0) / np.float32(n - warmup), eta_rho), one)
                    novel = one if q[x] < theta_row[x] else zero
                    theta_row[x] *= np.float32(np.exp(eta * (nu - novel)))
        if not everywhere:
            for j in range(slots):  # pixels that do not learn must not decay with the common scale
                a = coefficients[y, j]
                for x in range(width):
                    old = a[x]
                    kept = old * shrink
                    a[x] = old if where_row[x] != 0 else kept
        for j in range(slots) if only_slot < 0 else range(only_slot, only_slot + 1):
            slot = np.uint8(j)
            a = coefficients[y, j]
            for x in range(width):
                old, new = a[x], alpha[x]
                a[x] = new if insert[x] == slot else old
            for c in range(channels):
                s, row = colours[y, c, j], pixels[c]
                for x in range(width):
                    old_value, new_value = s[x], row[x]
                    s[x] = new_value if insert[x] == slot else old_value
