"""What a model may run on this machine: none of its own code and no pickles, unless trusted."""

from __future__ import annotations

from pathlib import Path

from evenhand.core.checksums import file_sha256
from evenhand.core.errors import LoadError

FLAG = "--trust-remote-code"
PICKLED_WEIGHTS = "pytorch_model.bin"
_SAFE = (".safetensors", ".gguf")
_PICKLES = (".bin", ".ckpt", ".dill", ".joblib", ".pickle", ".pkl", ".pt", ".pth", ".sav")
# what the trainer of transformers leaves beside a model; nobody reads it to ask the model
_LEFTOVERS = ("training_args.bin", "optimizer.", "scheduler.", "scaler.", "rng_state")
_ADAPTER = "adapter_model"
# Writes pickled weights as safetensors; with `weights_only` torch refuses all but numbers. It is
# run in the folder, whose name might be anything, and so is no part of it.
CONVERSION = (
    'python -c "import glob, torch; from safetensors.torch import save_file; '
    "save_file({k: v.contiguous().clone() for p in glob.glob('pytorch_model*.bin') "
    "for k, v in torch.load(p, map_location='cpu', weights_only=True).items()}, "
    "'model.safetensors', {'format': 'pt'})\""
)


def pickled_weights(folder: Path) -> list[str]:
    """The names of the pickles that hold the weights of a model folder; no file is opened.

    None where the weights are also there as safetensors or GGUF, which are read instead.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    pickles = [n for n in names if n.endswith(_PICKLES) and not n.startswith(_LEFTOVERS)]
    # an adapter beside the weights of its model is looked at on its own
    is_safe = {name.startswith(_ADAPTER) for name in names if name.endswith(_SAFE)}
    return [name for name in pickles if name.startswith(_ADAPTER) not in is_safe]


def refuse_pickles(folder: Path, pinned: str = "", way_out: str = f"add {FLAG}, or ") -> None:
    """Raise LoadError where the weights of a folder are pickled: opening them can run any code.

    pinned: the SHA-256 of the one pickle that evenhand knows and opens; way_out: what else the
    user may do where the weights have the usual name.
    """
    pickles = pickled_weights(folder)
    if not pickles or (
        pickles == [PICKLED_WEIGHTS] and file_sha256(folder / PICKLED_WEIGHTS) == pinned
    ):
        return
    danger = (
        f"the weights in {folder} are pickled ({', '.join(pickles[:4])}), and opening a pickle can "
        "run any code; it was not opened."
    )
    if not all(name.startswith("pytorch_model") for name in pickles):
        raise LoadError(
            f"{danger} Give the model as ONNX or safetensors, in Hugging Face form; in Python, "
            "evenhand.audit takes any function from pairs of sentences to scores"
        )
    raise LoadError(
        f"{danger} If you know where it comes from, {way_out}convert it in that folder: "
        f"{CONVERSION}"
    )


def loading_error(place: str, error: Exception, way_out: str) -> LoadError | None:
    """The error for a model that transformers refuses to load without running a stranger's code.

    None where it failed for another reason. way_out: what the user may do.
    """
    text = str(error)
    if "trust_remote_code" in text:
        return LoadError(
            f"'{place}' brings code of its own that would have to run to load it (auto_map in "
            f"its config); it was not run. {way_out}"
        )
    if "use_safetensors" in text or "with `safetensors`" in text:
        return LoadError(
            f"'{place}' has no weights as safetensors. Pickled ones were not opened, because that "
            f"can run any code. {way_out}"
        )
    return None
