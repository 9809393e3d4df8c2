from curator_dp._wire.curator.v1 import budget_pb2 as _budget_pb2
from curator_dp._wire.curator.v1 import event_pb2 as _event_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BatchReserveBudgetRequest(_message.Message):
    __slots__ = ["requests"]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[ReserveBudgetRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[ReserveBudgetRequest, _Mapping]]] = ...) -> None: ...

class BatchReserveBudgetResponse(_message.Message):
    __slots__ = ["charges"]
    CHARGES_FIELD_NUMBER: _ClassVar[int]
    charges: _containers.RepeatedCompositeFieldContainer[Charge]
    def __init__(self, charges: _Optional[_Iterable[_Union[Charge, _Mapping]]] = ...) -> None: ...

class CancelReservationRequest(_message.Message):
    __slots__ = ["charge_id", "reason"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    reason: str
    def __init__(self, charge_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Charge(_message.Message):
    __slots__ = ["costs", "create_time", "dataset", "dataset_version", "deadline", "event", "id", "principal", "reason", "receipt", "request_id", "state", "summary"]
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    CANCELLED: Charge.State
    COMMITTED: Charge.State
    COSTS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DATASET_VERSION_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FORFEITED: Charge.State
    ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESERVED: Charge.State
    STARTED: Charge.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_UNSPECIFIED: Charge.State
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
    create_time: _timestamp_pb2.Timestamp
    dataset: str
    dataset_version: int
    deadline: _timestamp_pb2.Timestamp
    event: str
    id: str
    principal: str
    reason: str
    receipt: _budget_pb2.Receipt
    request_id: str
    state: Charge.State
    summary: str
    def __init__(self, id: _Optional[str] = ..., dataset: _Optional[str] = ..., principal: _Optional[str] = ..., request_id: _Optional[str] = ..., state: _Optional[_Union[Charge.State, str]] = ..., reason: _Optional[str] = ..., event: _Optional[str] = ..., summary: _Optional[str] = ..., costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., deadline: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., receipt: _Optional[_Union[_budget_pb2.Receipt, _Mapping]] = ..., dataset_version: _Optional[int] = ...) -> None: ...

class CommitBudgetRequest(_message.Message):
    __slots__ = ["charge_id"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    def __init__(self, charge_id: _Optional[str] = ...) -> None: ...

class EstimateCostRequest(_message.Message):
    __slots__ = ["dataset", "event"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    event: _event_pb2.Event
    def __init__(self, dataset: _Optional[str] = ..., event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ...) -> None: ...

class EstimateCostResponse(_message.Message):
    __slots__ = ["costs", "domain_from_records", "event", "fits", "protects", "refused_by_rule", "rows_from_query"]
    COSTS_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    FITS_FIELD_NUMBER: _ClassVar[int]
    PROTECTS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_RULE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    costs: _containers.RepeatedCompositeFieldContainer[_budget_pb2.Cost]
    domain_from_records: bool
    event: str
    fits: bool
    protects: str
    refused_by_rule: str
    rows_from_query: bool
    def __init__(self, costs: _Optional[_Iterable[_Union[_budget_pb2.Cost, _Mapping]]] = ..., event: _Optional[str] = ..., fits: bool = ..., protects: _Optional[str] = ..., domain_from_records: bool = ..., rows_from_query: bool = ..., refused_by_rule: _Optional[str] = ...) -> None: ...

class ExtendReservationRequest(_message.Message):
    __slots__ = ["charge_id", "lifetime"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    lifetime: _duration_pb2.Duration
    def __init__(self, charge_id: _Optional[str] = ..., lifetime: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GetChargeRequest(_message.Message):
    __slots__ = ["charge_id", "request_id"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    request_id: str
    def __init__(self, charge_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ReserveBudgetRequest(_message.Message):
    __slots__ = ["dataset", "event", "lifetime", "request_id", "summary", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    event: _event_pb2.Event
    lifetime: _duration_pb2.Duration
    request_id: str
    summary: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ..., summary: _Optional[str] = ..., lifetime: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class StartChargeRequest(_message.Message):
    __slots__ = ["charge_id", "final_event"]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    FINAL_EVENT_FIELD_NUMBER: _ClassVar[int]
    charge_id: str
    final_event: _event_pb2.Event
    def __init__(self, charge_id: _Optional[str] = ..., final_event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ...) -> None: ...
