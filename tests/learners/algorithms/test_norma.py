import numpy as np
import pytest

from bgsub.learners import NORMANovelty

STREAM = 2 * np.sin(np.arange(1, 38))[:, None]


def probes(model):
    return [model.value_one(np.array([0.3])), model.value_one(np.array([-1.2]))]


AS_PUBLISHED = pytest.mark.filterwarnings("ignore:eta should be at most nu / 20")


@AS_PUBLISHED
@pytest.mark.compiled
def test_known_answer():
    model = NORMANovelty(sigma=1.0, nu=0.5, eta=0.1, rho_0=0.025, budget=None).fit(STREAM)
    assert (model.n_support_, model.n_violations_) == (16, 16)
    np.testing.assert_allclose(probes(model), [0.1546932002, 0.2282630717], atol=1e-8)
    assert model.rho_ == pytest.approx(0.275, abs=1e-8)


@AS_PUBLISHED
@pytest.mark.compiled
@pytest.mark.parametrize("schedule", ["constant", "sqrt", "tau"])
@pytest.mark.parametrize("budget", [None, 5])
def test_equals_a_plain_loop(schedule, budget):
    nu, eta, lam, tau = 0.3, 0.06, 0.7, 4.0
    model = NORMANovelty(sigma=1.0, nu=nu, eta=eta, lam=lam, schedule=schedule, tau=tau, kappa=0.5, budget=budget)
    vectors, coefficients, rho = [], [], eta * nu / 2
    for t, x in enumerate(STREAM[:, 0], 1):
        step = {"constant": eta, "sqrt": eta / np.sqrt(t), "tau": eta * np.sqrt(tau / (tau + t))}[schedule]
        f = sum(a * np.exp(-((s - x) ** 2) / 2) for s, a in zip(vectors, coefficients, strict=True))
        novel = model.learn_one(np.array([x]))
        assert model.last_value_ == pytest.approx(f, abs=1e-14)
        assert (novel, model.last_violation_) == (f < 0.5 * rho, f < rho)
        coefficients = [a * (1 - step * lam) for a in coefficients]
        if f < rho:
            vectors, coefficients = [*vectors, x], [*coefficients, step]
            if budget:
                vectors, coefficients = vectors[-budget:], coefficients[-budget:]
        rho += step * (nu - (f < rho))
        assert model.rho_ == pytest.approx(rho, abs=1e-14)
    np.testing.assert_allclose(model.dual_coef_[0], coefficients, rtol=1e-12)


@pytest.mark.parametrize("budget", [None, 6])
@pytest.mark.parametrize("normalise", [False, True])
def test_rate_identity_is_exact(budget, normalise):
    rng = np.random.default_rng(3)
    samples = np.cumsum(rng.normal(size=(3000, 2)), axis=0)  # a drifting stream: no distribution needed
    model = NORMANovelty(sigma=2.0, nu=0.2, budget=budget, normalise=normalise).fit(samples)
    unit = 0.2 if normalise else 1.0
    eta = 0.2 / 50
    rho_0 = eta * 0.2 / 2 / unit
    rate = model.n_violations_ / model.t_
    assert rate == pytest.approx(0.2 - (model.rho_ - rho_0) * unit / (eta * 3000), abs=1e-12)
    assert -eta < model.rho_ * unit < 1 + eta


def test_square_root_schedule_keeps_its_rate_bound():
    samples = np.random.default_rng(4).normal(size=(2000, 2))
    model = NORMANovelty(sigma=1.0, nu=0.2, eta=0.5, schedule="sqrt")
    rhos = [0.05]
    for x in samples:
        model.learn_one(x)
        rhos.append(model.rho_)
    largest = np.abs(np.array(rhos) - rhos[0]).max()
    assert abs(model.n_violations_ / 2000 - 0.2) <= 2 * largest / (0.5 * np.sqrt(2000))


def test_normalised_report_makes_the_same_decisions():
    samples = np.random.default_rng(6).normal(size=(800, 2))
    plain, normal = (NORMANovelty(sigma=1.0, nu=0.25, kappa=0.5, normalise=n) for n in (False, True))
    assert [plain.learn_one(x) for x in samples] == [normal.learn_one(x) for x in samples]
    assert normal.rho_ == pytest.approx(plain.rho_ / 0.25, rel=1e-9)
    assert normal.value_one(samples[0]) == pytest.approx(plain.value_one(samples[0]) / 0.25, rel=1e-9)


def test_printed_sign_of_the_rho_update_diverges():
    samples = np.random.default_rng(7).normal(size=(2000, 2))
    printed = NORMANovelty(sigma=1.0, nu=0.1, rho_sign="printed").fit(samples)
    rate = printed.n_violations_ / printed.t_
    assert rate < 0.001 or rate > 0.999
    drift = abs(printed.rho_)
    assert abs(printed.partial_fit(samples).rho_) == pytest.approx(2 * drift, rel=0.05)
    shipped = NORMANovelty(sigma=1.0, nu=0.1).fit(samples)
    assert shipped.n_violations_ / shipped.t_ == pytest.approx(0.1, abs=0.01)


def test_clamped_rho_breaks_the_rate():
    samples = np.random.default_rng(8).normal(size=(2000, 2))
    with pytest.warns(UserWarning, match="at most nu / 20 = 0.0005, got 0.1"):
        clamped = NORMANovelty(sigma=1.0, nu=0.01, eta=0.1, rho_min=0.0).fit(samples)
    with pytest.warns(UserWarning, match="nearly regular intervals"):
        free = NORMANovelty(sigma=1.0, nu=0.01, eta=0.1).fit(samples)
    assert free.n_violations_ / 2000 == pytest.approx(0.01, abs=0.005)
    assert clamped.n_violations_ / 2000 > 3 * free.n_violations_ / 2000


def test_auto_budget_bounds_the_truncation():
    samples = np.random.default_rng(9).normal(size=(3000, 1))
    ring = NORMANovelty(sigma=1.0, nu=0.9, eta=0.045, budget="auto").fit(samples)
    whole = NORMANovelty(sigma=1.0, nu=0.9, eta=0.045, budget=None).fit(samples)
    assert ring.n_support_ == ring.expansion_.budget < whole.n_support_
    assert np.abs(ring.score_samples(samples) - whole.score_samples(samples)).max() < 1e-3


def test_step_stays_below_the_inverse_of_lam():
    model = NORMANovelty(sigma=1.0, nu=0.5, eta=1.0, schedule="sqrt", rho_0=0.1)
    model.learn_one(np.zeros(1))
    assert model.dual_coef_[0, 0] == pytest.approx(0.99)


def test_forgetting_lets_an_old_cluster_become_novel_again():
    rng = np.random.default_rng(10)
    model = NORMANovelty(sigma=1.0, nu=0.2).fit(rng.normal(size=(500, 1)))
    assert model.score_one(np.zeros(1)) > 0
    model.partial_fit(rng.normal(20.0, 1.0, size=(2000, 1)))
    assert model.score_one(np.zeros(1)) < 0


def planted(seed, n=4000, share=0.05):
    """Return a stream of a Gaussian with outliers all around it, and which these are."""
    rng = np.random.default_rng(seed)
    samples, outliers = rng.normal(size=(n, 2)), rng.random(n) < share
    samples[outliers] = rng.uniform(-6, 6, size=(outliers.sum(), 2))
    return samples, outliers


def flags_of(model, samples):
    """Return scores and flags of all samples, each before it was learned."""
    return np.array([(model.score_one(x), model.learn_one(x)) for x in samples]).T


def regularity(flags):
    """Return the standard deviation of the gaps between flags over their mean: 1 without memory, 0 for a clock."""
    gaps = np.diff(np.flatnonzero(flags))
    return gaps.std() / gaps.mean()


@AS_PUBLISHED
def test_published_constants_make_a_clock_and_the_defaults_find_outliers():
    clock = NORMANovelty(sigma=1.0, nu=0.01, eta=1.0, schedule="sqrt", rho_0=0.0, budget=None)
    samples, outliers = planted(0, 8000)
    _, flags = flags_of(clock, samples)
    assert flags[2000:].mean() == pytest.approx(0.01, abs=0.003)
    assert regularity(flags[2000:]) < 0.05
    assert (flags.astype(bool) & outliers).sum() / flags.sum() < 0.15  # by chance it is .05

    for seed in (1, 2, 3):
        samples, outliers = planted(seed)
        found = flags_of(NORMANovelty(), samples)[1].astype(bool)[2000:]
        assert found.mean() == pytest.approx(0.1, abs=0.01)
        assert (found & outliers[2000:]).sum() / outliers[2000:].sum() > 0.7


def test_a_step_too_long_for_nu_is_warned_of_where_the_learner_is_called():
    for model in (
        NORMANovelty(sigma=1.0, nu=0.1, eta=0.0051),
        NORMANovelty(sigma=1.0, nu=0.01, eta=1.0, schedule="sqrt"),
        NORMANovelty(sigma=1.0, nu=0.01, eta=0.1, schedule="tau"),
    ):
        with pytest.warns(UserWarning, match="eta should be at most nu / 20") as caught:
            model.fit(STREAM)
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(UserWarning, match="nearly regular intervals") as caught:
            type(model)(**model.get_params()).learn_one(STREAM[0])
        assert [warning.filename for warning in caught] == [__file__]
    NORMANovelty(sigma=1.0, nu=0.1, eta=0.005).fit(STREAM)
    NORMANovelty(sigma=1.0, nu=0.5, eta=1.0, schedule="sqrt").fit(STREAM)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_the_width_that_nobody_gave_is_four_times_the_usual_one(kernel):
    from bgsub.learners.hypotheses.kernels import scale_gamma

    samples = np.random.default_rng(11).normal(3.0, 5.0, size=(50, 4))
    share = 16 if kernel == "gaussian" else 4
    assert NORMANovelty(kernel=kernel).fit(samples).expansion_.kernel.gamma == scale_gamma(samples) / share
    assert NORMANovelty(kernel=kernel, gamma="scale").fit(samples).expansion_.kernel.gamma == scale_gamma(samples)
    single = NORMANovelty(kernel=kernel)
    single.learn_one(samples[0])
    assert single.expansion_.kernel.gamma == 0.25 / share


@pytest.mark.compiled
def test_a_sample_exactly_at_the_threshold_is_not_novel():
    assert not NORMANovelty(sigma=1.0, rho_0=0.0).learn_one(np.array([0.0]))
