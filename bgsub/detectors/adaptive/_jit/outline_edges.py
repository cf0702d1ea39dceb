"""Comparison of edges of the frame and of the learned background along an outline."""

import numpy as np

from bgsub._numba import compiled

__all__ = ["compare_edges"]


@compiled
def compare_edges(
    points,  # (P, 2) i4: x and y along the outline
    frame,  # (D, at least H * W) u1, u2 or f4: planes
    background,  # the same
    height,
    width,
    unit,  # f4: makes a sum of channels grey levels
    excess,  # (P,) f4, written: edge of the background minus that of the frame, in grey levels of a Sobel filter
):
    """Filter the surroundings of each point with a 5x5 Sobel operator; 0 at the frame's border."""
    smooth, slope = np.empty(5, np.float32), np.empty(5, np.float32)
    for i in range(5):
        smooth[i] = np.float32((1.0, 4.0, 6.0, 4.0, 1.0)[i] / 16.0)
        slope[i] = np.float32((-1.0, -2.0, 0.0, 2.0, 1.0)[i])
    for i in range(points.shape[0]):
        excess[i] = np.float32(0.0)
        for spot in range(5):  # the mask's outline may be two pixels off
            x0 = points[i, 0] + (0, -2, 2, 0, 0)[spot]
            y0 = points[i, 1] + (0, 0, 0, -2, 2)[spot]
            if x0 < 2 or y0 < 2 or x0 >= width - 2 or y0 >= height - 2:
                continue
            across_f, down_f = np.float32(0.0), np.float32(0.0)
            across_b, down_b = np.float32(0.0), np.float32(0.0)
            for row in range(5):
                start = (y0 + row - 2) * width + x0 - 2
                for column in range(5):
                    f, b = np.float32(0.0), np.float32(0.0)
                    for c in range(frame.shape[0]):
                        f += np.float32(frame[c, start + column])
                        b += np.float32(background[c, start + column])
                    across, down = smooth[row] * slope[column], smooth[column] * slope[row]
                    across_f += across * f
                    down_f += down * f
                    across_b += across * b
                    down_b += down * b
            edge_f = np.sqrt(across_f * across_f + down_f * down_f)
            edge_b = np.sqrt(across_b * across_b + down_b * down_b)
            excess[i] += np.float32(0.2) * unit * (edge_b - edge_f)
