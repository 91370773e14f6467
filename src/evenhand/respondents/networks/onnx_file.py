"""What an ONNX file says about itself, read without the package onnx: weights and operations.

The file is a protobuf message. Only the fields that are asked for are decoded; the weights are
stepped over, so that a file of any size is read in a moment.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import LoadError

# names of TensorProto.DataType, as the signature writes them
_TYPES = {
    1: "fp32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "fp16",
    11: "fp64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bf16",
    17: "fp8",
    18: "fp8",
    19: "fp8",
    20: "fp8",
    21: "uint4",
    22: "int4",
    23: "fp4",
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # the wire types of protobuf
# numbers of the fields, by message
_MODEL_GRAPH, _MODEL_FUNCTIONS = 7, 25
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_SPARSE = 1, 5, 11, 15
_FUNCTION_NODE = 7
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATION, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_NUMBER = 1, 3
_ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS, _ATTRIBUTE_SPARSE = (5, 10), (6, 11), (22, 23)
_SPARSE_TENSORS = (1, 2)  # values, indices
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_EXTERNAL = 1, 2, 8, 13
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_LOCATION = b"location"

_FLOATS = frozenset({"fp8", "bf16", "fp16", "fp32", "fp64"})
_INDICES = frozenset({"bool", "string", "int16", "uint16", "int32", "uint32", "int64", "uint64"})
# operations that multiply by a matrix of weights: in their numbers a network computes
_LINEAR = frozenset(
    "Attention Conv FusedGemm FusedMatMul GRU Gemm LSTM MatMul MatMulNBits "
    "MultiHeadAttention".split()
)
# operations in whole numbers, by how a number is rounded to them: by the numbers that it comes
# with, or by a scale that is stored in the file
_DYNAMIC = frozenset(
    "ConvInteger DynamicQuantizeLSTM DynamicQuantizeLinear DynamicQuantizeMatMul MatMulInteger "
    "MatMulIntegerToFloat QAttention".split()
)
_STATIC = frozenset(
    "QEmbedLayerNormalization QGemm QLinearConv QLinearMatMul QuantizeLinear".split()
)
_PACKED_WEIGHTS = "MatMulNBits"  # four bits a weight, unpacked before it is multiplied
# operations whose result is of a type of its own, whatever they are given
_RESULTS = {
    **dict.fromkeys(
        "And Equal Greater GreaterOrEqual IsNaN Less LessOrEqual Not Or".split(), "bool"
    ),
    **dict.fromkeys("ArgMax ArgMin NonZero Shape Size".split(), "int64"),
    **dict.fromkeys(("ConvInteger", "MatMulInteger"), "int32"),
    "DynamicQuantizeLinear": "uint8",
    "QuantizeLinear": "uint8",
}
_FEW = 0.01  # of the weights: a type that fewer of them have is not named

Field = tuple[int, int | memoryview]  # the number of a field and its value


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxFile:
    """The parts of an ONNX file that its identity and its precision depend on."""

    external_data: tuple[str, ...]  # files that hold weights, relative to the graph's folder
    operations: frozenset[str]  # the types of all nodes, those of inner graphs too
    weight_types: Mapping[str, int]  # type of number (fp32, int8 ...) -> how many such weights
    computed_in: tuple[str, ...]  # the types of number in which weights are multiplied

    @property
    def precision(self) -> str:
        """In which numbers the network computes, and in which its weights are stored if in others.

        `fp32`, `fp16`, `fp32/weights fp16+int8`; `int8/dynamic` where numbers are rounded by the
        range of all that is computed with them, `int8/static` where by a stored one.
        """
        if self.operations & _DYNAMIC:
            return "int8/dynamic"
        if self.operations & _STATIC:
            return "int8/static"
        if _PACKED_WEIGHTS in self.operations:
            return f"{'+'.join(self.computed_in)}/weights int4"
        counts = {t: n for t, n in self.weight_types.items() if t not in _INDICES}
        stored = {t for t, n in counts.items() if n >= _FEW * sum(counts.values())}
        computed = "+".join(self.computed_in or sorted(stored)) or "unknown"
        other = "+".join(sorted(stored)) if stored - set(self.computed_in) else ""
        return f"{computed}/weights {other}" if other and self.computed_in else computed


def read_onnx(path: Path) -> OnnxFile:
    """What the graph in a file consists of; raises LoadError where the file is no ONNX graph."""
    reader = _Reader()
    try:
        with path.open("rb") as stream:
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        reader.read_model(memoryview(content))
    except OSError as error:
        raise LoadError(f"{path} cannot be read ({error.strerror})") from error
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise LoadError(
            f"{path} is not a whole ONNX graph ({error}); export or download it again"
        ) from error
    return OnnxFile(
        external_data=tuple(sorted(reader.external_data)),
        operations=frozenset(reader.operations),
        weight_types=dict(sorted(reader.weight_types.items())),
        computed_in=tuple(sorted(reader.computed_in)),
    )


class _Reader:
    """Walks through the messages of a model and collects what `OnnxFile` holds."""

    def __init__(self) -> None:
        self.external_data: set[str] = set()
        self.operations: set[str] = set()
        self.weight_types: Counter[str] = Counter()
        self.computed_in: set[str] = set()
        self.types: dict[str, str] = {}  # of the tensors by name, as far as they are known

    def read_model(self, model: memoryview) -> None:
        has_graph = False
        for number, value in _fields(model):
            if number == _MODEL_GRAPH:
                has_graph = True
                self._read_graph(_message(value))
            elif number == _MODEL_FUNCTIONS:
                for inner, node in _fields(_message(value)):
                    if inner == _FUNCTION_NODE:
                        self._read_node(_message(node))
        if not has_graph:
            raise ValueError("it has no graph")

    def _read_graph(self, graph: memoryview) -> None:
        nodes = []
        for number, value in _fields(graph):
            if number == _GRAPH_NODE:
                nodes.append(_message(value))
            elif number == _GRAPH_INITIALIZER:
                self._read_tensor(_message(value))
            elif number == _GRAPH_INPUT:
                self._read_input(_message(value))
            elif number == _GRAPH_SPARSE:
                self._read_sparse(_message(value))
        for node in nodes:  # after the weights, which lie behind them in the file
            self._read_node(node)

    def _read_input(self, declared: memoryview) -> None:
        """Name and type of an input: ValueInfoProto, TypeProto, Tensor, the first field of each."""
        fields = dict(_fields(declared))
        kind: int | memoryview = fields.get(2, 0)
        for _ in range(2):
            kind = 0 if isinstance(kind, int) else dict(_fields(kind)).get(1, 0)
        if isinstance(kind, int) and kind in _TYPES:
            self.types[_text(fields[1])] = _TYPES[kind]

    def _read_node(self, node: memoryview) -> None:
        inputs, outputs, operation, stated = [], [], "", ""
        for number, value in _fields(node):
            if number == _NODE_INPUT:
                inputs.append(_text(value))
            elif number == _NODE_OUTPUT:
                outputs.append(_text(value))
            elif number == _NODE_OPERATION:
                operation = _text(value)
            elif number == _NODE_ATTRIBUTE:
                stated = self._read_attribute(_message(value)) or stated
        self.operations.add(operation)
        known = [self.types[name] for name in inputs if name in self.types]
        given = next((kind for kind in known if kind in _FLOATS), known[0] if known else "")
        if operation in _LINEAR and given in _FLOATS:
            self.computed_in.add(given)
        kind = stated or _RESULTS.get(operation) or given
        self.types.update(dict.fromkeys(outputs, kind) if kind else {})

    def _read_attribute(self, attribute: memoryview) -> str:
        """The type of number that a cast, or the value of a constant, gives its result."""
        name, stated, target = "", "", ""
        for number, value in _fields(attribute):
            if number == _ATTRIBUTE_NAME:
                name = _text(value)
            elif number == _ATTRIBUTE_NUMBER and isinstance(value, int):
                target = _TYPES.get(value, "")
            elif number in _ATTRIBUTE_TENSORS:
                stated = self._read_tensor(_message(value))
            elif number in _ATTRIBUTE_GRAPHS:
                self._read_graph(_message(value))
            elif number in _ATTRIBUTE_SPARSE:
                self._read_sparse(_message(value))
        return target if name == "to" else stated if name == "value" else ""

    def _read_sparse(self, sparse: memoryview) -> None:
        for number, value in _fields(sparse):
            if number in _SPARSE_TENSORS:
                self._read_tensor(_message(value))

    def _read_tensor(self, tensor: memoryview) -> str:
        """The type of the tensor's numbers, which are counted."""
        count, kind, name = 1, 0, ""
        for number, value in _fields(tensor):
            if number == _TENSOR_DIMS:
                for size in [value] if isinstance(value, int) else _packed(value):
                    count *= size
            elif number == _TENSOR_TYPE and isinstance(value, int):
                kind = value
            elif number == _TENSOR_NAME:
                name = _text(value)
            elif number == _TENSOR_EXTERNAL:
                self._read_entry(_message(value))
        written = _TYPES.get(kind, f"type {kind}")
        self.weight_types[written] += count
        self.types[name] = written
        return written

    def _read_entry(self, entry: memoryview) -> None:
        values = dict(_fields(entry))
        if bytes(_message(values.get(_ENTRY_KEY, memoryview(b"")))) == _LOCATION:
            self.external_data.add(_text(values[_ENTRY_VALUE]))


def _fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message: numbers as int, everything else as the bytes it takes."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if wire == _BYTES:
            size, place = _varint(message, place)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"unknown wire type {wire}")
        if place + size > len(message):
            raise ValueError("it ends too early")
        yield number, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """A number of seven bits per byte, and the place after it."""
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value, place
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _packed(message: memoryview) -> Iterator[int]:
    place = 0
    while place < len(message):
        value, place = _varint(message, place)
        yield value


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number stands where a message is expected")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_message(value)).decode()
