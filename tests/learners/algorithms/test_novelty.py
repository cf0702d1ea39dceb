"""What holds for every novelty learner, and learners without scikit-learn."""

import subprocess
import sys

import numpy as np
import pytest

from bgsub.learners import NORMANovelty, OLKNovelty


@pytest.fixture
def samples() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(300, 2))


@pytest.mark.parametrize("kind", [NORMANovelty, OLKNovelty])
def test_sample_by_sample_equals_bulk(kind, samples):
    bulk = kind(width=1.0, budget=40).fit(samples)
    single = kind(width=1.0, budget=40)
    novel = [single.learn_one(x) for x in samples]
    assert any(novel)
    assert novel[-1] == single.last_novel_
    np.testing.assert_array_equal(bulk.dual_coef_, single.dual_coef_)
    np.testing.assert_array_equal(bulk.support_vectors_, single.support_vectors_)
    assert (bulk.n_support_, bulk.offset_, bulk.t_) == (single.n_support_, single.offset_, 300)
    grid = samples[:20] * 3
    decisions = bulk.decision_function(grid)
    np.testing.assert_array_equal(decisions, [single.score_one(x) for x in grid])
    np.testing.assert_array_equal(decisions, bulk.score_samples(grid) - bulk.offset_)
    np.testing.assert_array_equal(bulk.predict(grid), np.where(decisions < 0, -1, 1))
    np.testing.assert_array_equal(
        kind(width=1.0, budget=40).partial_fit(samples[:100]).partial_fit(samples[100:]).dual_coef_,
        bulk.dual_coef_,
    )


@pytest.mark.parametrize("kind", [NORMANovelty, OLKNovelty])
def test_decision_is_made_before_the_sample_is_learned(kind, samples):
    model = kind(width=1.0).fit(samples)
    for x in [*samples[:50] * 2, np.array([9.0, 9.0])]:
        expected, value = model.score_one(x) < 0, model.value_one(x)
        assert model.learn_one(x) == expected
        assert model.last_value_ == value


@pytest.mark.parametrize("kind", [NORMANovelty, OLKNovelty])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_input_that_is_not_finite_raises_and_changes_nothing(kind, bad, samples):
    model = kind(width=1.0).fit(samples)
    before = (model.t_, model.offset_, model.dual_coef_.tobytes(), model.support_vectors_.tobytes())
    with pytest.raises(ValueError, match="finite"):
        model.learn_one(np.array([0.0, bad]))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(np.array([[0.0, 0.0], [0.0, bad]]))
    assert before == (model.t_, model.offset_, model.dual_coef_.tobytes(), model.support_vectors_.tobytes())


@pytest.mark.parametrize("kind", [NORMANovelty, OLKNovelty])
def test_unfitted_learner_scores_single_rows_as_zero(kind):
    model = kind(width=1.0)
    assert (model.value_one(np.zeros(2)), model.score_one(np.zeros(2))) == (0.0, 0.0)


@pytest.mark.parametrize("kind", [NORMANovelty, OLKNovelty])
def test_scale_cannot_be_known_from_one_sample(kind):
    with pytest.raises(ValueError, match="gamma 'scale' must be computed from data"):
        kind(gamma="scale").learn_one(np.zeros(2))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NORMANovelty(nu=0.0), r"nu must be in \(0, 1\), got 0.0"),
        (NORMANovelty(eta=-1.0), "eta must be positive or None, got -1.0"),
        (NORMANovelty(lam=-1.0), "lam must not be negative, got -1.0"),
        (NORMANovelty(schedule="cubic"), "schedule must be one of 'constant', 'sqrt', 'tau', got 'cubic'"),
        (NORMANovelty(tau=0), "tau must be positive, got 0"),
        (NORMANovelty(kappa=0.0), "kappa must be positive, got 0.0"),
        (NORMANovelty(rho_0=np.nan), "rho_0 must be a finite number or None, got nan"),
        (NORMANovelty(rho_min="0"), "rho_min must be a finite number or None, got '0'"),
        (NORMANovelty(rho_sign="plus"), "rho_sign must be one of"),
        (NORMANovelty(budget=0), "budget must be None or an integer of at least 1, got 0"),
        (NORMANovelty(budget="all"), "budget must be an integer of at least 1, None or 'auto', got 'all'"),
        (NORMANovelty(budget="auto", schedule="sqrt"), "budget must be given unless"),
        (NORMANovelty(budget="auto", kernel="linear"), "budget must be given unless"),
        (OLKNovelty(r=-0.1), "r must not be negative, got -0.1"),
        (OLKNovelty(v=0.2, C=0.2), r"v must be in \[0, C\) with C = 0.2, got 0.2"),
        (OLKNovelty(C=0), "C must be positive, got 0"),
        (OLKNovelty(rho_rule="mean"), "rho_rule must be one of"),
        (OLKNovelty(score_on="g"), "score_on must be one of 'q', 'f', got 'g'"),
        (OLKNovelty(nu=1), r"nu must be in \(0, 1\), got 1"),
        (OLKNovelty(eta_rho=2.0), r"eta_rho must be in \(0, 1\], got 2.0"),
        (OLKNovelty(quantile_step="fast"), "quantile_step must be one of"),
        (OLKNovelty(warmup=1), "warmup must be an integer of at least 2, got 1"),
        (OLKNovelty(level=0.0), "level must be positive, got 0.0"),
        (OLKNovelty(thr_sv=-1.0), "thr_sv must not be negative, got -1.0"),
        (OLKNovelty(budget=True), "budget must be None or an integer of at least 1, got True"),
    ],
)
def test_wrong_parameters_are_named_when_learning_starts(model, message, samples):
    with pytest.raises(ValueError, match=message):
        model.fit(samples)
    with pytest.raises(ValueError, match=message):
        model.set_params(width=None if model.kernel == "linear" else 1.0).learn_one(samples[0])


def test_without_scikit_learn_the_import_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None; import bgsub.learners"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1].startswith("bgsub.errors.DependencyError: the learners need scikit-learn")
    assert run.stderr.rstrip().endswith("run: pip install 'bgsub[learners]'")
