"""huggingface_hub, imported when it is needed and with advice where it is missing."""

from __future__ import annotations

from types import ModuleType

from evenhand.core.errors import LoadError


def hub() -> ModuleType:
    """The module huggingface_hub. Raises LoadError where it is not installed."""
    try:
        import huggingface_hub
    except ImportError as error:
        raise LoadError(
            f"this needs huggingface_hub ({error}): pip install 'evenhand[publish]'"
        ) from error
    module: ModuleType = huggingface_hub
    return module


def yaml_text(value: object) -> str:
    """Mappings and lists as YAML, keys in their order, as huggingface_hub writes it."""
    hub()
    from huggingface_hub.utils import yaml_dump

    return str(yaml_dump(value, sort_keys=False)).strip() + "\n"
