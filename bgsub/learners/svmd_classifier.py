"""Classification by SVMD, with structure among the labels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from bgsub.learners._base.classifier import OnlineKernelClassifier
from bgsub.learners._checks import check_choice
from bgsub.learners._jit.losses import CLASSIFICATION_LOSSES
from bgsub.learners._jit.svmd import SVMDParameters
from bgsub.learners.calibration import class_probabilities
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.labels import check_label_kernel, graph_distances, taxonomy_distances, taxonomy_kernel
from bgsub.learners.hypotheses.traced import TracedExpansion
from bgsub.learners.svmd import MarginParameters, OffsetParameters, SVMDBase

__all__ = ["SVMDClassifier"]


def _is_logistic(model: "SVMDClassifier") -> bool:
    if model.loss != "logistic":
        raise AttributeError(f"probabilities are there only where loss is 'logistic', which is {model.loss!r}")
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class SVMDClassifier(MarginParameters, OffsetParameters, SVMDBase, OnlineKernelClassifier):
    """Classification by SVMD: soft margin or logistic loss, two classes or many, with a step that adapts.

    f becomes (1 - eta c) f - eta xi k(x, .), with xi the derivative of the loss (table 1 of Vishwanathan, Schraudolph
    and Smola 2006). Before that the step becomes eta max(1/2, 1 - mu <g, v>), g being the gradient of the
    regularised loss, c f counted, and v the trace of past gradients, by which f depends on past steps (equations 36
    to 38, 45 to 47). Inner products are carried from step to step, equations 48 to 52, so that a step costs little
    more than the score. Here they also follow the vectors that a full store replaces, which the paper leaves out: its
    norm of f is then several times the true one. With mu = 0, or another schedule, this is the online SVM (NORMA with
    rho = 1 and lam = c, for many classes as well).

    Many classes have one function each. The hinge loss pushes up that of the right class and down that of the worst
    wrong one where it does not lead by 1, or by the distance of the two labels in a graph or a tree (equations 28 and
    29): mistakes then tend to be near misses. A label kernel couples the functions: f(x, y) is the sum of
    k(s_i, x) kappa(y', y) a_i(y') (equation 66). With two classes there is but one distance, and both are ignored.

    With nu the margin 1 becomes eps, which each sample multiplies by exp(eta_eps eps (nu - e)), e being 1 for a
    violation and 0 otherwise, with a second step that adapts as well. Table 1 makes xi of two classes -y or 0, so that
    the printed xi + nu of equations 57 to 61 is right for one class only: nu - e is used. What the rule keeps at nu is
    the mean of e weighted by eps.

    The weight of a sample multiplies its loss, and so xi, the second derivative, and the step of the margin.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    loss : {"hinge", "logistic"}
        "logistic" is softmax where there are more than two classes; it stores every sample. With it there are
        probabilities, `predict_proba` and `predict_proba_one`.
    taxonomy : mapping or None
        From each node to its parent, labels being nodes: their distance is half the number of nodes above exactly
        one of the two (equation 65).
    label_graph : sequence of (node, node) or (node, node, weight), or None
        Edges: the distance of two labels is the shortest path. At most one of the two is given, for the hinge loss.
    label_kernel : {"delta", "taxonomy"} or (Q, Q) array
        "taxonomy" is the number of common ancestors (equation 68); an array is in the order of the sorted labels.
    nu, eps_0, eps_rule, eta_eps, mu_eps, lam_eps
        As in `SVMDNovelty`; for the hinge loss.
    c, eta_0, mu, lam, schedule, tau, eta_max, buffer_fix, record, budget
        As in `SVMDNovelty`.
    offset : bool
        Whether to learn a constant b for each class (equation 53).
    eta_b : float or None
        First step of b, positive; None is eta_0.
    mu_b, lam_b : float or None
        As mu and lam, for the steps of b; None is the same. The trace of b feels the second derivative of the
        logistic loss, which equation 55 drops.
    average : bool
        As in `KernelPerceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    step_size_, step_sizes_, margin_, norm2_, f_dot_v_
        As in `SVMDNovelty`.
    classes_, t_, n_mistakes_, n_violations_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`; violations are samples that missed the margin, for the logistic loss mistakes.
        With a label kernel, decisions are kappa times the sums that `dual_coef_` makes.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range, or graph or taxonomy are not
        connected or lack a label.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = np.where(X[:, 0] < 0, "car", np.where(X[:, 1] < 0, "cat", "dog"))
    >>> tree = {"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}
    >>> model = SVMDClassifier(sigma=1.0, taxonomy=tree, label_kernel="taxonomy").fit(X, y)
    >>> model.score(X, y) > 0.9, model.step_size_ != model.eta_0
    (True, True)
    """

    loss: str = "hinge"
    taxonomy: Any = None
    label_graph: Any = None
    label_kernel: Any = "delta"

    _many: ClassVar[bool] = True

    def _checked_parameters(self) -> SVMDParameters:
        check_choice("loss", self.loss, CLASSIFICATION_LOSSES)
        loss = CLASSIFICATION_LOSSES[self.loss]
        if not loss.margin and self.nu is not None:
            raise ValueError(f"nu must be None where loss is {self.loss!r}, which has no margin, got {self.nu!r}")
        if not loss.margin and not (self.taxonomy is None and self.label_graph is None):
            raise ValueError(f"taxonomy and label_graph must be None where loss is {self.loss!r}, which has no margin")
        if self.taxonomy is not None and self.label_graph is not None:
            raise ValueError("taxonomy and label_graph must not both be given")
        if isinstance(self.label_kernel, str):
            check_choice("label_kernel", self.label_kernel, ("delta", "taxonomy"))
            if self.label_kernel == "taxonomy" and self.taxonomy is None:
                raise ValueError("taxonomy must be given where label_kernel is 'taxonomy', got None")
        return self._parameters(loss.two)

    def _start(self) -> None:
        super()._start()
        self._choose_loss()

    def _refresh(self) -> None:
        super()._refresh()
        self._choose_loss()

    def _choose_loss(self) -> None:
        if self.expansion_.trace.shape[1] > 1:
            self._p["loss"] = CLASSIFICATION_LOSSES[self.loss].many

    def _begin_classes(
        self, n_features: int, samples: Array | None, classes: Array, labels: Array | None = None
    ) -> None:
        self._structure = self._structure_of(classes.tolist())
        super()._begin_classes(n_features, samples, classes, labels)

    def _resume(self, kernel: Kernel, n_features: int, arrays: dict[str, Any]) -> None:
        self._structure = self._structure_of(arrays["classes_"].tolist())
        super()._resume(kernel, n_features, arrays)

    def _structure_of(self, labels: list[Any]) -> tuple[Array | None, Array | None]:
        """Return distances and kernel of the labels."""
        self._checked_parameters()
        distances, kappa = None, None
        if self.taxonomy is not None:
            distances = taxonomy_distances(self.taxonomy, labels)
        elif self.label_graph is not None:
            distances = graph_distances(self.label_graph, labels)
        if not isinstance(self.label_kernel, str):
            kappa = check_label_kernel(self.label_kernel, len(labels))
        elif self.label_kernel == "taxonomy":
            kappa = taxonomy_kernel(self.taxonomy, labels)
        return (distances, kappa) if len(labels) > 2 else (None, None)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return TracedExpansion(kernel, n_features, budget, outputs, *self._structure, self.dtype)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Array) -> Array:  # noqa: N803
        """Probability of each class for each row of X (n, d), by the logistic loss: an (n, classes) array."""
        return self._probabilities(self.decision_function(X))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Array) -> Array:
        """Return the probability of each class for one sample (d,): a (classes,) array, in the order of `classes_`.

        Raises
        ------
        ValueError
            If x is of another length or not finite.
        """
        result: Array = self._probabilities(np.asarray(self.score_one(x), np.float64)[None, ...])[0]
        return result

    def _probabilities(self, scores: Array) -> Array:
        two = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        return class_probabilities(two)

    def _decision(self) -> tuple[Any, Any]:
        kappa = self.expansion_.kappa
        return (kappa.T if len(kappa) else 1.0), self._bias()
