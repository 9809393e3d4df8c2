from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CUSTODY_SINGLE: Custody
CUSTODY_TWO_PERSONS: Custody
CUSTODY_UNSPECIFIED: Custody
DESCRIPTOR: _descriptor.FileDescriptor
RULE_ADVANCED: Rule
RULE_PURE: Rule
RULE_UNSPECIFIED: Rule
RULE_ZCDP: Rule

class Account(_message.Message):
    __slots__ = ["analyst", "counters", "epsilon_used", "group", "name", "part", "promise", "requests_left_like_last", "share_spent"]
    ANALYST_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    EPSILON_USED_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    PROMISE_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_LEFT_LIKE_LAST_FIELD_NUMBER: _ClassVar[int]
    SHARE_SPENT_FIELD_NUMBER: _ClassVar[int]
    analyst: str
    counters: _containers.RepeatedCompositeFieldContainer[Counter]
    epsilon_used: str
    group: AnalystGroup
    name: str
    part: str
    promise: BudgetLimit
    requests_left_like_last: int
    share_spent: float
    def __init__(self, name: _Optional[str] = ..., promise: _Optional[_Union[BudgetLimit, _Mapping]] = ..., counters: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., analyst: _Optional[str] = ..., group: _Optional[_Union[AnalystGroup, _Mapping]] = ..., part: _Optional[str] = ..., requests_left_like_last: _Optional[int] = ..., epsilon_used: _Optional[str] = ..., share_spent: _Optional[float] = ...) -> None: ...

class AnalystGroup(_message.Message):
    __slots__ = ["members", "name"]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedScalarFieldContainer[str]
    name: str
    def __init__(self, name: _Optional[str] = ..., members: _Optional[_Iterable[str]] = ...) -> None: ...

class ApproveLimitChangeRequest(_message.Message):
    __slots__ = ["dataset", "proposal_id", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    proposal_id: str
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., proposal_id: _Optional[str] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class ApproveRepairRequest(_message.Message):
    __slots__ = ["dataset", "proposal", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    proposal: RepairProposal
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., proposal: _Optional[_Union[RepairProposal, _Mapping]] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class BudgetLimit(_message.Message):
    __slots__ = ["delta", "epsilon", "rule"]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    delta: str
    epsilon: str
    rule: Rule
    def __init__(self, rule: _Optional[_Union[Rule, str]] = ..., epsilon: _Optional[str] = ..., delta: _Optional[str] = ...) -> None: ...

class BurnDownPoint(_message.Message):
    __slots__ = ["held", "limit", "spent", "time"]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    held: str
    limit: str
    spent: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., limit: _Optional[str] = ..., spent: _Optional[str] = ..., held: _Optional[str] = ...) -> None: ...

class CalculatedEpsilon(_message.Message):
    __slots__ = ["adaptive", "calculator", "epsilon", "is_lower_bound", "remark"]
    ADAPTIVE_FIELD_NUMBER: _ClassVar[int]
    CALCULATOR_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    REMARK_FIELD_NUMBER: _ClassVar[int]
    adaptive: bool
    calculator: str
    epsilon: str
    is_lower_bound: bool
    remark: str
    def __init__(self, calculator: _Optional[str] = ..., epsilon: _Optional[str] = ..., adaptive: bool = ..., is_lower_bound: bool = ..., remark: _Optional[str] = ...) -> None: ...

class ChainLink(_message.Message):
    __slots__ = ["entry", "hash", "is_repair", "previous_hash", "sequence"]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    IS_REPAIR_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    entry: LedgerEntry
    hash: bytes
    is_repair: bool
    previous_hash: bytes
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., previous_hash: _Optional[bytes] = ..., hash: _Optional[bytes] = ..., is_repair: bool = ..., entry: _Optional[_Union[LedgerEntry, _Mapping]] = ...) -> None: ...

class Cost(_message.Message):
    __slots__ = ["account", "amount", "counter", "remaining", "rule", "share_left", "share_of_promise"]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SHARE_LEFT_FIELD_NUMBER: _ClassVar[int]
    SHARE_OF_PROMISE_FIELD_NUMBER: _ClassVar[int]
    account: str
    amount: str
    counter: str
    remaining: str
    rule: Rule
    share_left: float
    share_of_promise: float
    def __init__(self, account: _Optional[str] = ..., rule: _Optional[_Union[Rule, str]] = ..., counter: _Optional[str] = ..., amount: _Optional[str] = ..., remaining: _Optional[str] = ..., share_of_promise: _Optional[float] = ..., share_left: _Optional[float] = ...) -> None: ...

class Counter(_message.Message):
    __slots__ = ["held", "limit", "name", "remaining", "spent"]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    held: str
    limit: str
    name: str
    remaining: str
    spent: str
    def __init__(self, name: _Optional[str] = ..., limit: _Optional[str] = ..., spent: _Optional[str] = ..., held: _Optional[str] = ..., remaining: _Optional[str] = ...) -> None: ...

class CreateAccountRequest(_message.Message):
    __slots__ = ["analyst", "dataset", "group", "limit", "request_id", "validate_only"]
    ANALYST_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    analyst: str
    dataset: str
    group: AnalystGroup
    limit: BudgetLimit
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., analyst: _Optional[str] = ..., group: _Optional[_Union[AnalystGroup, _Mapping]] = ..., limit: _Optional[_Union[BudgetLimit, _Mapping]] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class GetBudgetRequest(_message.Message):
    __slots__ = ["dataset", "with_comparison"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    WITH_COMPARISON_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    with_comparison: bool
    def __init__(self, dataset: _Optional[str] = ..., with_comparison: bool = ...) -> None: ...

class GetBudgetResponse(_message.Message):
    __slots__ = ["accounts", "comparison", "custody", "domain_from_records", "largest_part", "last_request", "protects", "read_only", "rows_from_query"]
    ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    CUSTODY_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FROM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    LARGEST_PART_FIELD_NUMBER: _ClassVar[int]
    LAST_REQUEST_FIELD_NUMBER: _ClassVar[int]
    PROTECTS_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    ROWS_FROM_QUERY_FIELD_NUMBER: _ClassVar[int]
    accounts: _containers.RepeatedCompositeFieldContainer[Account]
    comparison: HistoryComparison
    custody: Custody
    domain_from_records: bool
    largest_part: Account
    last_request: LastRequest
    protects: str
    read_only: str
    rows_from_query: bool
    def __init__(self, accounts: _Optional[_Iterable[_Union[Account, _Mapping]]] = ..., largest_part: _Optional[_Union[Account, _Mapping]] = ..., last_request: _Optional[_Union[LastRequest, _Mapping]] = ..., comparison: _Optional[_Union[HistoryComparison, _Mapping]] = ..., protects: _Optional[str] = ..., read_only: _Optional[str] = ..., custody: _Optional[_Union[Custody, str]] = ..., domain_from_records: bool = ..., rows_from_query: bool = ...) -> None: ...

class GetBurnDownRequest(_message.Message):
    __slots__ = ["account", "dataset", "points", "to"]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    account: str
    dataset: str
    points: int
    to: _timestamp_pb2.Timestamp
    def __init__(self, dataset: _Optional[str] = ..., account: _Optional[str] = ..., to: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., points: _Optional[int] = ..., **kwargs) -> None: ...

class GetBurnDownResponse(_message.Message):
    __slots__ = ["account", "counters"]
    class Counter(_message.Message):
        __slots__ = ["name", "points"]
        NAME_FIELD_NUMBER: _ClassVar[int]
        POINTS_FIELD_NUMBER: _ClassVar[int]
        name: str
        points: _containers.RepeatedCompositeFieldContainer[BurnDownPoint]
        def __init__(self, name: _Optional[str] = ..., points: _Optional[_Iterable[_Union[BurnDownPoint, _Mapping]]] = ...) -> None: ...
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    account: str
    counters: _containers.RepeatedCompositeFieldContainer[GetBurnDownResponse.Counter]
    def __init__(self, account: _Optional[str] = ..., counters: _Optional[_Iterable[_Union[GetBurnDownResponse.Counter, _Mapping]]] = ...) -> None: ...

class GetReceiptKeyRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetReceiptKeyResponse(_message.Message):
    __slots__ = ["ledger_id", "public_key"]
    LEDGER_ID_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    ledger_id: str
    public_key: bytes
    def __init__(self, ledger_id: _Optional[str] = ..., public_key: _Optional[bytes] = ...) -> None: ...

class HistoryComparison(_message.Message):
    __slots__ = ["calculated", "charges", "delta", "not_computed", "own_charges_only"]
    CALCULATED_FIELD_NUMBER: _ClassVar[int]
    CHARGES_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    NOT_COMPUTED_FIELD_NUMBER: _ClassVar[int]
    OWN_CHARGES_ONLY_FIELD_NUMBER: _ClassVar[int]
    calculated: _containers.RepeatedCompositeFieldContainer[CalculatedEpsilon]
    charges: int
    delta: str
    not_computed: str
    own_charges_only: bool
    def __init__(self, delta: _Optional[str] = ..., charges: _Optional[int] = ..., own_charges_only: bool = ..., calculated: _Optional[_Iterable[_Union[CalculatedEpsilon, _Mapping]]] = ..., not_computed: _Optional[str] = ...) -> None: ...

class LastRequest(_message.Message):
    __slots__ = ["summary", "time"]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    summary: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, summary: _Optional[str] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class LedgerEntry(_message.Message):
    __slots__ = ["actor", "actor_name", "charge_id", "dataset", "dataset_id", "hash", "kind", "payload", "previous_hash", "sequence", "summary", "time"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTOR_NAME_FIELD_NUMBER: _ClassVar[int]
    CHARGE_ID_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    actor: str
    actor_name: str
    charge_id: str
    dataset: str
    dataset_id: str
    hash: bytes
    kind: str
    payload: bytes
    previous_hash: bytes
    sequence: int
    summary: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, sequence: _Optional[int] = ..., kind: _Optional[str] = ..., actor: _Optional[str] = ..., charge_id: _Optional[str] = ..., time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., summary: _Optional[str] = ..., payload: _Optional[bytes] = ..., previous_hash: _Optional[bytes] = ..., hash: _Optional[bytes] = ..., dataset_id: _Optional[str] = ..., actor_name: _Optional[str] = ..., dataset: _Optional[str] = ...) -> None: ...

class LedgerPosition(_message.Message):
    __slots__ = ["after_sequence", "dataset"]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    after_sequence: int
    dataset: str
    def __init__(self, dataset: _Optional[str] = ..., after_sequence: _Optional[int] = ...) -> None: ...

class LimitProposal(_message.Message):
    __slots__ = ["account", "approved_by", "counter", "end_reason", "ended_by", "id", "is_request", "new_limit", "new_promise", "old_limit", "old_promise", "propose_time", "proposed_by", "reason", "state", "taken_up_by"]
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    APPROVED: LimitProposal.State
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    ENDED_BY_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    IS_REQUEST_FIELD_NUMBER: _ClassVar[int]
    NEW_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NEW_PROMISE_FIELD_NUMBER: _ClassVar[int]
    OLD_LIMIT_FIELD_NUMBER: _ClassVar[int]
    OLD_PROMISE_FIELD_NUMBER: _ClassVar[int]
    OUTDATED: LimitProposal.State
    PENDING: LimitProposal.State
    PROPOSED_BY_FIELD_NUMBER: _ClassVar[int]
    PROPOSE_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REJECTED: LimitProposal.State
    REQUESTED: LimitProposal.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_UNSPECIFIED: LimitProposal.State
    TAKEN_UP: LimitProposal.State
    TAKEN_UP_BY_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN: LimitProposal.State
    account: str
    approved_by: str
    counter: str
    end_reason: str
    ended_by: str
    id: str
    is_request: bool
    new_limit: str
    new_promise: BudgetLimit
    old_limit: str
    old_promise: BudgetLimit
    propose_time: _timestamp_pb2.Timestamp
    proposed_by: str
    reason: str
    state: LimitProposal.State
    taken_up_by: str
    def __init__(self, id: _Optional[str] = ..., state: _Optional[_Union[LimitProposal.State, str]] = ..., account: _Optional[str] = ..., old_promise: _Optional[_Union[BudgetLimit, _Mapping]] = ..., new_promise: _Optional[_Union[BudgetLimit, _Mapping]] = ..., counter: _Optional[str] = ..., old_limit: _Optional[str] = ..., new_limit: _Optional[str] = ..., reason: _Optional[str] = ..., proposed_by: _Optional[str] = ..., propose_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., approved_by: _Optional[str] = ..., is_request: bool = ..., ended_by: _Optional[str] = ..., end_reason: _Optional[str] = ..., taken_up_by: _Optional[str] = ...) -> None: ...

class ListAccountsRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAccountsResponse(_message.Message):
    __slots__ = ["accounts", "next_page_token"]
    ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    accounts: _containers.RepeatedCompositeFieldContainer[Account]
    next_page_token: str
    def __init__(self, accounts: _Optional[_Iterable[_Union[Account, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListChainLinksRequest(_message.Message):
    __slots__ = ["after_sequence", "dataset"]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    after_sequence: int
    dataset: str
    def __init__(self, dataset: _Optional[str] = ..., after_sequence: _Optional[int] = ...) -> None: ...

class ListInboxRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListInboxResponse(_message.Message):
    __slots__ = ["items", "next_page_token"]
    class Item(_message.Message):
        __slots__ = ["dataset", "proposal", "publication"]
        DATASET_FIELD_NUMBER: _ClassVar[int]
        PROPOSAL_FIELD_NUMBER: _ClassVar[int]
        PUBLICATION_FIELD_NUMBER: _ClassVar[int]
        dataset: str
        proposal: LimitProposal
        publication: bool
        def __init__(self, dataset: _Optional[str] = ..., proposal: _Optional[_Union[LimitProposal, _Mapping]] = ..., publication: bool = ...) -> None: ...
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ListInboxResponse.Item]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[ListInboxResponse.Item, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListLedgerEntriesRequest(_message.Message):
    __slots__ = ["after_sequence", "before_sequence", "dataset", "newest"]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    NEWEST_FIELD_NUMBER: _ClassVar[int]
    after_sequence: int
    before_sequence: int
    dataset: str
    newest: int
    def __init__(self, dataset: _Optional[str] = ..., after_sequence: _Optional[int] = ..., before_sequence: _Optional[int] = ..., newest: _Optional[int] = ...) -> None: ...

class ListLimitProposalsRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListLimitProposalsResponse(_message.Message):
    __slots__ = ["next_page_token", "proposals"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROPOSALS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    proposals: _containers.RepeatedCompositeFieldContainer[LimitProposal]
    def __init__(self, proposals: _Optional[_Iterable[_Union[LimitProposal, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListRefusalsRequest(_message.Message):
    __slots__ = ["dataset", "page_size", "page_token"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    page_size: int
    page_token: str
    def __init__(self, dataset: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRefusalsResponse(_message.Message):
    __slots__ = ["next_page_token", "refusals"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REFUSALS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    refusals: _containers.RepeatedCompositeFieldContainer[Refusal]
    def __init__(self, refusals: _Optional[_Iterable[_Union[Refusal, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ProposeLimitChangeRequest(_message.Message):
    __slots__ = ["account", "dataset", "delta", "epsilon", "reason", "request_id", "takes_up", "validate_only"]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TAKES_UP_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    account: str
    dataset: str
    delta: str
    epsilon: str
    reason: str
    request_id: str
    takes_up: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., account: _Optional[str] = ..., epsilon: _Optional[str] = ..., delta: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., validate_only: bool = ..., takes_up: _Optional[str] = ...) -> None: ...

class ProposeRepairRequest(_message.Message):
    __slots__ = ["dataset", "reason", "receipts"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    reason: str
    receipts: _containers.RepeatedCompositeFieldContainer[Receipt]
    def __init__(self, dataset: _Optional[str] = ..., reason: _Optional[str] = ..., receipts: _Optional[_Iterable[_Union[Receipt, _Mapping]]] = ...) -> None: ...

class ProposeRepairResponse(_message.Message):
    __slots__ = ["effect", "proposal"]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    effect: RepairReport
    proposal: RepairProposal
    def __init__(self, proposal: _Optional[_Union[RepairProposal, _Mapping]] = ..., effect: _Optional[_Union[RepairReport, _Mapping]] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ["public_key", "signature", "statement"]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    public_key: bytes
    signature: bytes
    statement: str
    def __init__(self, statement: _Optional[str] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[bytes] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ["accounts", "method", "principal", "request_id", "time"]
    class Account(_message.Message):
        __slots__ = ["account", "asked", "counter", "remaining", "rule"]
        ACCOUNT_FIELD_NUMBER: _ClassVar[int]
        ASKED_FIELD_NUMBER: _ClassVar[int]
        COUNTER_FIELD_NUMBER: _ClassVar[int]
        REMAINING_FIELD_NUMBER: _ClassVar[int]
        RULE_FIELD_NUMBER: _ClassVar[int]
        account: str
        asked: str
        counter: str
        remaining: str
        rule: str
        def __init__(self, account: _Optional[str] = ..., rule: _Optional[str] = ..., counter: _Optional[str] = ..., asked: _Optional[str] = ..., remaining: _Optional[str] = ...) -> None: ...
    ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    accounts: _containers.RepeatedCompositeFieldContainer[Refusal.Account]
    method: str
    principal: str
    request_id: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., principal: _Optional[str] = ..., method: _Optional[str] = ..., request_id: _Optional[str] = ..., accounts: _Optional[_Iterable[_Union[Refusal.Account, _Mapping]]] = ...) -> None: ...

class RejectLimitChangeRequest(_message.Message):
    __slots__ = ["dataset", "proposal_id", "reason", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    proposal_id: str
    reason: str
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., proposal_id: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class RepairProposal(_message.Message):
    __slots__ = ["public_key", "receipts", "signature", "statement"]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    public_key: bytes
    receipts: _containers.RepeatedCompositeFieldContainer[Receipt]
    signature: bytes
    statement: str
    def __init__(self, statement: _Optional[str] = ..., signature: _Optional[bytes] = ..., public_key: _Optional[bytes] = ..., receipts: _Optional[_Iterable[_Union[Receipt, _Mapping]]] = ...) -> None: ...

class RepairReport(_message.Message):
    __slots__ = ["charges_forfeited", "first_lost_sequence", "is_needed", "last_lost_sequence", "raised", "receipts_counted", "reservations_spent", "still_read_only"]
    class Raised(_message.Message):
        __slots__ = ["account", "counter", "new_limit", "new_spent", "old_limit", "old_spent"]
        ACCOUNT_FIELD_NUMBER: _ClassVar[int]
        COUNTER_FIELD_NUMBER: _ClassVar[int]
        NEW_LIMIT_FIELD_NUMBER: _ClassVar[int]
        NEW_SPENT_FIELD_NUMBER: _ClassVar[int]
        OLD_LIMIT_FIELD_NUMBER: _ClassVar[int]
        OLD_SPENT_FIELD_NUMBER: _ClassVar[int]
        account: str
        counter: str
        new_limit: str
        new_spent: str
        old_limit: str
        old_spent: str
        def __init__(self, account: _Optional[str] = ..., counter: _Optional[str] = ..., old_spent: _Optional[str] = ..., new_spent: _Optional[str] = ..., old_limit: _Optional[str] = ..., new_limit: _Optional[str] = ...) -> None: ...
    CHARGES_FORFEITED_FIELD_NUMBER: _ClassVar[int]
    FIRST_LOST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    IS_NEEDED_FIELD_NUMBER: _ClassVar[int]
    LAST_LOST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RAISED_FIELD_NUMBER: _ClassVar[int]
    RECEIPTS_COUNTED_FIELD_NUMBER: _ClassVar[int]
    RESERVATIONS_SPENT_FIELD_NUMBER: _ClassVar[int]
    STILL_READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    charges_forfeited: int
    first_lost_sequence: int
    is_needed: bool
    last_lost_sequence: int
    raised: _containers.RepeatedCompositeFieldContainer[RepairReport.Raised]
    receipts_counted: int
    reservations_spent: int
    still_read_only: str
    def __init__(self, first_lost_sequence: _Optional[int] = ..., last_lost_sequence: _Optional[int] = ..., raised: _Optional[_Iterable[_Union[RepairReport.Raised, _Mapping]]] = ..., reservations_spent: _Optional[int] = ..., receipts_counted: _Optional[int] = ..., still_read_only: _Optional[str] = ..., charges_forfeited: _Optional[int] = ..., is_needed: bool = ...) -> None: ...

class RequestLimitChangeRequest(_message.Message):
    __slots__ = ["account", "dataset", "delta", "epsilon", "reason", "request_id", "validate_only"]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    account: str
    dataset: str
    delta: str
    epsilon: str
    reason: str
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., account: _Optional[str] = ..., epsilon: _Optional[str] = ..., delta: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class VerifyLedgerRequest(_message.Message):
    __slots__ = ["dataset"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    def __init__(self, dataset: _Optional[str] = ...) -> None: ...

class VerifyLedgerResponse(_message.Message):
    __slots__ = ["anchored_sequence", "dataset_id", "entries_checked", "findings", "head_hash", "ledger_id", "ok", "receipt_key", "verify_time"]
    ANCHORED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_CHECKED_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    HEAD_HASH_FIELD_NUMBER: _ClassVar[int]
    LEDGER_ID_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_KEY_FIELD_NUMBER: _ClassVar[int]
    VERIFY_TIME_FIELD_NUMBER: _ClassVar[int]
    anchored_sequence: int
    dataset_id: str
    entries_checked: int
    findings: _containers.RepeatedScalarFieldContainer[str]
    head_hash: bytes
    ledger_id: str
    ok: bool
    receipt_key: bytes
    verify_time: _timestamp_pb2.Timestamp
    def __init__(self, ok: bool = ..., entries_checked: _Optional[int] = ..., head_hash: _Optional[bytes] = ..., anchored_sequence: _Optional[int] = ..., findings: _Optional[_Iterable[str]] = ..., ledger_id: _Optional[str] = ..., dataset_id: _Optional[str] = ..., receipt_key: _Optional[bytes] = ..., verify_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WatchLedgerRequest(_message.Message):
    __slots__ = ["after_sequence", "dataset", "positions"]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    after_sequence: int
    dataset: str
    positions: _containers.RepeatedCompositeFieldContainer[LedgerPosition]
    def __init__(self, dataset: _Optional[str] = ..., after_sequence: _Optional[int] = ..., positions: _Optional[_Iterable[_Union[LedgerPosition, _Mapping]]] = ...) -> None: ...

class WithdrawLimitChangeRequest(_message.Message):
    __slots__ = ["dataset", "proposal_id", "request_id", "validate_only"]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    proposal_id: str
    request_id: str
    validate_only: bool
    def __init__(self, dataset: _Optional[str] = ..., proposal_id: _Optional[str] = ..., request_id: _Optional[str] = ..., validate_only: bool = ...) -> None: ...

class Rule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Custody(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
