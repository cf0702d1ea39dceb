"""Texts of the parameters and attributes that many learners share, put into the docstring of each.

A docstring names them in a line without a type, with "As in `Class`." below; when the class is made, each gets its
entry here, so that the help of every learner is complete in itself.
"""

import re

__all__ = ["completed"]

_SHARED = {
    "kernel": """{"gaussian", "laplacian", "polynomial", "linear"}, Kernel or callable
        Similarity of two samples.""",
    "gamma": """float, "scale", "auto" or None
        Factor in the exponent of the Gaussian, exp(-gamma d²), and of the Laplacian kernel, and of the product in the
        polynomial one. "scale" is 1 / (d var(X)) of the first data, "auto" 1 / d for d features. Where gamma, sigma and
        width are all None it is "scale", or "auto" where the first data are a single sample; 1 for the polynomial.""",
    "sigma": """float or None
        Width of the Gaussian kernel as exp(-d² / (2 sigma²)).""",
    "width": """float or None
        Width of the Gaussian kernel as exp(-d² / width²). At most one of gamma, sigma and width is given.""",
    "degree": """int
        Degree of the polynomial kernel, (gamma x·x' + coef0)^degree, at least 1.""",
    "coef0": """float
        Constant of the polynomial kernel, not negative.""",
    "dtype": """{"float64", "float32"}
        How support vectors are stored; samples are rounded to that first, and all else is float64.""",
    "budget": """int or None
        Most support vectors; None for no limit.""",
    "evict": """{"oldest", "smallest", "random"}
        Which vector a full store replaces: the oldest, that with the smallest coefficient, or any.""",
    "random_state": """int, RandomState or None
        Of the random replacement.""",
    "average": """bool
        Decide by the average of the hypotheses after each sample instead of the latest (Cesa-Bianchi, Conconi,
        Gentile 2004). Learning goes on as before. Vectors that a budget removed are missing from the average.""",
    "schedule": """{"constant", "sqrt", "tau"}
        eta_t = eta, eta / sqrt(t), or eta sqrt(tau / (tau + t)); never above 0.99 / lam.""",
    "tau": """float
        Of the schedule "tau", positive.""",
    "bias": """bool
        Whether samples get a constant feature 1.""",
    "unit": """bool
        Whether samples, with that feature, are divided by their length.""",
    "alpha": """float
        Share of the margin that may be missed, in [0, 1).""",
    "B": """float or None
        Factor of the thresholds, positive; None is 1 / alpha, which Gentile's experiments use.""",
    "C": """float
        Factor of the steps, positive.""",
    "loss": """{"squared", "epsilon", "huber"}
        (f - y)² / 2; max(0, |f - y| - eps); or |f - y| - delta / 2 beyond delta and (f - y)² / (2 delta) within.""",
    "offset": """bool
        Whether to learn a constant b, of each class where there are more than two.""",
    "class_weight": """mapping, "balanced" or None
        Factors of the weights of samples, {class: factor}, positive, 1 for a class that is not named. "balanced" is
        n / (classes · count of the class) in the data of `fit`; later samples get the same.""",
    "class_weight_": """(classes,) array
        Factors of the classes.""",
    "classes_": """array
        The classes, sorted.""",
    "t_": """int
        Number of samples learned.""",
    "n_mistakes_": """int
        Number of samples that were wrong, or tied, before they were learned.""",
    "n_violations_": """int
        Number of samples that changed the hypothesis.""",
    "n_support_": """int
        Number of stored support vectors.""",
    "support_vectors_": """(n, d) array
        The support vectors, oldest first (in no order where not the oldest are replaced).""",
    "dual_coef_": """(1, n) or (classes, n) array
        Coefficients of the support vectors that decide; one row per class where there are more than two.""",
    "intercept_": """(1,) or (classes,) array
        The constant b that is added to the hypothesis.""",
    "coef_": """(1, d) array
        Weights. Decisions are coef·x + intercept, divided by the length of (x, 1) if `unit`.""",
    "offset_": """float
        The threshold: `decision_function` is `score_samples` minus this.""",
}
_SVMD = {
    "c": """float or None
        Weight of the regularisation and so of forgetting, not negative; None is 1e-4, or 1 where nu is given.""",
    "eta_0": """float
        First step, positive.""",
    "mu": """float
        Step of the step size, not negative; 0 keeps the step.""",
    "lam": """float
        Memory of the trace, in [0, 1]: with 0 the step looks at the latest gradient only.""",
    "schedule": """{"adaptive", "constant", "sqrt", "tau"}
        Others than "adaptive" are the online SVM with eta_0, eta_0 / sqrt(t) or eta_0 sqrt(tau / (tau + t)).""",
    "eta_max": """float or None
        Largest step; eta_max c must be below 1. None is 0.99 / c.""",
    "buffer_fix": """bool
        False leaves vectors that a full store replaced in the inner products, as the paper does.""",
    "record": """bool
        Keep all step sizes, see `step_sizes_`.""",
    "budget": """int or None
        Most support vectors, the oldest leaving first.""",
    "nu": """float or None
        Fraction of samples that miss the margin, in (0, 1); None keeps the margin 1.""",
    "eps_0": """float
        First margin with nu, positive.""",
    "eps_rule": """{"published", "log"}
        How the margin moves: by exp(eta_eps eps (nu - e)) as published, or by exp(eta_eps (nu - e)), with which the
        share of samples that miss it is nu - log(eps_T / eps_0) / (eta_eps T) exactly.""",
    "eta_eps": """float or None
        First step of the margin, positive; None is 1, or 0.05 for the rule "log", which keeps it.""",
    "mu_eps": """float or None
        As mu, for the step of the margin; None is the same.""",
    "lam_eps": """float or None
        As lam, for the step of the margin; None is the same.""",
    "eta_b": """float or None
        First step of b, positive; None is eta_0.""",
    "mu_b": """float or None
        As mu, for the steps of b; None is the same.""",
    "lam_b": """float or None
        As lam, for the steps of b; None is the same.""",
    "step_size_": """float
        The step size.""",
    "step_sizes_": """(t,) array
        Those of all samples, where `record` is set.""",
    "margin_": """float
        The margin.""",
    "norm2_": """float
        Squared norm of f, carried along.""",
    "f_dot_v_": """float
        Inner product of f and the gradient trace v, carried along.""",
}
_REFERENCE = re.compile(
    r"^    (?P<names>[\w, ]+?)(?: : [^\n]*)?\n"
    r"        As in (?:`(?P<home>\w+)`|scikit-learn's \w+)(?P<more>[^\n]*(?:\n        [^\n]+)*)\n",
    re.MULTILINE,
)


def completed(doc: str) -> str:
    """Return a docstring with the entries of shared names in place of references to other classes.

    Examples
    --------
    >>> lines = ["    sigma, t_", "        As in `Other`.", ""]
    >>> print(completed(chr(10).join(lines)).rstrip())
        sigma : float or None
            Width of the Gaussian kernel as exp(-d² / (2 sigma²)).
        t_ : int
            Number of samples learned.
    """

    def entries(found: re.Match[str]) -> str:
        texts = {**_SHARED, **_SVMD} if (found["home"] or "").startswith("SVMD") else _SHARED
        names = found["names"].split(", ")
        lines = [f"    {name} : {texts[name]}\n" for name in names]
        more = " ".join(found["more"].split()).lstrip(".,; ")
        if more:  # what holds here beyond the shared text
            lines[-1] += f"        {more[0].upper()}{more[1:]}\n"
        return "".join(lines)

    return _REFERENCE.sub(entries, doc)
