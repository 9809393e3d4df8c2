from curator_dp._wire.curator.v1 import identity_pb2 as _identity_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditRecord(_message.Message):
    __slots__ = ["count", "credential_id", "dataset", "decision", "id", "identity_kind", "kind", "method", "peer", "principal", "reason", "request_id", "server", "since_time", "status", "time"]
    class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ALLOWED: AuditRecord.Decision
    CALL: AuditRecord.Kind
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    DECISION_UNSPECIFIED: AuditRecord.Decision
    GAP: AuditRecord.Kind
    IDENTITY_KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: AuditRecord.Kind
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REFUSALS: AuditRecord.Kind
    REFUSED: AuditRecord.Decision
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    STARTED: AuditRecord.Kind
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STOPPED: AuditRecord.Kind
    TIME_FIELD_NUMBER: _ClassVar[int]
    count: int
    credential_id: str
    dataset: str
    decision: AuditRecord.Decision
    id: int
    identity_kind: _identity_pb2.Identity.Kind
    kind: AuditRecord.Kind
    method: str
    peer: str
    principal: str
    reason: str
    request_id: str
    server: str
    since_time: _timestamp_pb2.Timestamp
    status: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[int] = ..., kind: _Optional[_Union[AuditRecord.Kind, str]] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., server: _Optional[str] = ..., principal: _Optional[str] = ..., identity_kind: _Optional[_Union[_identity_pb2.Identity.Kind, str]] = ..., credential_id: _Optional[str] = ..., peer: _Optional[str] = ..., method: _Optional[str] = ..., dataset: _Optional[str] = ..., decision: _Optional[_Union[AuditRecord.Decision, str]] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., count: _Optional[int] = ..., since_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAuditRecordsRequest(_message.Message):
    __slots__ = ["dataset", "decision", "method", "page_size", "page_token", "principal", "since_time", "until_time"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNTIL_TIME_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    decision: AuditRecord.Decision
    method: str
    page_size: int
    page_token: str
    principal: str
    since_time: _timestamp_pb2.Timestamp
    until_time: _timestamp_pb2.Timestamp
    def __init__(self, principal: _Optional[str] = ..., dataset: _Optional[str] = ..., method: _Optional[str] = ..., decision: _Optional[_Union[AuditRecord.Decision, str]] = ..., since_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., until_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditRecordsResponse(_message.Message):
    __slots__ = ["next_page_token", "records"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    records: _containers.RepeatedCompositeFieldContainer[AuditRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[AuditRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchAuditRequest(_message.Message):
    __slots__ = ["after_id"]
    AFTER_ID_FIELD_NUMBER: _ClassVar[int]
    after_id: int
    def __init__(self, after_id: _Optional[int] = ...) -> None: ...
