from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetVersionRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetVersionResponse(_message.Message):
    __slots__ = ["development_mode", "ledger_backend", "logins", "version"]
    DEVELOPMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    LEDGER_BACKEND_FIELD_NUMBER: _ClassVar[int]
    LOGINS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    development_mode: bool
    ledger_backend: str
    logins: _containers.RepeatedCompositeFieldContainer[LoginPlace]
    version: str
    def __init__(self, version: _Optional[str] = ..., ledger_backend: _Optional[str] = ..., development_mode: bool = ..., logins: _Optional[_Iterable[_Union[LoginPlace, _Mapping]]] = ...) -> None: ...

class LoginPlace(_message.Message):
    __slots__ = ["client_id", "issuer", "scope"]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    issuer: str
    scope: str
    def __init__(self, issuer: _Optional[str] = ..., client_id: _Optional[str] = ..., scope: _Optional[str] = ...) -> None: ...
