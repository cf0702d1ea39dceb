"""Learners in files without pickle: npz archives that continue to learn, or that any program with numpy can read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bgsub._files import open_whole
from bgsub._input.archives import open_archive
from bgsub.errors import ModelFileError
from bgsub.learners._base.learner import OnlineLearner
from bgsub.learners.hypotheses import kernels
from bgsub.learners.meta.experts import Bank

__all__ = ["export", "load", "save"]

_FORMAT = 3
_KERNELS = {"Gaussian": ("gamma",), "Laplacian": ("gamma",), "Polynomial": ("degree", "gamma", "coef0"), "Linear": ()}


def _described(kernel: kernels.Kernel) -> dict[str, Any]:
    """Return name and parameters of a kernel that a file can hold."""
    if isinstance(kernel, kernels.Normalised):
        return {"name": "Normalised", "kernel": _described(kernel.kernel)}
    name = type(kernel).__name__
    if name not in _KERNELS:
        raise ValueError(f"kernel must be one that bgsub.learners defines by numbers to be saved, got {kernel!r}")
    return {"name": name, **{parameter: getattr(kernel, parameter) for parameter in _KERNELS[name]}}


def _made(description: dict[str, Any]) -> kernels.Kernel:
    given = {key: value for key, value in description.items() if key != "name"}
    if description["name"] == "Normalised":
        return kernels.Normalised(_made(given["kernel"]))
    kernel: kernels.Kernel = getattr(kernels, description["name"])(**given)
    return kernel


def save(model: OnlineLearner | Bank, path: str | Path) -> None:
    """Write a learner that has learned to a file; `load` continues with the same bits.

    Parameters
    ----------
    model : learner
        Any of this package, banks included, with a kernel that is not a Python function.
    path : path
        Replaced as a whole: it is never there half written.

    Raises
    ------
    ValueError
        If the model is no learner of this package (a pipeline, say) or has learned nothing, or its kernel or a
        parameter cannot be written.
    ModelFileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub.learners import KernelPerceptron, load, save
    >>> model = KernelPerceptron(sigma=1.0)
    >>> score = model.learn_one(np.array([1.0]), 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.npz")
    ...     again = load(f"{folder}/model.npz")
    >>> again.score_one(np.array([1.0]))
    1.0
    """
    header, arrays = _packed_bank(model) if isinstance(model, Bank) else _packed(model)
    _write(Path(path), json.dumps(header), arrays)


def _packed_bank(model: Bank) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is written of a bank: its numbers, and all of each of its experts."""
    if not hasattr(model, "experts_"):
        raise ValueError(f"model must have learned something to be saved, got {model!r}")
    header: dict[str, Any] = {
        "class": type(model).__name__,
        "learner": None if model.learner is None else _described_learner(model.learner),
        "grid": _plain("grid", model.grid),
        "discount": _plain("discount", model.discount),
        "settings": _plain("grid", model.settings_),
        "state": model._state(),
        "experts": [],
    }
    arrays = {}
    for number, expert in enumerate(model.experts_):
        part, more = _packed(expert)
        header["experts"].append(part)
        arrays.update({f"{number}/{name}": values for name, values in more.items()})
    return header, arrays


def _described_learner(model: OnlineLearner) -> dict[str, Any]:
    """Return class and parameters of a learner."""
    parameters = model.get_params()
    if isinstance(parameters.get("kernel"), kernels.Kernel):
        parameters["kernel"] = _described(parameters["kernel"])
    plain = {key: value if key == "kernel" else _plain(key, value) for key, value in parameters.items()}
    return {"class": type(model).__name__, "parameters": plain}


def _packed(model: OnlineLearner) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is written of a learner: a header, and arrays by name."""
    if not isinstance(model, OnlineLearner):
        raise ValueError(
            f"model must be a learner of bgsub.learners, got {type(model).__name__}; of a pipeline, save the learner "
            "(its last step) and keep the other steps by other means"
        )
    if not model._started:
        raise ValueError(f"model must have learned something to be saved, got {model!r}")
    resolved = _described(model.expansion_.kernel)
    header = {**_described_learner(model), "resolved_kernel": resolved, "n_features": model.n_features_in_}
    arrays = {f"expansion_{name}": values for name, values in model.expansion_.state().items()}
    arrays["scalars"] = model._s
    for name in ("classes_", "class_weight_", "feature_names_in_"):
        if name in vars(model):
            arrays[name] = np.array(vars(model)[name].tolist())  # text, where the labels are objects
    return header, arrays


def export(model: Any, path: str | Path) -> None:
    """Write what a learner decides by, f(x) + b, to a file of plain arrays, which need nothing of this package.

    The file is an npz archive of float64 arrays: support_vectors (n, d); dual_coef (k, n) and intercept (k,) of k
    functions, one unless there are more than two classes; gamma, coef0 and degree, numbers. kernel is a text; classes
    are there for classifiers. With S for support_vectors, the kernel values K are

    - "gaussian": exp(-gamma · squared distance of x and s)
    - "laplacian": exp(-gamma · sum of the absolute differences of x and s)
    - "polynomial": (gamma x·s + coef0)^degree, which a linear kernel is, too

    and K dual_coef^T + intercept is `decision_function`, or `predict` of regressors. docs/learners.md has a reader.

    Parameters
    ----------
    model : learner
        One with a kernel expansion that has learned.
    path : path
        Replaced as a whole: it is never there half written.

    Raises
    ------
    ValueError
        If the model has learned nothing or has no expansion (linear learners have `coef_` instead; a bank has one for
        each learner in `experts_`), or decides by more than f(x) + b, or its kernel is none of those above.
    ModelFileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub.learners import KernelPerceptron, export
    >>> model = KernelPerceptron(sigma=1.0)
    >>> score = model.learn_one(np.array([1.0]), 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(model, f"{folder}/model.npz")
    ...     with np.load(f"{folder}/model.npz") as arrays:
    ...         str(arrays["kernel"]), float(arrays["gamma"]), arrays["dual_coef"]
    ('gaussian', 0.5, array([[1.]]))
    """
    if isinstance(model, Bank):
        raise ValueError(
            "model must not be a bank to be exported: its learners have kernels of their own, so that there is no "
            "common expansion; export one of its experts_, or save the bank"
        )
    if not isinstance(model, OnlineLearner) or not model._started or not hasattr(model, "support_vectors_"):
        raise ValueError(f"model must be a learner with support vectors that has learned something, got {model!r}")
    factor, constant = model._decision()
    arrays = {
        **_portable(model.expansion_.kernel),
        "support_vectors": model.support_vectors_.astype(np.float64),
        "dual_coef": np.dot(factor, model.dual_coef_),
        "intercept": np.broadcast_to(constant, len(model.dual_coef_)).astype(np.float64),
    }
    if "classes_" in vars(model):
        arrays["classes"] = np.array(model.classes_.tolist())
    with open_whole(Path(path), ModelFileError, what="model") as file:
        np.savez(file, **arrays)


def _portable(kernel: kernels.Kernel) -> dict[str, Any]:
    """Return name and numbers of a kernel for programs that do not know ours."""
    numbers = {"gamma": 1.0, "coef0": 0.0, "degree": 1.0}
    name = type(kernel).__name__
    if name not in _KERNELS:
        raise ValueError(f"kernel must be Gaussian, Laplacian, Polynomial or Linear to be exported, got {kernel!r}")
    numbers.update({parameter: float(getattr(kernel, parameter)) for parameter in _KERNELS[name]})
    return {"kernel": np.str_("polynomial" if name == "Linear" else name.lower()), **numbers}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, list | tuple):
        return {"list": [_plain(name, part) for part in value]}
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(name, part) for part in pair] for pair in value.items()]}
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError(f"{name} must be a number, text or None to be saved, got {value!r}")
    return value


def _unplain(value: Any) -> Any:
    """Return the value that `_plain` wrote."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"])
    if "list" in value:
        return [_unplain(part) for part in value["list"]]
    return {_unplain(key): _unplain(part) for key, part in value["pairs"]}


def _write(path: Path, header: str, arrays: dict[str, Any]) -> None:
    with open_whole(path, ModelFileError, what="model") as file:
        np.savez(file, bgsub_learner=np.int64(_FORMAT), header=np.str_(header), **arrays)


def load(path: str | Path) -> Any:
    """Read a learner that `save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    learner
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, of another version or no learner.
    """
    path = Path(path)
    with open_archive(path, "learner saved by bgsub", ModelFileError) as archive:
        arrays = {name: archive[name] for name in archive.files}
        if int(arrays["bgsub_learner"]) != _FORMAT:
            raise ModelFileError(f"{path} is of another version of bgsub; learn and save it again")
        return _restored(json.loads(str(arrays["header"])), arrays)


def _kinds(base: type[Any]) -> dict[str, Any]:
    """Return all learners by name."""
    found = {base.__name__: base}
    for kind in base.__subclasses__():
        found |= _kinds(kind)
    return found


def _made_learner(described: dict[str, Any]) -> Any:
    """Return a learner that has learned nothing, by class and parameters."""
    parameters = {
        key: _made(value) if key == "kernel" and isinstance(value, dict) else _unplain(value)
        for key, value in described["parameters"].items()
    }
    return _kinds(OnlineLearner)[described["class"]](**parameters)


def _restored_bank(header: dict[str, Any], arrays: dict[str, Any]) -> Bank:
    learner = None if header["learner"] is None else _made_learner(header["learner"])
    model: Bank = _kinds(Bank)[header["class"]](learner, _unplain(header["grid"]), discount=header["discount"])
    experts = [
        _restored(part, {name.split("/", 1)[1]: arrays[name] for name in arrays if name.startswith(f"{number}/")})
        for number, part in enumerate(header["experts"])
    ]
    model._resume(experts, _unplain(header["settings"]), header["state"])
    return model


def _restored(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if "experts" in header:
        return _restored_bank(header, arrays)
    model: OnlineLearner = _made_learner(header)
    model._resume(_made(header["resolved_kernel"]), int(header["n_features"]), arrays)
    return model
