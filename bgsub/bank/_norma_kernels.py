"""Numba kernels of the NORMA bank: one band of rows of many small kernel expansions.

Inner loops run over one row of contiguous pixels through one-dimensional views, and load what they choose from
before they choose: in this form LLVM vectorises all of them. Support vectors lie channel by channel, then slot by
slot, so that the inner loop reads a few purely sequential streams (15 % faster than slot by slot, then channel).
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, kernel

__all__ = ["step"]

NO_SLOT = np.uint8(255)


@kernel
def step(
    first_row,
    last_row,
    frame,  # (H, W, D) u1, u2 or f4
    colours,  # (H, D, B, W) of the frame's dtype: support vectors
    coefficients,  # (H, B, W) f4, to be multiplied by `scale`
    heads,  # (H, W) u1: the slot written next
    rho,  # (H, W) f4
    where,  # (H, W) u1, or (0, 0) for everywhere: pixels that may learn
    gain,  # f4: -log2(e) / width**2
    scale,  # f4
    kappa,  # f4: decision threshold as a share of rho
    learn,  # bool
    eta,  # f4
    nu,  # f4
    decay,  # f4: 1 - eta * lam; the caller multiplies `scale` by it after a step that learned
    new_coefficient,  # f4: eta / (scale * decay)
    mask,  # (H, W) u1, or (0, 0) for none: written
    score,  # (H, W) f4, or (0, 0) for none: written
):
    """Score one band of rows and let it learn (Kivinen 2004, nu-novelty with a ring of B support vectors)."""
    zero, one = np.float32(0.0), np.float32(1.0)
    width, channels = frame.shape[1], frame.shape[2]
    slots = coefficients.shape[1]
    pixels = np.empty((channels, width), frame.dtype)
    x0, x1, x2 = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    f = np.empty(width, np.float32)
    insert = np.empty(width, np.uint8)  # the slot that takes this pixel's colour now
    for y in range(first_row, last_row):
        if channels == 3:
            interleaved = frame[y].reshape(-1)
            for c in range(3):
                row = pixels[c]
                for x in range(width):
                    row[x] = interleaved[3 * x + c]
            for x in range(width):
                f[x] = zero
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
        else:
            for x in range(width):
                f[x] = zero
                pixels[0, x] = frame[y, x, 0]
                x0[x] = np.float32(frame[y, x, 0])
            for j in range(slots):
                a, s0 = coefficients[y, j], colours[y, 0, j]
                for x in range(width):
                    d0 = np.float32(s0[x]) - x0[x]
                    f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)
        rho_row = rho[y]
        for x in range(width):
            f[x] *= scale
        if mask.shape[0] > 0:
            mask_row = mask[y]
            for x in range(width):
                mask_row[x] = np.uint8(255) if f[x] < kappa * rho_row[x] else np.uint8(0)
        if score.shape[0] > 0:
            score_row = score[y]
            for x in range(width):
                level = kappa * rho_row[x]
                ratio = f[x] / (level if level > zero else one)
                score_row[x] = one - ratio if level > zero else np.float32(-1e6)
        if not learn:
            continue
        heads_row = heads[y]
        if where.shape[0] == 0:
            for x in range(width):
                head = heads_row[x]
                novel = f[x] < rho_row[x]
                insert[x] = head if novel else NO_SLOT
                rho_row[x] += eta * (nu - (one if novel else zero))
                following = np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))
                heads_row[x] = following if novel else head
        else:
            where_row = where[y]
            for x in range(width):
                head = heads_row[x]
                novel = f[x] < rho_row[x]
                learns = where_row[x] != 0
                insert[x] = head if novel and learns else NO_SLOT
                change = eta * (nu - (one if novel else zero))
                rho_row[x] += change if learns else zero
                following = np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))
                heads_row[x] = following if novel and learns else head
            for j in range(slots):  # pixels that do not learn must not decay with the common scale
                a = coefficients[y, j]
                for x in range(width):
                    old = a[x]
                    kept = old / decay
                    a[x] = old if where_row[x] != 0 else kept
        for j in range(slots):
            slot = np.uint8(j)
            a = coefficients[y, j]
            for x in range(width):
                old = a[x]
                a[x] = new_coefficient if insert[x] == slot else old
            for c in range(channels):
                s, row = colours[y, c, j], pixels[c]
                for x in range(width):
                    old_value, new_value = s[x], row[x]
                    s[x] = new_value if insert[x] == slot else old_value
