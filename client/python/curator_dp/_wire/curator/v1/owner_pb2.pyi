from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EvaluateRequest(_message.Message):
    __slots__ = ["bias_penalty", "by", "dataset", "pairs", "release_id", "request_id", "validate_only"]
    BIAS_PENALTY_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    bias_penalty: int
    by: _containers.RepeatedScalarFieldContainer[str]
    dataset: str
    pairs: int
    release_id: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., release_id: _Optional[str] = ..., by: _Optional[_Iterable[str]] = ..., pairs: _Optional[int] = ..., bias_penalty: _Optional[int] = ...) -> None: ...

class EvaluateResponse(_message.Message):
    __slots__ = ["biased_groups", "empty_groups", "error", "error_without_bias", "groups", "warning"]
    class Group(_message.Message):
        __slots__ = ["biased", "distance", "estimated_records", "label", "records"]
        BIASED_FIELD_NUMBER: _ClassVar[int]
        DISTANCE_FIELD_NUMBER: _ClassVar[int]
        ESTIMATED_RECORDS_FIELD_NUMBER: _ClassVar[int]
        LABEL_FIELD_NUMBER: _ClassVar[int]
        RECORDS_FIELD_NUMBER: _ClassVar[int]
        biased: bool
        distance: float
        estimated_records: float
        label: str
        records: int
        def __init__(self, label: _Optional[str] = ..., distance: _Optional[float] = ..., records: _Optional[int] = ..., estimated_records: _Optional[float] = ..., biased: bool = ...) -> None: ...
    BIASED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_GROUPS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ERROR_WITHOUT_BIAS_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    biased_groups: int
    empty_groups: int
    error: float
    error_without_bias: float
    groups: _containers.RepeatedCompositeFieldContainer[EvaluateResponse.Group]
    warning: str
    def __init__(self, error: _Optional[float] = ..., error_without_bias: _Optional[float] = ..., biased_groups: _Optional[int] = ..., empty_groups: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[EvaluateResponse.Group, _Mapping]]] = ..., warning: _Optional[str] = ...) -> None: ...

class RiskRequest(_message.Message):
    __slots__ = ["dataset", "grid", "request_id", "validate_only"]
    class Grid(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    DATASET_FIELD_NUMBER: _ClassVar[int]
    GRID_AROUND_FIT: RiskRequest.Grid
    GRID_FIELD_NUMBER: _ClassVar[int]
    GRID_UNSPECIFIED: RiskRequest.Grid
    GRID_WITHIN_BOUNDS: RiskRequest.Grid
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    grid: RiskRequest.Grid
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., grid: _Optional[_Union[RiskRequest.Grid, str]] = ...) -> None: ...

class RiskResponse(_message.Message):
    __slots__ = ["grid", "groups", "records", "sensitivities", "warning"]
    class Sensitivities(_message.Message):
        __slots__ = ["first_quartile", "largest", "least", "level", "median", "option", "third_quartile", "weighting"]
        FIRST_QUARTILE_FIELD_NUMBER: _ClassVar[int]
        LARGEST_FIELD_NUMBER: _ClassVar[int]
        LEAST_FIELD_NUMBER: _ClassVar[int]
        LEVEL_FIELD_NUMBER: _ClassVar[int]
        MEDIAN_FIELD_NUMBER: _ClassVar[int]
        OPTION_FIELD_NUMBER: _ClassVar[int]
        THIRD_QUARTILE_FIELD_NUMBER: _ClassVar[int]
        WEIGHTING_FIELD_NUMBER: _ClassVar[int]
        first_quartile: float
        largest: float
        least: float
        level: str
        median: float
        option: str
        third_quartile: float
        weighting: str
        def __init__(self, weighting: _Optional[str] = ..., option: _Optional[str] = ..., level: _Optional[str] = ..., least: _Optional[float] = ..., first_quartile: _Optional[float] = ..., median: _Optional[float] = ..., third_quartile: _Optional[float] = ..., largest: _Optional[float] = ...) -> None: ...
    GRID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITIES_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    grid: str
    groups: int
    records: int
    sensitivities: _containers.RepeatedCompositeFieldContainer[RiskResponse.Sensitivities]
    warning: str
    def __init__(self, sensitivities: _Optional[_Iterable[_Union[RiskResponse.Sensitivities, _Mapping]]] = ..., groups: _Optional[int] = ..., records: _Optional[int] = ..., grid: _Optional[str] = ..., warning: _Optional[str] = ...) -> None: ...

class RowCountsRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ...) -> None: ...

class RowCountsResponse(_message.Message):
    __slots__ = ["records", "warning"]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    records: int
    warning: str
    def __init__(self, records: _Optional[int] = ..., warning: _Optional[str] = ...) -> None: ...
