from curator_dp._wire.curator.v1 import budget_pb2 as _budget_pb2
from curator_dp._wire.curator.v1 import workload_pb2 as _workload_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AnswerChunk(_message.Message):
    __slots__ = ["answers", "cells", "header", "marginal", "query_set"]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    MARGINAL_FIELD_NUMBER: _ClassVar[int]
    QUERY_SET_FIELD_NUMBER: _ClassVar[int]
    answers: AnswerSlice
    cells: CellSlice
    header: AnswerHeader
    marginal: MarginalHeader
    query_set: QuerySetHeader
    def __init__(self, header: _Optional[_Union[AnswerHeader, _Mapping]] = ..., marginal: _Optional[_Union[MarginalHeader, _Mapping]] = ..., cells: _Optional[_Union[CellSlice, _Mapping]] = ..., query_set: _Optional[_Union[QuerySetHeader, _Mapping]] = ..., answers: _Optional[_Union[AnswerSlice, _Mapping]] = ...) -> None: ...

class AnswerHeader(_message.Message):
    __slots__ = ["charge_id", "confidence_level", "costs", "could_be_free_from", "domain_from_records", "event", "free_from", "marginal_count", "post_processing", "query_set_count", "receipt", "release_id", "replayed", "request_id", "rows_from_query", "share_of_promise"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    COSTS_FIELD_NUMBER: _ClassVar[int]
    COULD_BE_FREE_FROM_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FREE_FROM_FIELD_NUMBER: _ClassVar[int]
    MARGINAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    POST_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    QUERY_SET_COUNT_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    SHARE_OF_PROMISE_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    confidence_level: float
    costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
    could_be_free_from: _containers.RepeatedScalarFieldContainer[str]
    domain_from_records: bool
    event: str
    free_from: _containers.RepeatedScalarFieldContainer[str]
    marginal_count: int
    post_processing: str
    query_set_count: int
    receipt: _budget_pb2.Receipt
    release_id: str
    replayed: bool
    request_id: str
    rows_from_query: bool
    share_of_promise: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, release_id: _Optional[str] = ..., charge_id: _Optional[str] = ..., request_id: _Optional[str] = ..., replayed: bool = ..., costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., marginal_count: _Optional[int] = ..., event: _Optional[str] = ..., receipt: _Optional[_Union[_budget_pb2.Receipt, _Mapping]] = ..., query_set_count: _Optional[int] = ..., free_from: _Optional[_Iterable[str]] = ..., could_be_free_from: _Optional[_Iterable[str]] = ..., post_processing: _Optional[str] = ..., confidence_level: _Optional[float] = ..., domain_from_records: bool = ..., rows_from_query: bool = ..., share_of_promise: _Optional[_Iterable[float]] = ...) -> None: ...

class AnswerSlice(_message.Message):
    __slots__ = ["confidence_half_widths", "counts", "estimates", "interval_highs", "interval_lows", "labels", "offset", "standard_deviations"]
    CONFIDENCE_HALF_WIDTHS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATES_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_HIGHS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_LOWS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    STANDARD_DEVIATIONS_FIELD_NUMBER: _ClassVar[int]
    confidence_half_widths: _containers.RepeatedScalarFieldContainer[float]
    counts: _containers.RepeatedScalarFieldContainer[int]
    estimates: _containers.RepeatedScalarFieldContainer[float]
    interval_highs: _containers.RepeatedScalarFieldContainer[float]
    interval_lows: _containers.RepeatedScalarFieldContainer[float]
    labels: _containers.RepeatedScalarFieldContainer[str]
    offset: int
    standard_deviations: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, offset: _Optional[int] = ..., counts: _Optional[_Iterable[int]] = ..., estimates: _Optional[_Iterable[float]] = ..., labels: _Optional[_Iterable[str]] = ..., standard_deviations: _Optional[_Iterable[float]] = ..., confidence_half_widths: _Optional[_Iterable[float]] = ..., interval_lows: _Optional[_Iterable[float]] = ..., interval_highs: _Optional[_Iterable[float]] = ...) -> None: ...

class AnswerWorkloadRequest(_message.Message):
    __slots__ = ["confidence_level", "dataset", "mechanism", "objective", "parts", "post_processing", "prefer_free", "request_id", "selection", "spend", "target", "validate_only", "workload"]
    CONFIDENCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    POST_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    PREFER_FREE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    SPEND_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    confidence_level: float
    dataset: str
    mechanism: _workload_pb2.Mechanism
    objective: _workload_pb2.Objective
    parts: _containers.RepeatedScalarFieldContainer[str]
    post_processing: _workload_pb2.PostProcessing
    prefer_free: bool
    request_id: str
    selection: _workload_pb2.Selection
    spend: _workload_pb2.Spend
    target: _workload_pb2.Target
    validate_only: bool
    workload: _workload_pb2.Workload
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., workload: _Optional[_Union[_workload_pb2.Workload, _Mapping]] = ..., spend: _Optional[_Union[_workload_pb2.Spend, _Mapping]] = ..., mechanism: _Optional[_Union[_workload_pb2.Mechanism, str]] = ..., confidence_level: _Optional[float] = ..., parts: _Optional[_Iterable[str]] = ..., target: _Optional[_Union[_workload_pb2.Target, _Mapping]] = ..., objective: _Optional[_Union[_workload_pb2.Objective, str]] = ..., prefer_free: bool = ..., post_processing: _Optional[_Union[_workload_pb2.PostProcessing, _Mapping]] = ..., selection: _Optional[_Union[_workload_pb2.Selection, _Mapping]] = ...) -> None: ...

class CellSlice(_message.Message):
    __slots__ = ["confidence_half_widths", "counts", "estimates", "interval_highs", "interval_lows", "offset", "standard_deviations"]
    CONFIDENCE_HALF_WIDTHS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATES_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_HIGHS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_LOWS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    STANDARD_DEVIATIONS_FIELD_NUMBER: _ClassVar[int]
    confidence_half_widths: _containers.RepeatedScalarFieldContainer[float]
    counts: _containers.RepeatedScalarFieldContainer[int]
    estimates: _containers.RepeatedScalarFieldContainer[float]
    interval_highs: _containers.RepeatedScalarFieldContainer[float]
    interval_lows: _containers.RepeatedScalarFieldContainer[float]
    offset: int
    standard_deviations: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, offset: _Optional[int] = ..., counts: _Optional[_Iterable[int]] = ..., estimates: _Optional[_Iterable[float]] = ..., standard_deviations: _Optional[_Iterable[float]] = ..., confidence_half_widths: _Optional[_Iterable[float]] = ..., interval_lows: _Optional[_Iterable[float]] = ..., interval_highs: _Optional[_Iterable[float]] = ...) -> None: ...

class EstimateWorkloadRequest(_message.Message):
    __slots__ = ["confidence_level", "dataset", "mechanism", "objective", "parts", "spend", "target", "workload"]
    CONFIDENCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SPEND_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    confidence_level: float
    dataset: str
    mechanism: _workload_pb2.Mechanism
    objective: _workload_pb2.Objective
    parts: _containers.RepeatedScalarFieldContainer[str]
    spend: _workload_pb2.Spend
    target: _workload_pb2.Target
    workload: _workload_pb2.Workload
    def __init__(self, dataset: _Optional[str] = ..., workload: _Optional[_Union[_workload_pb2.Workload, _Mapping]] = ..., spend: _Optional[_Union[_workload_pb2.Spend, _Mapping]] = ..., mechanism: _Optional[_Union[_workload_pb2.Mechanism, str]] = ..., confidence_level: _Optional[float] = ..., parts: _Optional[_Iterable[str]] = ..., target: _Optional[_Union[_workload_pb2.Target, _Mapping]] = ..., objective: _Optional[_Union[_workload_pb2.Objective, str]] = ...) -> None: ...

class EstimateWorkloadResponse(_message.Message):
    __slots__ = ["choices", "costs", "domain_from_records", "event", "fits", "free_from", "marginals", "marginals_left_out", "max_error", "query_sets", "refused_by_rule", "rows_from_query", "spend", "statistics", "total_cells"]
    class Choice(_message.Message):
        __slots__ = ["costs", "fits", "max_error", "share_of_left", "spend", "standard_deviation", "statistics"]
        COSTS_FIELD_NUMBER: _ClassVar[int]
        FITS_FIELD_NUMBER: _ClassVar[int]
        MAX_ERROR_FIELD_NUMBER: _ClassVar[int]
        SHARE_OF_LEFT_FIELD_NUMBER: _ClassVar[int]
        SPEND_FIELD_NUMBER: _ClassVar[int]
        STANDARD_DEVIATION_FIELD_NUMBER: _ClassVar[int]
        STATISTICS_FIELD_NUMBER: _ClassVar[int]
        costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
        fits: bool
        max_error: float
        share_of_left: float
        spend: _workload_pb2.Spend
        standard_deviation: float
        statistics: _containers.RepeatedCompositeFieldContainer[EstimateWorkloadResponse.StatisticForecast]
        def __init__(self, spend: _Optional[_Union[_workload_pb2.Spend, _Mapping]] = ..., costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., fits: bool = ..., standard_deviation: _Optional[float] = ..., max_error: _Optional[float] = ..., share_of_left: _Optional[float] = ..., statistics: _Optional[_Iterable[_Union[EstimateWorkloadResponse.StatisticForecast, _Mapping]]] = ...) -> None: ...
    class MarginalForecast(_message.Message):
        __slots__ = ["attributes", "cells", "noise", "query_set"]
        ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        CELLS_FIELD_NUMBER: _ClassVar[int]
        NOISE_FIELD_NUMBER: _ClassVar[int]
        QUERY_SET_FIELD_NUMBER: _ClassVar[int]
        attributes: _containers.RepeatedScalarFieldContainer[str]
        cells: int
        noise: _workload_pb2.Noise
        query_set: int
        def __init__(self, attributes: _Optional[_Iterable[str]] = ..., cells: _Optional[int] = ..., noise: _Optional[_Union[_workload_pb2.Noise, _Mapping]] = ..., query_set: _Optional[int] = ...) -> None: ...
    class QuerySetForecast(_message.Message):
        __slots__ = ["answers", "confidence_half_width", "gap", "largest_standard_deviation", "measurements", "noise", "query_set", "standard_deviation", "strategy", "words"]
        ANSWERS_FIELD_NUMBER: _ClassVar[int]
        CONFIDENCE_HALF_WIDTH_FIELD_NUMBER: _ClassVar[int]
        GAP_FIELD_NUMBER: _ClassVar[int]
        LARGEST_STANDARD_DEVIATION_FIELD_NUMBER: _ClassVar[int]
        MEASUREMENTS_FIELD_NUMBER: _ClassVar[int]
        NOISE_FIELD_NUMBER: _ClassVar[int]
        QUERY_SET_FIELD_NUMBER: _ClassVar[int]
        STANDARD_DEVIATION_FIELD_NUMBER: _ClassVar[int]
        STRATEGY_FIELD_NUMBER: _ClassVar[int]
        WORDS_FIELD_NUMBER: _ClassVar[int]
        answers: int
        confidence_half_width: float
        gap: float
        largest_standard_deviation: float
        measurements: int
        noise: _workload_pb2.Noise
        query_set: int
        standard_deviation: float
        strategy: _workload_pb2.Strategy
        words: str
        def __init__(self, query_set: _Optional[int] = ..., answers: _Optional[int] = ..., strategy: _Optional[_Union[_workload_pb2.Strategy, str]] = ..., words: _Optional[str] = ..., measurements: _Optional[int] = ..., noise: _Optional[_Union[_workload_pb2.Noise, _Mapping]] = ..., standard_deviation: _Optional[float] = ..., largest_standard_deviation: _Optional[float] = ..., confidence_half_width: _Optional[float] = ..., gap: _Optional[float] = ...) -> None: ...
    class StatisticForecast(_message.Message):
        __slots__ = ["confidence_half_width", "groups", "query_set", "standard_deviation", "statistic", "unit", "words"]
        class Unit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = []
        CONFIDENCE_HALF_WIDTH_FIELD_NUMBER: _ClassVar[int]
        GROUPS_FIELD_NUMBER: _ClassVar[int]
        QUERY_SET_FIELD_NUMBER: _ClassVar[int]
        RANK: EstimateWorkloadResponse.StatisticForecast.Unit
        RECORDS: EstimateWorkloadResponse.StatisticForecast.Unit
        SQUARED_VALUE_TIMES_RECORDS: EstimateWorkloadResponse.StatisticForecast.Unit
        STANDARD_DEVIATION_FIELD_NUMBER: _ClassVar[int]
        STATISTIC_FIELD_NUMBER: _ClassVar[int]
        UNIT_FIELD_NUMBER: _ClassVar[int]
        UNIT_UNSPECIFIED: EstimateWorkloadResponse.StatisticForecast.Unit
        VALUE: EstimateWorkloadResponse.StatisticForecast.Unit
        VALUE_TIMES_RECORDS: EstimateWorkloadResponse.StatisticForecast.Unit
        WORDS_FIELD_NUMBER: _ClassVar[int]
        confidence_half_width: float
        groups: int
        query_set: int
        standard_deviation: float
        statistic: str
        unit: EstimateWorkloadResponse.StatisticForecast.Unit
        words: str
        def __init__(self, query_set: _Optional[int] = ..., statistic: _Optional[str] = ..., words: _Optional[str] = ..., standard_deviation: _Optional[float] = ..., confidence_half_width: _Optional[float] = ..., unit: _Optional[_Union[EstimateWorkloadResponse.StatisticForecast.Unit, str]] = ..., groups: _Optional[int] = ...) -> None: ...
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    COSTS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    FREE_FROM_FIELD_NUMBER: _ClassVar[int]
    MARGINALS_FIELD_NUMBER: _ClassVar[int]
    MARGINALS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    MAX_ERROR_FIELD_NUMBER: _ClassVar[int]
    QUERY_SETS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_RULE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    SPEND_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_CELLS_FIELD_NUMBER: _ClassVar[int]
    choices: _containers.RepeatedCompositeFieldContainer[EstimateWorkloadResponse.Choice]
    costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
    domain_from_records: bool
    event: str
    fits: bool
    free_from: _containers.RepeatedScalarFieldContainer[str]
    marginals: _containers.RepeatedCompositeFieldContainer[EstimateWorkloadResponse.MarginalForecast]
    marginals_left_out: int
    max_error: float
    query_sets: _containers.RepeatedCompositeFieldContainer[EstimateWorkloadResponse.QuerySetForecast]
    refused_by_rule: str
    rows_from_query: bool
    spend: _workload_pb2.Spend
    statistics: _containers.RepeatedCompositeFieldContainer[EstimateWorkloadResponse.StatisticForecast]
    total_cells: int
    def __init__(self, marginals: _Optional[_Iterable[_Union[EstimateWorkloadResponse.MarginalForecast, _Mapping]]] = ..., total_cells: _Optional[int] = ..., costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., event: _Optional[str] = ..., fits: bool = ..., query_sets: _Optional[_Iterable[_Union[EstimateWorkloadResponse.QuerySetForecast, _Mapping]]] = ..., spend: _Optional[_Union[_workload_pb2.Spend, _Mapping]] = ..., max_error: _Optional[float] = ..., choices: _Optional[_Iterable[_Union[EstimateWorkloadResponse.Choice, _Mapping]]] = ..., free_from: _Optional[_Iterable[str]] = ..., refused_by_rule: _Optional[str] = ..., domain_from_records: bool = ..., rows_from_query: bool = ..., marginals_left_out: _Optional[int] = ..., statistics: _Optional[_Iterable[_Union[EstimateWorkloadResponse.StatisticForecast, _Mapping]]] = ...) -> None: ...

class GetReleaseChunk(_message.Message):
    __slots__ = ["answer", "release", "synthesis"]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    SYNTHESIS_FIELD_NUMBER: _ClassVar[int]
    answer: AnswerChunk
    release: Release
    synthesis: SynthesisSummary
    def __init__(self, release: _Optional[_Union[Release, _Mapping]] = ..., answer: _Optional[_Union[AnswerChunk, _Mapping]] = ..., synthesis: _Optional[_Union[SynthesisSummary, _Mapping]] = ...) -> None: ...

class GetReleaseRequest(_message.Message):
    __slots__ = ["confidence_level", "post_processing", "release_id", "selection"]
    CONFIDENCE_LEVEL_FIELD_NUMBER: _ClassVar[int]
    POST_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    confidence_level: float
    post_processing: _workload_pb2.PostProcessing
    release_id: str
    selection: _workload_pb2.Selection
    def __init__(self, release_id: _Optional[str] = ..., confidence_level: _Optional[float] = ..., post_processing: _Optional[_Union[_workload_pb2.PostProcessing, _Mapping]] = ..., selection: _Optional[_Union[_workload_pb2.Selection, _Mapping]] = ...) -> None: ...

class ListReleasesRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListReleasesResponse(_message.Message):
    __slots__ = ["next_page_token", "releases"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RELEASES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    releases: _containers.RepeatedCompositeFieldContainer[Release]
    def __init__(self, releases: _Optional[_Iterable[_Union[Release, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MarginalHeader(_message.Message):
    __slots__ = ["attributes", "noise", "query_set", "sizes"]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    NOISE_FIELD_NUMBER: _ClassVar[int]
    QUERY_SET_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[str]
    noise: _workload_pb2.Noise
    query_set: int
    sizes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, attributes: _Optional[_Iterable[str]] = ..., sizes: _Optional[_Iterable[int]] = ..., noise: _Optional[_Union[_workload_pb2.Noise, _Mapping]] = ..., query_set: _Optional[int] = ...) -> None: ...

class QuerySetHeader(_message.Message):
    __slots__ = ["answer_count", "columns", "measurement_count", "noise", "query_class", "query_set", "strategy", "strategy_words"]
    ANSWER_COUNT_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    MEASUREMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOISE_FIELD_NUMBER: _ClassVar[int]
    QUERY_CLASS_FIELD_NUMBER: _ClassVar[int]
    QUERY_SET_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_WORDS_FIELD_NUMBER: _ClassVar[int]
    answer_count: int
    columns: _containers.RepeatedScalarFieldContainer[str]
    measurement_count: int
    noise: _workload_pb2.Noise
    query_class: str
    query_set: int
    strategy: _workload_pb2.Strategy
    strategy_words: str
    def __init__(self, query_set: _Optional[int] = ..., query_class: _Optional[str] = ..., columns: _Optional[_Iterable[str]] = ..., answer_count: _Optional[int] = ..., strategy: _Optional[_Union[_workload_pb2.Strategy, str]] = ..., strategy_words: _Optional[str] = ..., measurement_count: _Optional[int] = ..., noise: _Optional[_Union[_workload_pb2.Noise, _Mapping]] = ...) -> None: ...

class Release(_message.Message):
    __slots__ = ["charge_id", "create_time", "dataset", "id", "kind", "payload_hash", "principal", "request_id", "size_bytes", "summary"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_HASH_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    create_time: _timestamp_pb2.Timestamp
    dataset: str
    id: str
    kind: str
    payload_hash: bytes
    principal: str
    request_id: str
    size_bytes: int
    summary: str
    def __init__(self, id: _Optional[str] = ..., dataset: _Optional[str] = ..., charge_id: _Optional[str] = ..., request_id: _Optional[str] = ..., kind: _Optional[str] = ..., summary: _Optional[str] = ..., principal: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., size_bytes: _Optional[int] = ..., payload_hash: _Optional[bytes] = ...) -> None: ...

class ShareReleaseRequest(_message.Message):
    __slots__ = ["principal", "release_id", "validate_only"]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    principal: str
    release_id: str
    validate_only: bool
    def __init__(self, release_id: _Optional[str] = ..., principal: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class ShareReleaseResponse(_message.Message):
    __slots__ = ["principals"]
    PRINCIPALS_FIELD_NUMBER: _ClassVar[int]
    principals: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, principals: _Optional[_Iterable[str]] = ...) -> None: ...

class SynthesisSummary(_message.Message):
    __slots__ = ["attributes", "domain_from_records", "event", "method", "protects", "records", "rows_from_query", "settings", "transcript"]
    class SettingsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PROTECTS_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[str]
    domain_from_records: bool
    event: str
    method: str
    protects: str
    records: int
    rows_from_query: bool
    settings: _containers.ScalarMap[str, str]
    transcript: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, method: _Optional[str] = ..., attributes: _Optional[_Iterable[str]] = ..., records: _Optional[int] = ..., settings: _Optional[_Mapping[str, str]] = ..., transcript: _Optional[_Iterable[str]] = ..., event: _Optional[str] = ..., protects: _Optional[str] = ..., domain_from_records: bool = ..., rows_from_query: bool = ...) -> None: ...

class TranslateSqlRequest(_message.Message):
    __slots__ = ["dataset", "sql"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    sql: str
    def __init__(self, dataset: _Optional[str] = ..., sql: _Optional[str] = ...) -> None: ...

class TranslateSqlResponse(_message.Message):
    __slots__ = ["explain", "selection", "workload"]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    explain: bool
    selection: _workload_pb2.Selection
    workload: _workload_pb2.Workload
    def __init__(self, workload: _Optional[_Union[_workload_pb2.Workload, _Mapping]] = ..., selection: _Optional[_Union[_workload_pb2.Selection, _Mapping]] = ..., explain: bool = ...) -> None: ...
