from curator_dp._wire.curator.v1 import budget_pb2 as _budget_pb2
from curator_dp._wire.curator.v1 import operation_pb2 as _operation_pb2
from curator_dp._wire.curator.v1 import query_pb2 as _query_pb2
from curator_dp._wire.curator.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateSynthesisRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "spec", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    spec: SynthesisSpec
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., spec: _Optional[_Union[SynthesisSpec, _Mapping]] = ...) -> None: ...

class EstimateSynthesisRequest(_message.Message):
    __slots__ = ["assume_rows", "dataset", "spec"]
    ASSUME_ROWS_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    assume_rows: int
    dataset: str
    spec: SynthesisSpec
    def __init__(self, dataset: _Optional[str] = ..., spec: _Optional[_Union[SynthesisSpec, _Mapping]] = ..., assume_rows: _Optional[int] = ...) -> None: ...

class EstimateSynthesisResponse(_message.Message):
    __slots__ = ["costs", "domain_from_records", "event", "fits", "model_cells", "predicted_cpu_seconds", "predicted_memory_bytes", "protects", "refused_by_rule", "rows_from_query", "schedule", "settings"]
    class SettingsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COSTS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CELLS_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_CPU_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    PROTECTS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_RULE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
    domain_from_records: bool
    event: str
    fits: bool
    model_cells: int
    predicted_cpu_seconds: int
    predicted_memory_bytes: int
    protects: str
    refused_by_rule: str
    rows_from_query: bool
    schedule: _containers.RepeatedScalarFieldContainer[str]
    settings: _containers.ScalarMap[str, str]
    def __init__(self, costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., event: _Optional[str] = ..., schedule: _Optional[_Iterable[str]] = ..., settings: _Optional[_Mapping[str, str]] = ..., fits: bool = ..., model_cells: _Optional[int] = ..., protects: _Optional[str] = ..., predicted_cpu_seconds: _Optional[int] = ..., predicted_memory_bytes: _Optional[int] = ..., refused_by_rule: _Optional[str] = ..., domain_from_records: bool = ..., rows_from_query: bool = ...) -> None: ...

class ListSynthesizersRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListSynthesizersResponse(_message.Message):
    __slots__ = ["synthesizers"]
    SYNTHESIZERS_FIELD_NUMBER: _ClassVar[int]
    synthesizers: _containers.RepeatedCompositeFieldContainer[Synthesizer]
    def __init__(self, synthesizers: _Optional[_Iterable[_Union[Synthesizer, _Mapping]]] = ...) -> None: ...

class QueryModelRequest(_message.Message):
    __slots__ = ["release_id", "workload"]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    release_id: str
    workload: _workload_pb2.Workload
    def __init__(self, release_id: _Optional[str] = ..., workload: _Optional[_Union[_workload_pb2.Workload, _Mapping]] = ...) -> None: ...

class SampleModelChunk(_message.Message):
    __slots__ = ["csv"]
    CSV_FIELD_NUMBER: _ClassVar[int]
    csv: bytes
    def __init__(self, csv: _Optional[bytes] = ...) -> None: ...

class SampleModelRequest(_message.Message):
    __slots__ = ["as_bins", "release_id", "rows"]
    AS_BINS_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    as_bins: bool
    release_id: str
    rows: int
    def __init__(self, release_id: _Optional[str] = ..., rows: _Optional[int] = ..., as_bins: bool = ...) -> None: ...

class Setting(_message.Message):
    __slots__ = ["default_value", "key", "summary"]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    default_value: str
    key: str
    summary: str
    def __init__(self, key: _Optional[str] = ..., summary: _Optional[str] = ..., default_value: _Optional[str] = ...) -> None: ...

class SynthesisSpec(_message.Message):
    __slots__ = ["method", "parts", "settings", "spend", "workload"]
    class SettingsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    SPEND_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    method: str
    parts: _containers.RepeatedScalarFieldContainer[str]
    settings: _containers.ScalarMap[str, str]
    spend: _workload_pb2.Spend
    workload: _workload_pb2.Workload
    def __init__(self, method: _Optional[str] = ..., spend: _Optional[_Union[_workload_pb2.Spend, _Mapping]] = ..., settings: _Optional[_Mapping[str, str]] = ..., workload: _Optional[_Union[_workload_pb2.Workload, _Mapping]] = ..., parts: _Optional[_Iterable[str]] = ...) -> None: ...

class Synthesizer(_message.Message):
    __slots__ = ["method", "settings", "summary"]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    method: str
    settings: _containers.RepeatedCompositeFieldContainer[Setting]
    summary: str
    def __init__(self, method: _Optional[str] = ..., summary: _Optional[str] = ..., settings: _Optional[_Iterable[_Union[Setting, _Mapping]]] = ...) -> None: ...
