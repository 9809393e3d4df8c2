from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApproveCredentialRequest(_message.Message):
    __slots__ = ["credential_id"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    def __init__(self, credential_id: _Optional[str] = ...) -> None: ...

class ApproveRoleRequest(_message.Message):
    __slots__ = ["dataset", "principal", "role"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    principal: str
    role: RoleBinding.Role
    def __init__(self, role: _Optional[_Union[RoleBinding.Role, str]] = ..., principal: _Optional[str] = ..., dataset: _Optional[str] = ...) -> None: ...

class BindRoleRequest(_message.Message):
    __slots__ = ["dataset", "principal", "role"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    principal: str
    role: RoleBinding.Role
    def __init__(self, role: _Optional[_Union[RoleBinding.Role, str]] = ..., principal: _Optional[str] = ..., dataset: _Optional[str] = ...) -> None: ...

class CreateApiTokenRequest(_message.Message):
    __slots__ = ["expire_time", "label", "principal"]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    expire_time: _timestamp_pb2.Timestamp
    label: str
    principal: str
    def __init__(self, principal: _Optional[str] = ..., label: _Optional[str] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateApiTokenResponse(_message.Message):
    __slots__ = ["credential", "token"]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    credential: Credential
    token: str
    def __init__(self, credential: _Optional[_Union[Credential, _Mapping]] = ..., token: _Optional[str] = ...) -> None: ...

class CreatePrincipalRequest(_message.Message):
    __slots__ = ["kind", "name"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: PrincipalInfo.Kind
    name: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[PrincipalInfo.Kind, str]] = ...) -> None: ...

class Credential(_message.Message):
    __slots__ = ["add_time", "added_by", "approved_by", "basis", "expire_time", "id", "identity", "label", "pending", "principal"]
    class Basis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ADDED_BY_FIELD_NUMBER: _ClassVar[int]
    ADD_TIME_FIELD_NUMBER: _ClassVar[int]
    ADMINISTRATOR: Credential.Basis
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    BASIS_FIELD_NUMBER: _ClassVar[int]
    BASIS_UNSPECIFIED: Credential.Basis
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    HOST: Credential.Basis
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ISSUER: Credential.Basis
    LABEL_FIELD_NUMBER: _ClassVar[int]
    OWN_PROOF: Credential.Basis
    PENDING_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    add_time: _timestamp_pb2.Timestamp
    added_by: str
    approved_by: str
    basis: Credential.Basis
    expire_time: _timestamp_pb2.Timestamp
    id: str
    identity: Identity
    label: str
    pending: bool
    principal: str
    def __init__(self, id: _Optional[str] = ..., principal: _Optional[str] = ..., identity: _Optional[_Union[Identity, _Mapping]] = ..., label: _Optional[str] = ..., basis: _Optional[_Union[Credential.Basis, str]] = ..., added_by: _Optional[str] = ..., approved_by: _Optional[str] = ..., pending: bool = ..., add_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DisablePrincipalRequest(_message.Message):
    __slots__ = ["name", "reason"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class EnablePrincipalRequest(_message.Message):
    __slots__ = ["name", "reason"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class EnrolRequest(_message.Message):
    __slots__ = ["code"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    code: str
    def __init__(self, code: _Optional[str] = ...) -> None: ...

class ForgetPrincipalRequest(_message.Message):
    __slots__ = ["name", "reason"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ForgetPrincipalResponse(_message.Message):
    __slots__ = ["pseudonym"]
    PSEUDONYM_FIELD_NUMBER: _ClassVar[int]
    pseudonym: str
    def __init__(self, pseudonym: _Optional[str] = ...) -> None: ...

class GetPrincipalRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetQuotasRequest(_message.Message):
    __slots__ = ["principal"]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    principal: str
    def __init__(self, principal: _Optional[str] = ...) -> None: ...

class GetQuotasResponse(_message.Message):
    __slots__ = ["principal", "quotas"]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    QUOTAS_FIELD_NUMBER: _ClassVar[int]
    principal: str
    quotas: _containers.RepeatedCompositeFieldContainer[Quota]
    def __init__(self, principal: _Optional[str] = ..., quotas: _Optional[_Iterable[_Union[Quota, _Mapping]]] = ...) -> None: ...

class Identity(_message.Message):
    __slots__ = ["issuer", "kind", "subject"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    API_TOKEN: Identity.Kind
    CERTIFICATE: Identity.Kind
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: Identity.Kind
    OIDC: Identity.Kind
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    issuer: str
    kind: Identity.Kind
    subject: str
    def __init__(self, kind: _Optional[_Union[Identity.Kind, str]] = ..., issuer: _Optional[str] = ..., subject: _Optional[str] = ...) -> None: ...

class LinkIdentityRequest(_message.Message):
    __slots__ = ["identity", "label", "principal"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    identity: Identity
    label: str
    principal: str
    def __init__(self, principal: _Optional[str] = ..., identity: _Optional[_Union[Identity, _Mapping]] = ..., label: _Optional[str] = ...) -> None: ...

class ListPrincipalsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPrincipalsResponse(_message.Message):
    __slots__ = ["next_page_token", "principals"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PRINCIPALS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    principals: _containers.RepeatedCompositeFieldContainer[PrincipalInfo]
    def __init__(self, principals: _Optional[_Iterable[_Union[PrincipalInfo, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class OpenEnrolmentRequest(_message.Message):
    __slots__ = ["identity"]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    identity: Identity
    def __init__(self, identity: _Optional[_Union[Identity, _Mapping]] = ...) -> None: ...

class OpenEnrolmentResponse(_message.Message):
    __slots__ = ["code", "expire_time"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    code: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, code: _Optional[str] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PrincipalInfo(_message.Message):
    __slots__ = ["create_time", "created_by", "credentials", "disabled", "kind", "name", "roles"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: PrincipalInfo.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERSON: PrincipalInfo.Kind
    ROLES_FIELD_NUMBER: _ClassVar[int]
    SERVICE: PrincipalInfo.Kind
    create_time: _timestamp_pb2.Timestamp
    created_by: str
    credentials: _containers.RepeatedCompositeFieldContainer[Credential]
    disabled: bool
    kind: PrincipalInfo.Kind
    name: str
    roles: _containers.RepeatedCompositeFieldContainer[RoleBinding]
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[PrincipalInfo.Kind, str]] = ..., disabled: bool = ..., created_by: _Optional[str] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., credentials: _Optional[_Iterable[_Union[Credential, _Mapping]]] = ..., roles: _Optional[_Iterable[_Union[RoleBinding, _Mapping]]] = ...) -> None: ...

class Quota(_message.Message):
    __slots__ = ["limit", "name", "period", "used"]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    limit: int
    name: str
    period: _duration_pb2.Duration
    used: int
    def __init__(self, name: _Optional[str] = ..., limit: _Optional[int] = ..., period: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., used: _Optional[int] = ...) -> None: ...

class RemoveCredentialRequest(_message.Message):
    __slots__ = ["credential_id", "reason"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    reason: str
    def __init__(self, credential_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RemoveCredentialResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class RoleBinding(_message.Message):
    __slots__ = ["approved_by", "bound_by", "dataset", "pending", "principal", "role"]
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ADMINISTRATOR: RoleBinding.Role
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    APPROVER: RoleBinding.Role
    AUDITOR: RoleBinding.Role
    BOUND_BY_FIELD_NUMBER: _ClassVar[int]
    CREATOR: RoleBinding.Role
    DATASET_FIELD_NUMBER: _ClassVar[int]
    OPERATOR: RoleBinding.Role
    PENDING_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ROLE_UNSPECIFIED: RoleBinding.Role
    approved_by: str
    bound_by: str
    dataset: str
    pending: bool
    principal: str
    role: RoleBinding.Role
    def __init__(self, role: _Optional[_Union[RoleBinding.Role, str]] = ..., principal: _Optional[str] = ..., dataset: _Optional[str] = ..., bound_by: _Optional[str] = ..., approved_by: _Optional[str] = ..., pending: bool = ...) -> None: ...

class UnbindRoleRequest(_message.Message):
    __slots__ = ["dataset", "principal", "role"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    principal: str
    role: RoleBinding.Role
    def __init__(self, role: _Optional[_Union[RoleBinding.Role, str]] = ..., principal: _Optional[str] = ..., dataset: _Optional[str] = ...) -> None: ...

class UnbindRoleResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class WhoAmIRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class WhoAmIResponse(_message.Message):
    __slots__ = ["credential_id", "expire_time", "principal", "pseudonym"]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PSEUDONYM_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    expire_time: _timestamp_pb2.Timestamp
    principal: PrincipalInfo
    pseudonym: str
    def __init__(self, principal: _Optional[_Union[PrincipalInfo, _Mapping]] = ..., credential_id: _Optional[str] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., pseudonym: _Optional[str] = ...) -> None: ...
