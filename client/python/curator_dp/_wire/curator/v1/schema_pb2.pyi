from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Attribute(_message.Message):
    __slots__ = ["categorical", "coded", "integer", "name", "numeric"]
    CATEGORICAL_FIELD_NUMBER: _ClassVar[int]
    CODED_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMERIC_FIELD_NUMBER: _ClassVar[int]
    categorical: Categorical
    coded: Coded
    integer: Integer
    name: str
    numeric: Numeric
    def __init__(self, name: _Optional[str] = ..., categorical: _Optional[_Union[Categorical, _Mapping]] = ..., integer: _Optional[_Union[Integer, _Mapping]] = ..., numeric: _Optional[_Union[Numeric, _Mapping]] = ..., coded: _Optional[_Union[Coded, _Mapping]] = ...) -> None: ...

class Categorical(_message.Message):
    __slots__ = ["catch_all", "values"]
    CATCH_ALL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    catch_all: str
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ..., catch_all: _Optional[str] = ...) -> None: ...

class Coded(_message.Message):
    __slots__ = ["size"]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: int
    def __init__(self, size: _Optional[int] = ...) -> None: ...

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

class Nesting(_message.Message):
    __slots__ = ["group_column", "max_group_size", "response"]
    GROUP_COLUMN_FIELD_NUMBER: _ClassVar[int]
    MAX_GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    group_column: str
    max_group_size: int
    response: str
    def __init__(self, group_column: _Optional[str] = ..., response: _Optional[str] = ..., max_group_size: _Optional[int] = ...) -> None: ...

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

class RecordUnit(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Schema(_message.Message):
    __slots__ = ["attributes", "nesting", "unit"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    NESTING_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    nesting: Nesting
    unit: PrivacyUnit
    def __init__(self, attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., unit: _Optional[_Union[PrivacyUnit, _Mapping]] = ..., nesting: _Optional[_Union[Nesting, _Mapping]] = ...) -> None: ...
