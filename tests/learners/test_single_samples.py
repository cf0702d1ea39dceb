"""Single samples are checked by every learner, and a call that raises changes nothing."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone

from bgsub.learners import KernelExpansion, KernelPerceptron, LSSVMClassifier, LSSVMRegressor, save
from bgsub.learners.hypotheses.kernels import Gaussian
from bgsub.learners.perceptrons.linear import AcceptsSparseRows
from tests.learners.every import EVERY, MANY_CLASSES, fitted, kinds, task_of

MODELS = [*(pytest.param(model, False, id=repr(model)) for model in EVERY)]
MODELS += [pytest.param(model, True, id=f"three classes: {model!r}") for model in MANY_CLASSES]
STREAMING = [p for p in MODELS if not isinstance(p.values[0], LSSVMClassifier | LSSVMRegressor)]
READERS = ("score_one", "predict_one", "value_one", "density_one")


def readers(model):
    return [getattr(model, name) for name in READERS if hasattr(model, name)]


def label_of(model, targets):
    return () if targets is None else (targets[0].item(),)


def state_of(model):
    """Return all that a learner is: its attributes and its numbers, byte by byte."""
    hypothesis = {name: array.tobytes() for name, array in model.expansion_.state().items()}
    names = getattr(model, "feature_names_in_", np.zeros(0)).tolist()
    return sorted(vars(model)), hypothesis, model._s.tobytes(), model._p.tobytes(), model.n_features_in_, names


@pytest.mark.parametrize(("model", "many"), MODELS)
@pytest.mark.parametrize("length", [0, 1, 3, 5000])
def test_a_row_of_another_length_is_refused(model, many, length):
    model, _ = fitted(model, many)
    for read in readers(model):
        with pytest.raises(ValueError, match=f"x must have 2 features, got {length}"):
            read(np.zeros(length))
    with pytest.raises(ValueError, match="x must have 2 features, got an array of shape"):
        model.score_one(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="2 features"):
        model.expansion_.values(np.zeros((3, length)))


@pytest.mark.parametrize(("model", "many"), MODELS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_a_row_that_is_not_finite_is_refused(model, many, bad):
    fresh, (model, _) = clone(model), fitted(model, many)
    for read in (*readers(model), fresh.score_one):
        with pytest.raises(ValueError, match="x must be finite"):
            read(np.array([0.0, bad]))


@pytest.mark.parametrize(("model", "many"), STREAMING)
def test_learning_a_wrong_row_changes_nothing(model, many):
    fresh, (model, _) = clone(model), fitted(model, many)
    target = label_of(model, task_of(model, many=many)[1])
    before, blank = state_of(model), dict(vars(fresh))
    rows = (np.zeros(3), np.zeros(0), np.array([0.0, np.nan]), np.array([1e200, 0.0]), np.zeros((2, 2)))
    for row in rows:
        with pytest.raises(ValueError, match="x must"):
            model.learn_one(row, *target)
    assert state_of(model) == before
    for row in rows[2:]:
        with pytest.raises(ValueError):
            fresh.learn_one(row, *(1,) * len(target))
        assert vars(fresh) == blank


@pytest.mark.parametrize(("model", "many"), MODELS)
def test_a_fit_that_raises_leaves_the_learner_as_it_was(model, many):
    model, samples = fitted(model, many)
    targets = task_of(model, many=many)[1]
    before, scores = state_of(model), model.predict(samples)
    wide = np.ones((5, 4))
    wide[2, 1] = np.nan
    given = () if targets is None else (targets[:5],)
    for rows in (wide, np.ones((0, 7)), np.full((5, 3), 1e200)):
        with pytest.raises(ValueError):
            model.fit(rows, *given)
        assert state_of(model) == before
    if hasattr(model, "classes_"):
        with pytest.raises(ValueError, match="class"):
            model.fit(np.ones((5, 3)), np.zeros(5))
    kernel = model.get_params().get("kernel")
    if kernel is not None:
        model.set_params(kernel="cubic")
        with pytest.raises(ValueError, match="kernel must be"):
            model.fit(np.ones((6, 3)), *(() if targets is None else ([0, 1, 0, 1, 0, 1],)))
        model.set_params(kernel=kernel)
    assert state_of(model) == before
    np.testing.assert_array_equal(model.predict(samples), scores)


@pytest.mark.parametrize("kind", [kind for kind in kinds() if hasattr(kind, "learn_one")])
def test_every_learner_learns_from_a_stream_with_its_defaults(kind):
    model, rng = kind(), np.random.default_rng(0)
    supervised = hasattr(model, "predict_one")
    for x in rng.normal(size=(20, 3)):
        model.learn_one(x, *(1 if x[0] > 0 else -1,) * supervised)
    assert model.t_ == 20
    assert np.isfinite(model.score_one(np.zeros(3)))


@pytest.mark.parametrize(("model", "many"), STREAMING)
def test_a_row_may_be_of_any_kind_and_is_not_written(model, many):
    model, samples = fitted(model, many)
    targets, wide = task_of(model, many=many)[1], np.zeros((2, 4))
    frozen, wide[0, ::2] = samples[0].copy(), samples[0]
    frozen.flags.writeable = False
    rows = (samples[0], frozen, wide[0, ::2], samples[0].tolist(), samples[0].astype(">f8"))
    learned = [clone(model).fit(samples, *(() if targets is None else (targets,))) for _ in rows]
    for each, row in zip(learned, rows, strict=True):
        assert np.array_equal(each.score_one(row), model.score_one(samples[0]))
        each.learn_one(row, *label_of(model, targets))
        assert state_of(each) == state_of(learned[0])
    np.testing.assert_array_equal(rows[2], rows[0])


def test_a_fit_that_raises_keeps_the_names_of_the_columns():
    frame = pytest.importorskip("pandas").DataFrame
    model = KernelPerceptron(sigma=1.0).fit(frame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(frame({"c": [np.nan, 1.0], "d": [1.0, 0.0], "e": [1.0, 2.0]}), [0, 1])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict(frame({"a": [0.0], "b": [1.0]})) == [0]


def test_a_kernel_that_fails_in_a_later_fit_leaves_the_learner_as_it_was():
    broken = []

    def kernel(a, b):
        return np.nan if broken and a[0] > 8 else float(np.exp(-np.sum((a - b) ** 2)))

    rows = np.arange(10.0)[:, None]
    labels = np.arange(10) % 2
    model = KernelPerceptron(kernel=kernel).fit(rows[:5], labels[:5])
    before = state_of(model)
    broken.append(True)
    with pytest.raises(ValueError, match="kernel must return finite numbers"):
        model.fit(rows, labels)
    assert state_of(model) == before


def test_an_expansion_reads_and_stores_only_rows_of_its_length():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 3, outputs=2)
    for x in (np.zeros(2), np.zeros(1), np.zeros(4), np.zeros((1, 3))):
        with pytest.raises(ValueError, match="x must have 3 features"):
            expansion.append(x, np.ones(2))
        with pytest.raises(ValueError, match="x must have 3 features"):
            expansion.value(x)
    assert len(expansion) == 0


@pytest.mark.parametrize("model", [p.values[0] for p in MODELS if isinstance(p.values[0], AcceptsSparseRows)], ids=repr)
def test_sparse_rows_of_another_width_are_refused(model):
    from scipy.sparse import csr_matrix

    model, _ = fitted(model)
    wide = csr_matrix(np.ones((3, 9)))
    assert issparse(wide)
    with pytest.raises(ValueError, match="features"):
        model.predict(wide)
    with pytest.raises(ValueError, match="features"):
        model.expansion_.values(wide)


def test_saving_what_is_no_learner_names_the_remedy(tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    samples, labels = task_of(KernelPerceptron())
    pipeline = make_pipeline(StandardScaler(), KernelPerceptron(sigma=1.0)).fit(samples, labels)
    with pytest.raises(
        ValueError, match=r"model must be a learner of bgsub.learners, got Pipeline; of a pipeline, save"
    ):
        save(pipeline, tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []
    save(pipeline[-1], tmp_path / "model.npz")
