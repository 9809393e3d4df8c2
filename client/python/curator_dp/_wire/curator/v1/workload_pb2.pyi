from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
MECHANISM_DISCRETE_GAUSSIAN: Mechanism
MECHANISM_DISCRETE_LAPLACE: Mechanism
MECHANISM_UNSPECIFIED: Mechanism
STRATEGY_BASE_HISTOGRAM: Strategy
STRATEGY_DIRECT: Strategy
STRATEGY_TREE: Strategy
STRATEGY_UNSPECIFIED: Strategy

class AllKWay(_message.Message):
    __slots__ = ["attributes", "k", "max_cells"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    MAX_CELLS_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[str]
    k: int
    max_cells: int
    def __init__(self, k: _Optional[int] = ..., attributes: _Optional[_Iterable[str]] = ..., max_cells: _Optional[int] = ...) -> None: ...

class AttributeNames(_message.Message):
    __slots__ = ["names"]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class Box(_message.Message):
    __slots__ = ["sides"]
    SIDES_FIELD_NUMBER: _ClassVar[int]
    sides: _containers.RepeatedCompositeFieldContainer[Interval]
    def __init__(self, sides: _Optional[_Iterable[_Union[Interval, _Mapping]]] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ["attribute", "between"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    BETWEEN_FIELD_NUMBER: _ClassVar[int]
    IN_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    between: Interval
    def __init__(self, attribute: _Optional[str] = ..., between: _Optional[_Union[Interval, _Mapping]] = ..., **kwargs) -> None: ...

class Interval(_message.Message):
    __slots__ = ["to"]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    to: _struct_pb2.Value
    def __init__(self, to: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., **kwargs) -> None: ...

class Marginals(_message.Message):
    __slots__ = ["all_k_way", "sets"]
    ALL_K_WAY_FIELD_NUMBER: _ClassVar[int]
    SETS_FIELD_NUMBER: _ClassVar[int]
    all_k_way: AllKWay
    sets: _containers.RepeatedCompositeFieldContainer[AttributeNames]
    def __init__(self, sets: _Optional[_Iterable[_Union[AttributeNames, _Mapping]]] = ..., all_k_way: _Optional[_Union[AllKWay, _Mapping]] = ...) -> None: ...

class Noise(_message.Message):
    __slots__ = ["confidence_half_width", "confidence_level", "expected_absolute_error", "mechanism", "scale", "sigma_squared", "standard_deviation"]
    CONFIDENCE_HALF_WIDTH_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_ABSOLUTE_ERROR_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    SIGMA_SQUARED_FIELD_NUMBER: _ClassVar[int]
    STANDARD_DEVIATION_FIELD_NUMBER: _ClassVar[int]
    confidence_half_width: float
    confidence_level: float
    expected_absolute_error: float
    mechanism: Mechanism
    scale: str
    sigma_squared: str
    standard_deviation: float
    def __init__(self, mechanism: _Optional[_Union[Mechanism, str]] = ..., scale: _Optional[str] = ..., sigma_squared: _Optional[str] = ..., standard_deviation: _Optional[float] = ..., expected_absolute_error: _Optional[float] = ..., confidence_half_width: _Optional[float] = ..., confidence_level: _Optional[float] = ...) -> None: ...

class Parities(_message.Message):
    __slots__ = ["sets", "up_to_k_way"]
    SETS_FIELD_NUMBER: _ClassVar[int]
    UP_TO_K_WAY_FIELD_NUMBER: _ClassVar[int]
    sets: _containers.RepeatedCompositeFieldContainer[AttributeNames]
    up_to_k_way: AllKWay
    def __init__(self, sets: _Optional[_Iterable[_Union[AttributeNames, _Mapping]]] = ..., up_to_k_way: _Optional[_Union[AllKWay, _Mapping]] = ...) -> None: ...

class PostProcessing(_message.Message):
    __slots__ = ["consistent", "integer", "non_negative"]
    CONSISTENT_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NON_NEGATIVE_FIELD_NUMBER: _ClassVar[int]
    consistent: bool
    integer: bool
    non_negative: bool
    def __init__(self, non_negative: bool = ..., consistent: bool = ..., integer: bool = ...) -> None: ...

class Predicate(_message.Message):
    __slots__ = ["all_of"]
    ALL_OF_FIELD_NUMBER: _ClassVar[int]
    all_of: _containers.RepeatedCompositeFieldContainer[Condition]
    def __init__(self, all_of: _Optional[_Iterable[_Union[Condition, _Mapping]]] = ...) -> None: ...

class Predicates(_message.Message):
    __slots__ = ["by", "predicates"]
    BY_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    by: _containers.RepeatedScalarFieldContainer[str]
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    def __init__(self, predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ..., by: _Optional[_Iterable[str]] = ...) -> None: ...

class Prefixes(_message.Message):
    __slots__ = ["attribute"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    def __init__(self, attribute: _Optional[str] = ...) -> None: ...

class QuerySet(_message.Message):
    __slots__ = ["marginals", "parities", "predicates", "prefixes", "ranges", "strategy", "thresholds"]
    MARGINALS_FIELD_NUMBER: _ClassVar[int]
    PARITIES_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    PREFIXES_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THRESHOLDS_FIELD_NUMBER: _ClassVar[int]
    marginals: Marginals
    parities: Parities
    predicates: Predicates
    prefixes: Prefixes
    ranges: Ranges
    strategy: Strategy
    thresholds: Thresholds
    def __init__(self, marginals: _Optional[_Union[Marginals, _Mapping]] = ..., ranges: _Optional[_Union[Ranges, _Mapping]] = ..., prefixes: _Optional[_Union[Prefixes, _Mapping]] = ..., thresholds: _Optional[_Union[Thresholds, _Mapping]] = ..., parities: _Optional[_Union[Parities, _Mapping]] = ..., predicates: _Optional[_Union[Predicates, _Mapping]] = ..., strategy: _Optional[_Union[Strategy, str]] = ...) -> None: ...

class Ranges(_message.Message):
    __slots__ = ["attributes", "boxes"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    BOXES_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[str]
    boxes: _containers.RepeatedCompositeFieldContainer[Box]
    def __init__(self, attributes: _Optional[_Iterable[str]] = ..., boxes: _Optional[_Iterable[_Union[Box, _Mapping]]] = ...) -> None: ...

class Spend(_message.Message):
    __slots__ = ["delta", "epsilon", "rho"]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    RHO_FIELD_NUMBER: _ClassVar[int]
    delta: str
    epsilon: str
    rho: str
    def __init__(self, epsilon: _Optional[str] = ..., delta: _Optional[str] = ..., rho: _Optional[str] = ...) -> None: ...

class Target(_message.Message):
    __slots__ = ["confidence", "max_error"]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_ERROR_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    max_error: float
    def __init__(self, max_error: _Optional[float] = ..., confidence: _Optional[float] = ...) -> None: ...

class Thresholds(_message.Message):
    __slots__ = ["at_least", "by", "conditions", "k"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    at_least: _containers.RepeatedScalarFieldContainer[int]
    by: _containers.RepeatedScalarFieldContainer[str]
    conditions: _containers.RepeatedCompositeFieldContainer[Condition]
    k: int
    def __init__(self, conditions: _Optional[_Iterable[_Union[Condition, _Mapping]]] = ..., at_least: _Optional[_Iterable[int]] = ..., k: _Optional[int] = ..., by: _Optional[_Iterable[str]] = ...) -> None: ...

class Workload(_message.Message):
    __slots__ = ["query_sets"]
    QUERY_SETS_FIELD_NUMBER: _ClassVar[int]
    query_sets: _containers.RepeatedCompositeFieldContainer[QuerySet]
    def __init__(self, query_sets: _Optional[_Iterable[_Union[QuerySet, _Mapping]]] = ...) -> None: ...

class Strategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Mechanism(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
