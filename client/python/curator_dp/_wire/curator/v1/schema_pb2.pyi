from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Attribute(_message.Message):
    __slots__ = ["categorical", "coded", "date", "integer", "missing", "name", "numeric", "reading"]
    CATEGORICAL_FIELD_NUMBER: _ClassVar[int]
    CODED_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMERIC_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    categorical: Categorical
    coded: Coded
    date: Date
    integer: Integer
    missing: Missing
    name: str
    numeric: Numeric
    reading: Reading
    def __init__(self, name: _Optional[str] = ..., categorical: _Optional[_Union[Categorical, _Mapping]] = ..., integer: _Optional[_Union[Integer, _Mapping]] = ..., numeric: _Optional[_Union[Numeric, _Mapping]] = ..., coded: _Optional[_Union[Coded, _Mapping]] = ..., date: _Optional[_Union[Date, _Mapping]] = ..., missing: _Optional[_Union[Missing, _Mapping]] = ..., reading: _Optional[_Union[Reading, _Mapping]] = ...) -> None: ...

class Categorical(_message.Message):
    __slots__ = ["catch_all", "ordered", "values"]
    CATCH_ALL_FIELD_NUMBER: _ClassVar[int]
    ORDERED_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    catch_all: str
    ordered: bool
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ..., catch_all: _Optional[str] = ..., ordered: bool = ...) -> None: ...

class Coded(_message.Message):
    __slots__ = ["size"]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: int
    def __init__(self, size: _Optional[int] = ...) -> None: ...

class Constraint(_message.Message):
    __slots__ = ["allowed_pairs", "order"]
    class AllowedPairs(_message.Message):
        __slots__ = ["attributes", "pairs"]
        class Pair(_message.Message):
            __slots__ = ["values"]
            VALUES_FIELD_NUMBER: _ClassVar[int]
            values: _containers.RepeatedScalarFieldContainer[str]
            def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...
        ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        PAIRS_FIELD_NUMBER: _ClassVar[int]
        attributes: _containers.RepeatedScalarFieldContainer[str]
        pairs: _containers.RepeatedCompositeFieldContainer[Constraint.AllowedPairs.Pair]
        def __init__(self, attributes: _Optional[_Iterable[str]] = ..., pairs: _Optional[_Iterable[_Union[Constraint.AllowedPairs.Pair, _Mapping]]] = ...) -> None: ...
    class Order(_message.Message):
        __slots__ = ["lower", "strict", "upper"]
        LOWER_FIELD_NUMBER: _ClassVar[int]
        STRICT_FIELD_NUMBER: _ClassVar[int]
        UPPER_FIELD_NUMBER: _ClassVar[int]
        lower: str
        strict: bool
        upper: str
        def __init__(self, lower: _Optional[str] = ..., upper: _Optional[str] = ..., strict: bool = ...) -> None: ...
    ALLOWED_PAIRS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    allowed_pairs: Constraint.AllowedPairs
    order: Constraint.Order
    def __init__(self, order: _Optional[_Union[Constraint.Order, _Mapping]] = ..., allowed_pairs: _Optional[_Union[Constraint.AllowedPairs, _Mapping]] = ...) -> None: ...

class Date(_message.Message):
    __slots__ = ["bins", "edges", "time_zone", "to"]
    class Bins(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    BINS_FIELD_NUMBER: _ClassVar[int]
    BINS_UNSPECIFIED: Date.Bins
    DAY: Date.Bins
    EDGES_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    MONTH: Date.Bins
    QUARTER: Date.Bins
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    WEEK: Date.Bins
    YEAR: Date.Bins
    bins: Date.Bins
    edges: _containers.RepeatedScalarFieldContainer[str]
    time_zone: str
    to: str
    def __init__(self, to: _Optional[str] = ..., bins: _Optional[_Union[Date.Bins, str]] = ..., edges: _Optional[_Iterable[str]] = ..., time_zone: _Optional[str] = ..., **kwargs) -> None: ...

class GroupUnit(_message.Message):
    __slots__ = ["id_column", "max_records"]
    ID_COLUMN_FIELD_NUMBER: _ClassVar[int]
    MAX_RECORDS_FIELD_NUMBER: _ClassVar[int]
    id_column: str
    max_records: int
    def __init__(self, id_column: _Optional[str] = ..., max_records: _Optional[int] = ...) -> None: ...

class Integer(_message.Message):
    __slots__ = ["bin_width", "max", "min"]
    BIN_WIDTH_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    bin_width: int
    max: int
    min: int
    def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ..., bin_width: _Optional[int] = ...) -> None: ...

class Measure(_message.Message):
    __slots__ = ["high", "low", "missing", "name", "reading", "resolution"]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    high: float
    low: float
    missing: Missing
    name: str
    reading: Reading
    resolution: float
    def __init__(self, name: _Optional[str] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., resolution: _Optional[float] = ..., missing: _Optional[_Union[Missing, _Mapping]] = ..., reading: _Optional[_Union[Reading, _Mapping]] = ...) -> None: ...

class Missing(_message.Message):
    __slots__ = ["bin", "tokens"]
    BIN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    bin: str
    tokens: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tokens: _Optional[_Iterable[str]] = ..., bin: _Optional[str] = ...) -> None: ...

class Nesting(_message.Message):
    __slots__ = ["group_attributes", "group_column", "max_group_size", "response"]
    GROUP_ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    GROUP_COLUMN_FIELD_NUMBER: _ClassVar[int]
    MAX_GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    group_attributes: _containers.RepeatedScalarFieldContainer[str]
    group_column: str
    max_group_size: int
    response: str
    def __init__(self, group_column: _Optional[str] = ..., response: _Optional[str] = ..., max_group_size: _Optional[int] = ..., group_attributes: _Optional[_Iterable[str]] = ...) -> None: ...

class Numeric(_message.Message):
    __slots__ = ["edges", "max", "min", "step"]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    edges: _containers.RepeatedScalarFieldContainer[float]
    max: float
    min: float
    step: float
    def __init__(self, edges: _Optional[_Iterable[float]] = ..., min: _Optional[float] = ..., max: _Optional[float] = ..., step: _Optional[float] = ...) -> None: ...

class PersonUnit(_message.Message):
    __slots__ = ["id_column", "max_records"]
    ID_COLUMN_FIELD_NUMBER: _ClassVar[int]
    MAX_RECORDS_FIELD_NUMBER: _ClassVar[int]
    id_column: str
    max_records: int
    def __init__(self, id_column: _Optional[str] = ..., max_records: _Optional[int] = ...) -> None: ...

class PrivacyUnit(_message.Message):
    __slots__ = ["group", "person", "record"]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    group: GroupUnit
    person: PersonUnit
    record: RecordUnit
    def __init__(self, record: _Optional[_Union[RecordUnit, _Mapping]] = ..., person: _Optional[_Union[PersonUnit, _Mapping]] = ..., group: _Optional[_Union[GroupUnit, _Mapping]] = ...) -> None: ...

class Reading(_message.Message):
    __slots__ = ["column", "date_formats", "decimal_sign", "fold_case", "synonyms", "thousands_separator"]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    DATE_FORMATS_FIELD_NUMBER: _ClassVar[int]
    DECIMAL_SIGN_FIELD_NUMBER: _ClassVar[int]
    FOLD_CASE_FIELD_NUMBER: _ClassVar[int]
    SYNONYMS_FIELD_NUMBER: _ClassVar[int]
    THOUSANDS_SEPARATOR_FIELD_NUMBER: _ClassVar[int]
    column: str
    date_formats: _containers.RepeatedScalarFieldContainer[str]
    decimal_sign: str
    fold_case: bool
    synonyms: _containers.RepeatedCompositeFieldContainer[Synonym]
    thousands_separator: str
    def __init__(self, column: _Optional[str] = ..., fold_case: bool = ..., synonyms: _Optional[_Iterable[_Union[Synonym, _Mapping]]] = ..., decimal_sign: _Optional[str] = ..., thousands_separator: _Optional[str] = ..., date_formats: _Optional[_Iterable[str]] = ...) -> None: ...

class RecordUnit(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Schema(_message.Message):
    __slots__ = ["attributes", "constraints", "domain_from_records", "format", "measures", "nesting", "unit"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MEASURES_FIELD_NUMBER: _ClassVar[int]
    NESTING_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    domain_from_records: bool
    format: TextFormat
    measures: _containers.RepeatedCompositeFieldContainer[Measure]
    nesting: Nesting
    unit: PrivacyUnit
    def __init__(self, attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., unit: _Optional[_Union[PrivacyUnit, _Mapping]] = ..., nesting: _Optional[_Union[Nesting, _Mapping]] = ..., format: _Optional[_Union[TextFormat, _Mapping]] = ..., domain_from_records: bool = ..., measures: _Optional[_Iterable[_Union[Measure, _Mapping]]] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ...) -> None: ...

class Synonym(_message.Message):
    __slots__ = ["texts", "value"]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    value: str
    def __init__(self, value: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ...) -> None: ...

class TextFormat(_message.Message):
    __slots__ = ["separator"]
    SEPARATOR_FIELD_NUMBER: _ClassVar[int]
    separator: str
    def __init__(self, separator: _Optional[str] = ...) -> None: ...
