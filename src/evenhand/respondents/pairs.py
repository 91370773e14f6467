"""Which model compares a context with its options? Sentence encoders by the similarity of two vectors, next-sentence heads by their logits.

MODEL is an encoder: a folder (ONNX is asked without torch), an alias of a model that comes in a package, or a hub id (extra `hf`). `encoder:MODEL` takes
the encoder out of a model with another head; `nsp:MODEL` asks a BERT whether the option is the next sentence.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from evenhand.core.errors import LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder_routes import EncoderOnnx, EncoderTransformers
from evenhand.respondents.encoders import EncoderRespondent, check_similarity
from evenhand.respondents.heads import find_head, read_architecture, read_json, refuse_reranker
from evenhand.respondents.next_sentence import NextOnnx, NextRespondent, NextTransformers
from evenhand.respondents.places import graph_of, looks_like_model, require_hub_id, revision_of
from evenhand.respondents.pooling import read_recipe
from evenhand.respondents.universal import ALIAS, open_universal
from evenhand.respondents.wheels import CAUSAL_NAMES, ENCODER_NAMES, MASKED_NAMES, WHEELS, locate

ENCODER, NEXT = "encoder:", "nsp:"


def find_place(model: str) -> tuple[str, str]:
    """The name of a model in reports, and the folder or hub id where it lies; an error where it can be neither."""
    if model in WHEELS:
        return model, str(locate(WHEELS[model]))
    if model == "default":
        return model, str(files("evenhand") / "models" / model)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder.resolve().name, str(folder)
    require_hub_id(model, ("default", *MASKED_NAMES, *ENCODER_NAMES))
    return model, model


def open_encoder(
    name: str, place: str, options: RespondentOptions, *, is_told: bool
) -> EncoderRespondent:
    """The encoder at `place`; where it has another head, only if the user told to take it (`encoder:`)."""
    recipe = read_recipe(place, options.pooling)
    inner = str(Path(place) / recipe.place) if recipe.place else place
    config = read_json(inner, "config.json") or {}
    refuse_reranker(place, config)
    head = read_architecture(config) if find_head(inner) not in ("vectors", None) else ""
    if head and not is_told:
        raise LoadError(
            f"'{place}' is a {head}, not a sentence encoder. Write {ENCODER}{place} to compare the vectors of the encoder in it."
        )
    name = f"{ENCODER}{name}" if head else name
    folder = Path(inner)
    if folder.is_dir():
        graph = graph_of(folder)
        found = (
            EncoderOnnx(folder, graph, recipe, options.pooling)
            if graph
            else EncoderTransformers(inner, options.device, recipe)
        )
        return EncoderRespondent(name, revision_of(folder, found), found, recipe, options, head)
    route = EncoderTransformers(inner, options.device, recipe)
    return EncoderRespondent(name, (route.commit or "unknown")[:12], route, recipe, options, head)


def open_next(name: str, place: str, options: RespondentOptions) -> NextRespondent:
    """The next-sentence head at `place`."""
    folder = Path(place)
    if folder.is_dir():
        graph = graph_of(folder)
        found = NextOnnx(folder, graph) if graph else NextTransformers(place, options.device)
        return NextRespondent(name, revision_of(folder, found), found, options)
    route = NextTransformers(place, options.device)
    return NextRespondent(name, (route.commit or "unknown")[:12], route, options)


class PairsSource:
    """Folders, aliases and hub ids of sentence encoders; next-sentence heads."""

    name = "pairs"
    kinds: frozenset[Kind] = EncoderRespondent.kinds
    description = "Sentence encoders (`encoder:` where the model has another head) and next-sentence heads (`nsp:`): context and option compared."
    examples = (*ENCODER_NAMES, "./my-encoder", "encoder:./my-nli", "nsp:bert-base-uncased")

    def claims(self, reference: str) -> bool:
        """What has `encoder:` or `nsp:` in front, and everything that may be a model and has no name of another kind here."""
        return reference.startswith((ENCODER, NEXT)) or (
            looks_like_model(reference)
            and reference not in ("default", *MASKED_NAMES, *CAUSAL_NAMES)
        )

    def open(
        self, reference: str, options: RespondentOptions
    ) -> EncoderRespondent | NextRespondent:
        """The encoder or the next-sentence head behind `reference`."""
        check_similarity(options.similarity)
        prefix = next((p for p in (ENCODER, NEXT) if reference.startswith(p)), "")
        if reference in (ALIAS, ENCODER + ALIAS):
            return open_universal(options)
        name, place = find_place(reference.removeprefix(prefix))
        if prefix == NEXT or (not prefix and find_head(place) == "next"):
            return open_next(NEXT + name, place, options)
        return open_encoder(name, place, options, is_told=bool(prefix))


RESPONDENT = PairsSource()
