"""The equivalence test notices each small thing that could be wrong in compiled code."""

import numpy as np
import pytest

from tests.detectors.compiled.test_equivalence import check_norma, check_olk
from tests.detectors.defects import break_function, plain
from tests.detectors.reference import noisy_video

ETA, KAPPA = 0.02, 0.25


def wrong_sign(learn):
    def learn_row(f, rho, *rest):
        before = rho.copy()
        learn(f, rho, *rest)
        rho[:] = 2 * before - rho

    return learn_row


def alarm_decides(learn):
    def learn_row(f, rho, heads, slots, eta, nu, insert):
        alarms = insert.copy()
        learn(f, np.float32(KAPPA) * rho, heads.copy(), slots, eta, nu, alarms)
        learn(f, rho, heads, slots, eta, nu, insert)
        insert[:] = alarms

    return learn_row


def channel_forgotten(separate):
    def forget(part, planes, values):
        separate(part, planes, values)
        values[-1] = 0

    return forget


NORMA = {
    "wrong sign of rho": ("_learn_row", wrong_sign),
    "alarm decides on learning": ("_learn_row", alarm_decides),
    "no decay": ("_scale", lambda _: lambda f, scale: None),
    "a channel forgotten": ("separate", channel_forgotten),
    "colour of the wrong channel stored": (
        "store_colours",
        lambda store: lambda slot, insert, pixels, colours: store(slot, insert, pixels[[0] * len(pixels)], colours),
    ),
    "ring does not advance": ("next_slot", lambda _: lambda head, slots: head),
    "last slot never used": ("next_slot", lambda following: lambda head, slots: following(head, slots - 1)),
    "coefficient not under the common scale": (
        "store_coefficients",
        lambda store: lambda slot, insert, new, a: store(slot, insert, np.full_like(new, ETA), a),
    ),
    "threshold without kappa": (
        "_decision_threshold",
        lambda decide: lambda rho, kappa, threshold: decide(rho, np.float32(1), threshold),
    ),
}


def bounds(**wrong):
    """Return a defect of the bounds of new coefficients; a text names another field of the rule."""

    def change(compute):
        def new_coefficients(f, rule, new):
            values = {
                name: getattr(rule, value) if isinstance(value, str) else np.float32(value)
                for name, value in wrong.items()
            }
            compute(f, rule._replace(**values), new)

        return new_coefficients

    return change


def scaled_density(normalise):
    def wrong(f, mass, scale, density):
        normalise(f, mass, scale, density)
        density *= scale

    return wrong


def mass_without_one_slot(expand_and_sum):
    def wrong(colours, coefficients, values, gain, f, mass):
        expand_and_sum(colours, coefficients, values, gain, f, mass)
        mass -= coefficients[0]

    return wrong


OLK = {
    "no upper bound": ("_new_coefficients", bounds(C=1e9)),
    "no lower bound": ("_new_coefficients", bounds(v=-1e9)),
    "bounds swapped": ("_new_coefficients", bounds(v="C", C="v")),
    "density of f under another scale": ("_normalise", scaled_density),
    "mass without one slot": ("_expand_and_sum", mass_without_one_slot),
}


@pytest.mark.parametrize("defect", NORMA)
def test_a_defect_of_the_norma_kernel_is_noticed(defect, monkeypatch):
    functions = plain("norma", monkeypatch)
    break_function(functions, *NORMA[defect])
    monkeypatch.setattr("bgsub.detectors.norma.step", functions.step)
    with pytest.raises(AssertionError):
        check_norma(noisy_video(40, (3, 4), seed=7), slots=4, eta=ETA, kappa=KAPPA)


@pytest.mark.parametrize("defect", OLK)
def test_a_defect_of_the_olk_kernel_is_noticed(defect, monkeypatch):
    functions = plain("olk", monkeypatch)
    break_function(functions, *OLK[defect])
    monkeypatch.setattr("bgsub.detectors.olk.step", functions.step)
    with pytest.raises(AssertionError):
        check_olk(noisy_video(40, (3, 4), seed=8), slots=12)


def test_the_sound_kernels_pass_when_run_the_same_way(monkeypatch):
    for name in ("norma", "olk"):
        monkeypatch.setattr(f"bgsub.detectors.{name}.step", plain(name, monkeypatch).step)
    check_norma(noisy_video(40, (3, 4), seed=7), slots=4, eta=ETA, kappa=KAPPA)
    check_olk(noisy_video(40, (3, 4), seed=8), slots=12)
