"""The equivalence test notices each small thing that could be wrong in a kernel."""

import inspect

import pytest

from bgsub.detectors._jit import norma as _norma_kernels
from bgsub.detectors._jit import olk as _olk_kernels
from tests.detectors.reference import noisy_video
from tests.detectors.test_equivalence import check_norma, check_olk

WRAP = "head + np.uint8(1) < slots else np.uint8(0))\n                heads_row[x] = following if novel else head"
LEARN = "novel = f[x] < rho_row[x]\n                insert[x] = head if novel else NO_SLOT"
RHO = "rho_row[x] += eta * (nu - (one if novel else zero))"
NORMA = {
    "wrong sign of rho": (RHO, RHO.replace("+=", "-=")),
    "alarm decides on learning": (LEARN, LEARN.replace("< rho_row", "< kappa * rho_row")),
    "no decay": ("f[x] *= scale", "f[x] *= np.float32(1.0)"),
    "a channel forgotten": ("d0 * d0 + d1 * d1 + d2 * d2", "d0 * d0 + d1 * d1"),
    "colour of the wrong channel stored": ("colours[y, c, j], pixels[c]", "colours[y, c, j], pixels[0]"),
    "ring does not advance": (WRAP, WRAP.replace("following if novel else head", "head")),
    "last slot never used": (WRAP, WRAP.replace("head + np.uint8(1) <", "head + np.uint8(2) <")),
    "coefficient not under the common scale": ("a[x] = new_coefficient if", "a[x] = eta if"),
    "threshold without kappa": ("if f[x] < kappa * rho_row[x] else", "if f[x] < rho_row[x] else"),
}
ALPHA = "min(max(one + r - f[x], v), C)"
OLK = {
    "no upper bound": (ALPHA, "max(one + r - f[x], v)"),
    "no lower bound": (ALPHA, "min(one + r - f[x], C)"),
    "bounds swapped": (ALPHA, "max(min(one + r - f[x], v), C)"),
    "density of f under another scale": ("ratio = f[x] / (m[x]", "ratio = scale * f[x] / (m[x]"),
    "mass without one slot": ("m[x] += a[x]", "m[x] += a[x] if j else zero"),
}


def break_kernel(module, old, new, monkeypatch):
    """Replace the kernel by its own source with one thing wrong, run as plain Python."""
    source = inspect.getsource(module)
    assert old in source
    monkeypatch.setattr("bgsub._numba.kernel", lambda function: function)
    namespace = {"__name__": "defective"}
    exec(source.replace(old, new), namespace)  # noqa: S102
    monkeypatch.setattr(module, "step", namespace["step"])


@pytest.mark.parametrize("defect", NORMA)
def test_a_defect_of_the_norma_kernel_is_noticed(defect, monkeypatch):
    break_kernel(_norma_kernels, *NORMA[defect], monkeypatch)
    with pytest.raises(AssertionError):
        check_norma(noisy_video(40, (3, 4), seed=7), slots=4)


@pytest.mark.parametrize("defect", OLK)
def test_a_defect_of_the_olk_kernel_is_noticed(defect, monkeypatch):
    break_kernel(_olk_kernels, *OLK[defect], monkeypatch)
    with pytest.raises(AssertionError):
        check_olk(noisy_video(40, (3, 4), seed=8), slots=12)


def test_the_sound_kernels_pass_when_run_the_same_way(monkeypatch):
    for module in (_norma_kernels, _olk_kernels):
        break_kernel(module, "step", "step", monkeypatch)
    check_norma(noisy_video(40, (3, 4), seed=7), slots=4)
    check_olk(noisy_video(40, (3, 4), seed=8), slots=12)
