from curator_dp._wire.curator.v1 import budget_pb2 as _budget_pb2
from curator_dp._wire.curator.v1 import schema_pb2 as _schema_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ANALYST: GranteeRole
AUDITOR: GranteeRole
DATASET_STATE_ARCHIVED: DatasetState
DATASET_STATE_CREATED: DatasetState
DATASET_STATE_SEALED: DatasetState
DATASET_STATE_UNSPECIFIED: DatasetState
DESCRIPTOR: _descriptor.FileDescriptor
FORMER: GranteeRole
GRANTED_APPROVER: GranteeRole
GRANTEE_ROLE_UNSPECIFIED: GranteeRole
NEIGHBOUR_RELATION_ADD_REMOVE: NeighbourRelation
NEIGHBOUR_RELATION_REPLACE_ONE: NeighbourRelation
NEIGHBOUR_RELATION_UNSPECIFIED: NeighbourRelation
RECORD_SOURCE_FILE: RecordSource
RECORD_SOURCE_QUERY: RecordSource
RECORD_SOURCE_TABLE: RecordSource
RECORD_SOURCE_UNSPECIFIED: RecordSource
SERVICE: GranteeRole

class AddPartRequest(_message.Message):
    __slots__ = ["dataset", "limit", "part", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    limit: _budget_pb2.BudgetLimit
    part: Part
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., part: _Optional[_Union[Part, _Mapping]] = ..., limit: _Optional[_Union[_budget_pb2.BudgetLimit, _Mapping]] = ...) -> None: ...

class AddRefusalRuleRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "rule", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    rule: RefusalRule
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., rule: _Optional[_Union[RefusalRule, _Mapping]] = ...) -> None: ...

class ArchiveDatasetRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ...) -> None: ...

class CheckSchemaRequest(_message.Message):
    __slots__ = ["csv", "gzip", "schema"]
    CSV_FIELD_NUMBER: _ClassVar[int]
    GZIP_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    csv: bytes
    gzip: bool
    schema: _schema_pb2.Schema
    def __init__(self, schema: _Optional[_Union[_schema_pb2.Schema, _Mapping]] = ..., csv: _Optional[bytes] = ..., gzip: bool = ...) -> None: ...

class CheckSchemaResponse(_message.Message):
    __slots__ = ["attributes", "cells"]
    class AttributeSize(_message.Message):
        __slots__ = ["bins", "name"]
        BINS_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        bins: int
        name: str
        def __init__(self, name: _Optional[str] = ..., bins: _Optional[int] = ...) -> None: ...
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    IMPORT_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[CheckSchemaResponse.AttributeSize]
    cells: str
    def __init__(self, attributes: _Optional[_Iterable[_Union[CheckSchemaResponse.AttributeSize, _Mapping]]] = ..., cells: _Optional[str] = ..., **kwargs) -> None: ...

class CreateDatasetRequest(_message.Message):
    __slots__ = ["limit", "looks", "name", "neighbours", "partition", "public", "request_id", "schema", "successor_of", "validate_only"]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    LOOKS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_OF_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    limit: _budget_pb2.BudgetLimit
    looks: _containers.RepeatedCompositeFieldContainer[OwnerLook]
    name: str
    neighbours: NeighbourRelation
    partition: Partition
    public: bool
    request_id: str
    schema: _schema_pb2.Schema
    successor_of: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., name: _Optional[str] = ..., schema: _Optional[_Union[_schema_pb2.Schema, _Mapping]] = ..., neighbours: _Optional[_Union[NeighbourRelation, str]] = ..., limit: _Optional[_Union[_budget_pb2.BudgetLimit, _Mapping]] = ..., public: bool = ..., successor_of: _Optional[str] = ..., partition: _Optional[_Union[Partition, _Mapping]] = ..., looks: _Optional[_Iterable[_Union[OwnerLook, _Mapping]]] = ...) -> None: ...

class Dataset(_message.Message):
    __slots__ = ["awaits_publication", "create_time", "domain_from_records", "grantees", "id", "name", "neighbours", "owner", "partition", "public", "rows_from_query", "schema", "state", "version"]
    AWAITS_PUBLICATION_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    GRANTEES_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    awaits_publication: bool
    create_time: _timestamp_pb2.Timestamp
    domain_from_records: bool
    grantees: _containers.RepeatedScalarFieldContainer[str]
    id: str
    name: str
    neighbours: NeighbourRelation
    owner: str
    partition: Partition
    public: bool
    rows_from_query: bool
    schema: _schema_pb2.Schema
    state: DatasetState
    version: int
    def __init__(self, name: _Optional[str] = ..., owner: _Optional[str] = ..., state: _Optional[_Union[DatasetState, str]] = ..., schema: _Optional[_Union[_schema_pb2.Schema, _Mapping]] = ..., neighbours: _Optional[_Union[NeighbourRelation, str]] = ..., public: bool = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., grantees: _Optional[_Iterable[str]] = ..., partition: _Optional[_Union[Partition, _Mapping]] = ..., awaits_publication: bool = ..., id: _Optional[str] = ..., version: _Optional[int] = ..., domain_from_records: bool = ..., rows_from_query: bool = ...) -> None: ...

class DeleteDatasetRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ...) -> None: ...

class DeleteDatasetResponse(_message.Message):
    __slots__ = ["dataset_id"]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    def __init__(self, dataset_id: _Optional[str] = ...) -> None: ...

class GetDatasetRequest(_message.Message):
    __slots__ = ["dataset"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    def __init__(self, dataset: _Optional[str] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ["expire_time", "principal", "roles"]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    expire_time: _timestamp_pb2.Timestamp
    principal: str
    roles: _containers.RepeatedScalarFieldContainer[GranteeRole]
    def __init__(self, principal: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[GranteeRole, str]]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GrantAccessRequest(_message.Message):
    __slots__ = ["dataset", "expire_time", "principal", "request_id", "roles", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    expire_time: _timestamp_pb2.Timestamp
    principal: str
    request_id: str
    roles: _containers.RepeatedScalarFieldContainer[GranteeRole]
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., principal: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[GranteeRole, str]]] = ..., expire_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GrantAccessResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Import(_message.Message):
    __slots__ = ["part", "request_id", "rows_accepted", "source", "time"]
    PART_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ROWS_ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    part: str
    request_id: str
    rows_accepted: int
    source: RecordSource
    time: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., part: _Optional[str] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., rows_accepted: _Optional[int] = ..., source: _Optional[_Union[RecordSource, str]] = ...) -> None: ...

class ImportRecordsRequest(_message.Message):
    __slots__ = ["csv", "csv_bytes", "header"]
    class Header(_message.Message):
        __slots__ = ["accept_same_file", "dataset", "gzip", "part", "request_id", "source", "validate_only"]
        ACCEPT_SAME_FILE_FIELD_NUMBER: _ClassVar[int]
        DATASET_FIELD_NUMBER: _ClassVar[int]
        GZIP_FIELD_NUMBER: _ClassVar[int]
        PART_FIELD_NUMBER: _ClassVar[int]
        REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
        accept_same_file: bool
        dataset: str
        gzip: bool
        part: str
        request_id: str
        source: RecordSource
        validate_only: bool
        def __init__(self, request_id: _Optional[str] = ..., dataset: _Optional[str] = ..., gzip: bool = ..., validate_only: bool = ..., part: _Optional[str] = ..., source: _Optional[_Union[RecordSource, str]] = ..., accept_same_file: bool = ...) -> None: ...
    CSV_BYTES_FIELD_NUMBER: _ClassVar[int]
    CSV_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    csv: bytes
    csv_bytes: int
    header: ImportRecordsRequest.Header
    def __init__(self, header: _Optional[_Union[ImportRecordsRequest.Header, _Mapping]] = ..., csv: _Optional[bytes] = ..., csv_bytes: _Optional[int] = ...) -> None: ...

class ImportRecordsResponse(_message.Message):
    __slots__ = ["cells_clipped", "examples", "ignored_columns", "rejections", "responses_clamped", "rows_accepted", "rows_read", "rows_rejected", "same_file_as"]
    class CellsClippedEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    CELLS_CLIPPED_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    IGNORED_COLUMNS_FIELD_NUMBER: _ClassVar[int]
    REJECTIONS_FIELD_NUMBER: _ClassVar[int]
    RESPONSES_CLAMPED_FIELD_NUMBER: _ClassVar[int]
    ROWS_ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    ROWS_READ_FIELD_NUMBER: _ClassVar[int]
    ROWS_REJECTED_FIELD_NUMBER: _ClassVar[int]
    SAME_FILE_AS_FIELD_NUMBER: _ClassVar[int]
    cells_clipped: _containers.ScalarMap[str, int]
    examples: _containers.RepeatedCompositeFieldContainer[RejectedRow]
    ignored_columns: _containers.RepeatedScalarFieldContainer[str]
    rejections: _containers.RepeatedCompositeFieldContainer[Rejection]
    responses_clamped: int
    rows_accepted: int
    rows_read: int
    rows_rejected: int
    same_file_as: str
    def __init__(self, rows_read: _Optional[int] = ..., rows_accepted: _Optional[int] = ..., rows_rejected: _Optional[int] = ..., examples: _Optional[_Iterable[_Union[RejectedRow, _Mapping]]] = ..., ignored_columns: _Optional[_Iterable[str]] = ..., responses_clamped: _Optional[int] = ..., same_file_as: _Optional[str] = ..., rejections: _Optional[_Iterable[_Union[Rejection, _Mapping]]] = ..., cells_clipped: _Optional[_Mapping[str, int]] = ...) -> None: ...

class ListDatasetsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDatasetsResponse(_message.Message):
    __slots__ = ["datasets", "next_page_token", "unreadable"]
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[Dataset]
    next_page_token: str
    unreadable: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, datasets: _Optional[_Iterable[_Union[Dataset, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., unreadable: _Optional[_Iterable[str]] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ["grants", "next_page_token"]
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListImportsRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListImportsResponse(_message.Message):
    __slots__ = ["imports", "next_page_token"]
    IMPORTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    imports: _containers.RepeatedCompositeFieldContainer[Import]
    next_page_token: str
    def __init__(self, imports: _Optional[_Iterable[_Union[Import, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListRefusalRulesRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRefusalRulesResponse(_message.Message):
    __slots__ = ["next_page_token", "rules"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    rules: _containers.RepeatedCompositeFieldContainer[RefusalRule]
    def __init__(self, rules: _Optional[_Iterable[_Union[RefusalRule, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class OwnerLook(_message.Message):
    __slots__ = ["accepted_domain", "content_hash", "time"]
    ACCEPTED_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    accepted_domain: bool
    content_hash: bytes
    time: _timestamp_pb2.Timestamp
    def __init__(self, content_hash: _Optional[bytes] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., accepted_domain: bool = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ["labels", "name", "state"]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedScalarFieldContainer[str]
    name: str
    state: DatasetState
    def __init__(self, name: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ..., state: _Optional[_Union[DatasetState, str]] = ...) -> None: ...

class Partition(_message.Message):
    __slots__ = ["attribute", "parts"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    def __init__(self, attribute: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ...) -> None: ...

class PublishDatasetRequest(_message.Message):
    __slots__ = ["dataset", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ...) -> None: ...

class RefusalRule(_message.Message):
    __slots__ = ["attributes", "end_time", "kinds", "name", "note", "price_above", "principals", "start_time"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    class Price(_message.Message):
        __slots__ = ["amount", "counter"]
        AMOUNT_FIELD_NUMBER: _ClassVar[int]
        COUNTER_FIELD_NUMBER: _ClassVar[int]
        amount: str
        counter: str
        def __init__(self, counter: _Optional[str] = ..., amount: _Optional[str] = ...) -> None: ...
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: RefusalRule.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRICE_ABOVE_FIELD_NUMBER: _ClassVar[int]
    PRINCIPALS_FIELD_NUMBER: _ClassVar[int]
    RESERVATION: RefusalRule.Kind
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    SYNTHESIS: RefusalRule.Kind
    WORKLOAD: RefusalRule.Kind
    attributes: _containers.RepeatedScalarFieldContainer[str]
    end_time: _timestamp_pb2.Timestamp
    kinds: _containers.RepeatedScalarFieldContainer[RefusalRule.Kind]
    name: str
    note: str
    price_above: RefusalRule.Price
    principals: _containers.RepeatedScalarFieldContainer[str]
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., principals: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[_Union[RefusalRule.Kind, str]]] = ..., attributes: _Optional[_Iterable[str]] = ..., price_above: _Optional[_Union[RefusalRule.Price, _Mapping]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., note: _Optional[str] = ...) -> None: ...

class RejectedRow(_message.Message):
    __slots__ = ["attribute", "line", "reason"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    line: int
    reason: str
    def __init__(self, line: _Optional[int] = ..., attribute: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Rejection(_message.Message):
    __slots__ = ["attribute", "lines", "reason", "rows"]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    lines: _containers.RepeatedScalarFieldContainer[int]
    reason: str
    rows: int
    def __init__(self, attribute: _Optional[str] = ..., reason: _Optional[str] = ..., rows: _Optional[int] = ..., lines: _Optional[_Iterable[int]] = ...) -> None: ...

class RemoveRefusalRuleRequest(_message.Message):
    __slots__ = ["dataset", "name", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    name: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class RemoveRefusalRuleResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class RevokeAccessRequest(_message.Message):
    __slots__ = ["dataset", "principal", "request_id", "validate_only", "with_releases"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    WITH_RELEASES_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    principal: str
    request_id: str
    validate_only: bool
    with_releases: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., principal: _Optional[str] = ..., with_releases: bool = ...) -> None: ...

class RevokeAccessResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class SealDatasetRequest(_message.Message):
    __slots__ = ["accept_domain_from_records", "accept_equal_content", "accept_no_records", "dataset", "part", "request_id", "validate_only"]
    ACCEPT_DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_EQUAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_NO_RECORDS_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    accept_domain_from_records: bool
    accept_equal_content: bool
    accept_no_records: bool
    dataset: str
    part: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., part: _Optional[str] = ..., accept_equal_content: bool = ..., accept_no_records: bool = ..., accept_domain_from_records: bool = ...) -> None: ...

class SealDatasetResponse(_message.Message):
    __slots__ = ["dataset", "records", "records_dropped"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    RECORDS_DROPPED_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    dataset: Dataset
    records: int
    records_dropped: int
    def __init__(self, dataset: _Optional[_Union[Dataset, _Mapping]] = ..., records: _Optional[int] = ..., records_dropped: _Optional[int] = ...) -> None: ...

class UndoImportRequest(_message.Message):
    __slots__ = ["dataset", "import_request_id", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    IMPORT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    import_request_id: str
    request_id: str
    validate_only: bool
    def __init__(self, request_id: _Optional[str] = ..., validate_only: bool = ..., dataset: _Optional[str] = ..., import_request_id: _Optional[str] = ...) -> None: ...

class UndoImportResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class NeighbourRelation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class DatasetState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class RecordSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class GranteeRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
