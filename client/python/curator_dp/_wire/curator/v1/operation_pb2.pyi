from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AnyOperation(_message.Message):
    __slots__ = ["operation", "principal"]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    operation: Operation
    principal: str
    def __init__(self, principal: _Optional[str] = ..., operation: _Optional[_Union[Operation, _Mapping]] = ...) -> None: ...

class CancelOperationRequest(_message.Message):
    __slots__ = ["operation_id"]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    def __init__(self, operation_id: _Optional[str] = ...) -> None: ...

class GetOperationRequest(_message.Message):
    __slots__ = ["operation_id"]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    def __init__(self, operation_id: _Optional[str] = ...) -> None: ...

class ListAllOperationsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAllOperationsResponse(_message.Message):
    __slots__ = ["next_page_token", "operations"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    operations: _containers.RepeatedCompositeFieldContainer[AnyOperation]
    def __init__(self, operations: _Optional[_Iterable[_Union[AnyOperation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListOperationsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListOperationsResponse(_message.Message):
    __slots__ = ["next_page_token", "operations"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    def __init__(self, operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ["create_time", "dataset", "error", "id", "kind", "percent", "queue_position", "release_id", "request_id", "state", "summary"]
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DONE: Operation.State
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FAILED: Operation.State
    ID_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTED: Operation.State
    KIND_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    QUEUED: Operation.State
    QUEUE_POSITION_FIELD_NUMBER: _ClassVar[int]
    RELEASE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RUNNING: Operation.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_UNSPECIFIED: Operation.State
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    dataset: str
    error: str
    id: str
    kind: str
    percent: float
    queue_position: int
    release_id: str
    request_id: str
    state: Operation.State
    summary: str
    def __init__(self, id: _Optional[str] = ..., dataset: _Optional[str] = ..., kind: _Optional[str] = ..., state: _Optional[_Union[Operation.State, str]] = ..., percent: _Optional[float] = ..., release_id: _Optional[str] = ..., error: _Optional[str] = ..., request_id: _Optional[str] = ..., summary: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., queue_position: _Optional[int] = ...) -> None: ...

class StopOperationRequest(_message.Message):
    __slots__ = ["operation_id", "reason"]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    reason: str
    def __init__(self, operation_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class WaitOperationRequest(_message.Message):
    __slots__ = ["operation_id", "timeout"]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    timeout: _duration_pb2.Duration
    def __init__(self, operation_id: _Optional[str] = ..., timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WatchOperationRequest(_message.Message):
    __slots__ = ["operation_id"]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    operation_id: str
    def __init__(self, operation_id: _Optional[str] = ...) -> None: ...
