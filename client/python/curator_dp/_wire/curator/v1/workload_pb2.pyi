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
OBJECTIVE_SUM: Objective
OBJECTIVE_UNSPECIFIED: Objective
OBJECTIVE_WORST: Objective
STRATEGY_BASE_HISTOGRAM: Strategy
STRATEGY_DIRECT: Strategy
STRATEGY_PARITY: Strategy
STRATEGY_RESIDUAL: Strategy
STRATEGY_SELECTION: Strategy
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

class AnswerComparison(_message.Message):
    __slots__ = ["operator", "statistic", "value"]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    STATISTIC_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    operator: Comparison.Operator
    statistic: int
    value: float
    def __init__(self, statistic: _Optional[int] = ..., operator: _Optional[_Union[Comparison.Operator, str]] = ..., value: _Optional[float] = ...) -> None: ...

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

class Comparison(_message.Message):
    __slots__ = ["operator", "value"]
    class Operator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    EQUAL: Comparison.Operator
    GREATER: Comparison.Operator
    GREATER_OR_EQUAL: Comparison.Operator
    LESS: Comparison.Operator
    LESS_OR_EQUAL: Comparison.Operator
    NOT_EQUAL: Comparison.Operator
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_UNSPECIFIED: Comparison.Operator
    VALUE_FIELD_NUMBER: _ClassVar[int]
    operator: Comparison.Operator
    value: _struct_pb2.Value
    def __init__(self, operator: _Optional[_Union[Comparison.Operator, str]] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class Condition(_message.Message):
    __slots__ = ["attribute", "between", "compare", "is_missing"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    BETWEEN_FIELD_NUMBER: _ClassVar[int]
    COMPARE_FIELD_NUMBER: _ClassVar[int]
    IN_FIELD_NUMBER: _ClassVar[int]
    IS_MISSING_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    between: Interval
    compare: Comparison
    is_missing: bool
    def __init__(self, attribute: _Optional[str] = ..., between: _Optional[_Union[Interval, _Mapping]] = ..., compare: _Optional[_Union[Comparison, _Mapping]] = ..., is_missing: bool = ..., **kwargs) -> None: ...

class Count(_message.Message):
    __slots__ = ["of"]
    OF_FIELD_NUMBER: _ClassVar[int]
    of: str
    def __init__(self, of: _Optional[str] = ...) -> None: ...

class DistinctUnits(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Expression(_message.Message):
    __slots__ = ["all_of", "any_of", "condition"]
    ALL_OF_FIELD_NUMBER: _ClassVar[int]
    ANY_OF_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    NOT_FIELD_NUMBER: _ClassVar[int]
    all_of: Expressions
    any_of: Expressions
    condition: Condition
    def __init__(self, condition: _Optional[_Union[Condition, _Mapping]] = ..., all_of: _Optional[_Union[Expressions, _Mapping]] = ..., any_of: _Optional[_Union[Expressions, _Mapping]] = ..., **kwargs) -> None: ...

class Expressions(_message.Message):
    __slots__ = ["expressions"]
    EXPRESSIONS_FIELD_NUMBER: _ClassVar[int]
    expressions: _containers.RepeatedCompositeFieldContainer[Expression]
    def __init__(self, expressions: _Optional[_Iterable[_Union[Expression, _Mapping]]] = ...) -> None: ...

class GroupCondition(_message.Message):
    __slots__ = ["all_of", "any_of", "compare"]
    ALL_OF_FIELD_NUMBER: _ClassVar[int]
    ANY_OF_FIELD_NUMBER: _ClassVar[int]
    COMPARE_FIELD_NUMBER: _ClassVar[int]
    NOT_FIELD_NUMBER: _ClassVar[int]
    all_of: GroupConditions
    any_of: GroupConditions
    compare: AnswerComparison
    def __init__(self, compare: _Optional[_Union[AnswerComparison, _Mapping]] = ..., all_of: _Optional[_Union[GroupConditions, _Mapping]] = ..., any_of: _Optional[_Union[GroupConditions, _Mapping]] = ..., **kwargs) -> None: ...

class GroupConditions(_message.Message):
    __slots__ = ["conditions"]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    conditions: _containers.RepeatedCompositeFieldContainer[GroupCondition]
    def __init__(self, conditions: _Optional[_Iterable[_Union[GroupCondition, _Mapping]]] = ...) -> None: ...

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

class OutputColumn(_message.Message):
    __slots__ = ["name", "source"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    source: OutputSource
    def __init__(self, name: _Optional[str] = ..., source: _Optional[_Union[OutputSource, _Mapping]] = ...) -> None: ...

class OutputSource(_message.Message):
    __slots__ = ["attribute", "statistic"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    STATISTIC_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    statistic: int
    def __init__(self, attribute: _Optional[str] = ..., statistic: _Optional[int] = ...) -> None: ...

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
    __slots__ = ["all_of", "expression"]
    ALL_OF_FIELD_NUMBER: _ClassVar[int]
    EXPRESSION_FIELD_NUMBER: _ClassVar[int]
    all_of: _containers.RepeatedCompositeFieldContainer[Condition]
    expression: Expression
    def __init__(self, all_of: _Optional[_Iterable[_Union[Condition, _Mapping]]] = ..., expression: _Optional[_Union[Expression, _Mapping]] = ...) -> None: ...

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

class Quantiles(_message.Message):
    __slots__ = ["at", "of"]
    AT_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    at: _containers.RepeatedScalarFieldContainer[str]
    of: str
    def __init__(self, of: _Optional[str] = ..., at: _Optional[_Iterable[str]] = ...) -> None: ...

class QuerySet(_message.Message):
    __slots__ = ["marginals", "parities", "predicates", "prefixes", "ranges", "statistics", "strategy", "thresholds", "weight"]
    MARGINALS_FIELD_NUMBER: _ClassVar[int]
    PARITIES_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    PREFIXES_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THRESHOLDS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    marginals: Marginals
    parities: Parities
    predicates: Predicates
    prefixes: Prefixes
    ranges: Ranges
    statistics: Statistics
    strategy: Strategy
    thresholds: Thresholds
    weight: float
    def __init__(self, marginals: _Optional[_Union[Marginals, _Mapping]] = ..., ranges: _Optional[_Union[Ranges, _Mapping]] = ..., prefixes: _Optional[_Union[Prefixes, _Mapping]] = ..., thresholds: _Optional[_Union[Thresholds, _Mapping]] = ..., parities: _Optional[_Union[Parities, _Mapping]] = ..., predicates: _Optional[_Union[Predicates, _Mapping]] = ..., statistics: _Optional[_Union[Statistics, _Mapping]] = ..., strategy: _Optional[_Union[Strategy, str]] = ..., weight: _Optional[float] = ...) -> None: ...

class Ranges(_message.Message):
    __slots__ = ["attributes", "boxes"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    BOXES_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[str]
    boxes: _containers.RepeatedCompositeFieldContainer[Box]
    def __init__(self, attributes: _Optional[_Iterable[str]] = ..., boxes: _Optional[_Iterable[_Union[Box, _Mapping]]] = ...) -> None: ...

class Selection(_message.Message):
    __slots__ = ["columns", "having", "limit", "offset", "order_by"]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    HAVING_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    columns: _containers.RepeatedCompositeFieldContainer[OutputColumn]
    having: GroupCondition
    limit: int
    offset: int
    order_by: _containers.RepeatedCompositeFieldContainer[SortKey]
    def __init__(self, columns: _Optional[_Iterable[_Union[OutputColumn, _Mapping]]] = ..., having: _Optional[_Union[GroupCondition, _Mapping]] = ..., order_by: _Optional[_Iterable[_Union[SortKey, _Mapping]]] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class SortKey(_message.Message):
    __slots__ = ["descending", "source"]
    DESCENDING_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    descending: bool
    source: OutputSource
    def __init__(self, source: _Optional[_Union[OutputSource, _Mapping]] = ..., descending: bool = ...) -> None: ...

class Spend(_message.Message):
    __slots__ = ["delta", "epsilon", "rho"]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    RHO_FIELD_NUMBER: _ClassVar[int]
    delta: str
    epsilon: str
    rho: str
    def __init__(self, epsilon: _Optional[str] = ..., delta: _Optional[str] = ..., rho: _Optional[str] = ...) -> None: ...

class Statistic(_message.Message):
    __slots__ = ["count", "distinct_units", "mean", "median", "quantiles", "sum", "variance"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    DISTINCT_UNITS_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_FIELD_NUMBER: _ClassVar[int]
    QUANTILES_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_FIELD_NUMBER: _ClassVar[int]
    count: Count
    distinct_units: DistinctUnits
    mean: str
    median: str
    quantiles: Quantiles
    sum: str
    variance: str
    def __init__(self, count: _Optional[_Union[Count, _Mapping]] = ..., sum: _Optional[str] = ..., mean: _Optional[str] = ..., variance: _Optional[str] = ..., median: _Optional[str] = ..., quantiles: _Optional[_Union[Quantiles, _Mapping]] = ..., distinct_units: _Optional[_Union[DistinctUnits, _Mapping]] = ...) -> None: ...

class Statistics(_message.Message):
    __slots__ = ["by", "statistics", "where"]
    BY_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    by: _containers.RepeatedScalarFieldContainer[str]
    statistics: _containers.RepeatedCompositeFieldContainer[Statistic]
    where: Predicate
    def __init__(self, statistics: _Optional[_Iterable[_Union[Statistic, _Mapping]]] = ..., by: _Optional[_Iterable[str]] = ..., where: _Optional[_Union[Predicate, _Mapping]] = ...) -> None: ...

class Target(_message.Message):
    __slots__ = ["confidence", "max_error", "rmse"]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_ERROR_FIELD_NUMBER: _ClassVar[int]
    RMSE_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    max_error: float
    rmse: float
    def __init__(self, max_error: _Optional[float] = ..., confidence: _Optional[float] = ..., rmse: _Optional[float] = ...) -> None: ...

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

class Objective(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Mechanism(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
