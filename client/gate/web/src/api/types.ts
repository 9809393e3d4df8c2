// The messages of proto/curator/v1 that the pages use, as JSON: int64 as decimal strings, bytes as base64,
// timestamps in RFC 3339. docs and proto files say what the fields mean.

import type { SynthesisEstimate, SynthesisSpec, SynthesisSummary, Synthesizer } from "./synthesis-types.ts";

export type Int64 = string;
export type Decimal = string;
export type Timestamp = string;
export type Base64 = string;

export type Rule = "RULE_UNSPECIFIED" | "RULE_PURE" | "RULE_ADVANCED" | "RULE_ZCDP";

export interface BudgetLimit {
  rule: Rule;
  epsilon: Decimal;
  delta: Decimal;
}

export interface Counter {
  name: string;
  limit: Decimal;
  spent: Decimal;
  held: Decimal;
  remaining: Decimal;
}

export interface Account {
  name: string;
  promise?: BudgetLimit;
  counters: Counter[];
  analyst?: string;
  group?: { name: string; members: string[] };
  part?: string;
  requests_left_like_last?: Int64;
  // All that was charged is (epsilon_used, promise.delta)-DP together; empty where it is not known.
  epsilon_used?: Decimal;
  share_spent?: number;
}

export interface Cost {
  account: string;
  rule: Rule;
  counter: string;
  amount: Decimal;
  remaining: Decimal;
  // Of the counter's limit.
  share_of_promise?: number;
  share_left?: number;
}

export interface Receipt {
  statement: string;
  signature: Base64;
  public_key: Base64;
}

export interface CalculatedEpsilon {
  calculator: string;
  epsilon: Decimal;
  adaptive: boolean;
  is_lower_bound: boolean;
  remark: string;
}

export interface HistoryComparison {
  delta: Decimal;
  charges: Int64;
  own_charges_only: boolean;
  calculated: CalculatedEpsilon[];
  not_computed: string;
}

export type Custody = "CUSTODY_UNSPECIFIED" | "CUSTODY_TWO_PERSONS" | "CUSTODY_SINGLE";

export interface Budget {
  accounts: Account[];
  largest_part?: Account;
  last_request?: { summary: string; time?: Timestamp };
  comparison?: HistoryComparison;
  protects: string;
  read_only: string;
  custody: Custody;
}

export interface BurnDownPoint {
  time: Timestamp;
  limit: Decimal;
  spent: Decimal;
  held: Decimal;
}

export interface BurnDown {
  account: string;
  counters: { name: string; points: BurnDownPoint[] }[];
}

export type ProposalState =
  | "STATE_UNSPECIFIED"
  | "PENDING"
  | "APPROVED"
  | "OUTDATED"
  | "REQUESTED"
  | "REJECTED"
  | "WITHDRAWN"
  | "TAKEN_UP";

export interface LimitProposal {
  id: string;
  state: ProposalState;
  account: string;
  old_promise?: BudgetLimit;
  new_promise?: BudgetLimit;
  counter: string;
  old_limit: Decimal;
  new_limit: Decimal;
  reason: string;
  proposed_by: string;
  propose_time?: Timestamp;
  approved_by: string;
  is_request: boolean;
  ended_by: string;
  end_reason: string;
  taken_up_by: string;
}

export interface InboxItem {
  dataset: string;
  proposal?: LimitProposal;
  publication?: boolean;
}

export interface Refusal {
  time?: Timestamp;
  principal: string;
  method: string;
  request_id: string;
  accounts: { account: string; rule: string; counter: string; asked: Decimal; remaining: Decimal }[];
}

export interface LedgerEntry {
  sequence: Int64;
  kind: string;
  actor: string;
  charge_id: string;
  time?: Timestamp;
  summary: string;
  payload: Base64;
  previous_hash: Base64;
  hash: Base64;
  dataset_id: string;
  actor_name: string;
  dataset: string;
}

export interface Verification {
  ok: boolean;
  entries_checked: Int64;
  head_hash: Base64;
  anchored_sequence: Int64;
  findings: string[];
  ledger_id: string;
  dataset_id: string;
  receipt_key: Base64;
  verify_time?: Timestamp;
}

export interface ChainLink {
  sequence: Int64;
  previous_hash: Base64;
  hash: Base64;
  is_repair: boolean;
  entry?: LedgerEntry;
}

export type DatasetState =
  "DATASET_STATE_UNSPECIFIED" | "DATASET_STATE_CREATED" | "DATASET_STATE_SEALED" | "DATASET_STATE_ARCHIVED";

export interface Attribute {
  name: string;
  categorical?: { values: string[]; catch_all?: string; ordered?: boolean };
  integer?: { min: Int64; max: Int64; bin_width?: Int64 };
  numeric?: { edges: number[]; min?: number; max?: number; step?: number };
  coded?: { size: Int64 };
  date?: {
    from: string;
    to: string;
    bins: "BINS_UNSPECIFIED" | "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR";
    edges: string[];
    time_zone: string;
  };
  // With a bin, its label is that of the last one.
  missing?: { tokens: string[]; bin?: string };
}

export interface Measure {
  name: string;
  low: number;
  high: number;
  resolution: number;
}

export interface Constraint {
  order?: { lower: string; upper: string; strict: boolean };
  allowed_pairs?: { attributes: string[]; pairs: { values: string[] }[] };
}

export interface Schema {
  attributes: Attribute[];
  // What no record has; rows that break one are rejected at import.
  constraints?: Constraint[];
  // Columns of numbers that statistics are of; their values are clipped.
  measures?: Measure[];
  // A record, when absent.
  unit?: { record?: unknown; person?: unknown; group?: unknown };
}

export interface Dataset {
  name: string;
  owner: string;
  state: DatasetState;
  schema?: Schema;
  neighbours: string;
  public: boolean;
  create_time?: Timestamp;
  grantees: string[];
  partition?: { attribute: string; parts: { name: string; labels: string[]; state: DatasetState }[] };
  awaits_publication: boolean;
  id: string;
  version: Int64;
  domain_from_records: boolean;
  rows_from_query: boolean;
}

export type Mechanism =
  "MECHANISM_UNSPECIFIED" | "MECHANISM_DISCRETE_LAPLACE" | "MECHANISM_DISCRETE_GAUSSIAN";
export type Strategy =
  | "STRATEGY_UNSPECIFIED"
  | "STRATEGY_DIRECT"
  | "STRATEGY_BASE_HISTOGRAM"
  | "STRATEGY_TREE"
  | "STRATEGY_SELECTION"
  | "STRATEGY_RESIDUAL"
  | "STRATEGY_PARITY";

export interface Noise {
  mechanism: Mechanism;
  scale: string;
  sigma_squared: string;
  standard_deviation: number;
  expected_absolute_error: number;
  confidence_half_width: number;
  confidence_level: number;
}

export interface Spend {
  epsilon: Decimal;
  delta: Decimal;
  rho: Decimal;
}

// One of them.
export interface Statistic {
  count?: { of?: string };
  sum?: string;
  mean?: string;
  variance?: string;
  median?: string;
  quantiles?: { of: string; at: string[] };
  distinct_units?: Record<string, never>;
}

// Values are texts as they are in the table.
export interface Condition {
  attribute: string;
  in?: string[];
  between?: { from?: string; to?: string };
  compare?: {
    operator: "EQUAL" | "NOT_EQUAL" | "LESS" | "LESS_OR_EQUAL" | "GREATER" | "GREATER_OR_EQUAL";
    value: string;
  };
  is_missing?: boolean;
}
// One of the four.
export interface Expression {
  condition?: Condition;
  all_of?: { expressions: Expression[] };
  any_of?: { expressions: Expression[] };
  not?: Expression;
}
// One of the two.
export interface Predicate {
  all_of?: Condition[];
  expression?: Expression;
}

export interface Statistics {
  statistics: Statistic[];
  by: string[];
  where?: Predicate;
}

export interface QuerySet {
  statistics?: Statistics;
  marginals?: { sets?: { names: string[] }[]; all_k_way?: { k: number; attributes: string[] } };
  prefixes?: { attribute: string };
  predicates?: { predicates: Predicate[]; by: string[] };
}

export interface Workload {
  query_sets: QuerySet[];
}

// One of the two: a grouping attribute, or the position of a statistic among the answers of a group.
export interface OutputSource {
  attribute?: string;
  statistic?: number;
}

// One of the four.
export interface GroupCondition {
  compare?: { statistic: number; operator: string; value: Double };
  all_of?: { conditions: GroupCondition[] };
  any_of?: { conditions: GroupCondition[] };
  not?: GroupCondition;
}

// What is shown of the answers of one set of statistics, group by group.
export interface Selection {
  columns?: { name: string; source?: OutputSource }[];
  having?: GroupCondition;
  order_by?: { source?: OutputSource; descending: boolean }[];
  limit?: Int64;
  offset?: Int64;
}

// Of a statement in SQL.
export interface Translation {
  workload?: Workload;
  selection?: Selection;
  // It begins with EXPLAIN: it asks for the price.
  explain: boolean;
}

export type ErrorUnit =
  "UNIT_UNSPECIFIED" | "RECORDS" | "VALUE" | "VALUE_TIMES_RECORDS" | "SQUARED_VALUE_TIMES_RECORDS" | "RANK";

export interface StatisticForecast {
  query_set: number;
  // "mean(income)".
  statistic: string;
  words: string;
  standard_deviation: number;
  confidence_half_width: number;
  unit: ErrorUnit;
  groups: Int64;
}

export interface Choice {
  spend?: Spend;
  costs: Cost[];
  fits: boolean;
  standard_deviation: number;
  max_error: number;
  // Where the request has no price: the share of what is left that it takes.
  share_of_left?: number;
  statistics?: StatisticForecast[];
}

export interface WorkloadEstimate {
  marginals: { attributes: string[]; cells: Int64; noise?: Noise; query_set: number }[];
  total_cells: Int64;
  costs: Cost[];
  event: string;
  fits: boolean;
  query_sets: {
    query_set: number;
    answers: Int64;
    words: string;
    standard_deviation: number;
    largest_standard_deviation: number;
    confidence_half_width: number;
  }[];
  spend?: Spend;
  max_error: number;
  choices: Choice[];
  statistics?: StatisticForecast[];
  free_from: string[];
  refused_by_rule: string;
  domain_from_records: boolean;
  rows_from_query: boolean;
}

export interface AnswerHeader {
  release_id: string;
  charge_id: string;
  request_id: string;
  replayed: boolean;
  costs: Cost[];
  marginal_count: number;
  event: string;
  receipt?: Receipt;
  query_set_count: number;
  free_from: string[];
  could_be_free_from: string[];
  post_processing: string;
  confidence_level: number;
  domain_from_records: boolean;
  rows_from_query: boolean;
}

export interface MarginalHeader {
  attributes: string[];
  sizes: Int64[];
  noise?: Noise;
  query_set: number;
}

// JSON has no number for NaN and infinite ends: they come as these words.
export type Double = number | "NaN" | "Infinity" | "-Infinity";

export interface Slice {
  offset: Int64;
  counts: Int64[];
  estimates: Double[];
  standard_deviations: Double[];
  confidence_half_widths: Double[];
  labels?: string[];
  // Of statistics and of post-processed answers.
  interval_lows?: Double[];
  interval_highs?: Double[];
}

export interface QuerySetHeader {
  query_set: number;
  query_class: string;
  columns: string[];
  answer_count: Int64;
  strategy: Strategy;
  strategy_words: string;
  measurement_count: Int64;
  noise?: Noise;
}

export interface AnswerChunk {
  header?: AnswerHeader;
  marginal?: MarginalHeader;
  cells?: Slice;
  query_set?: QuerySetHeader;
  answers?: Slice;
}

export interface Charge {
  id: string;
  dataset: string;
  principal: string;
  request_id: string;
  state: "STATE_UNSPECIFIED" | "RESERVED" | "STARTED" | "COMMITTED" | "CANCELLED" | "FORFEITED";
  reason: string;
  event: string;
  summary: string;
  costs: Cost[];
  deadline?: Timestamp;
  create_time?: Timestamp;
  receipt?: Receipt;
  dataset_version: Int64;
}

export interface Release {
  id: string;
  dataset: string;
  charge_id: string;
  request_id: string;
  kind: string;
  summary: string;
  principal: string;
  create_time?: Timestamp;
  size_bytes: Int64;
  payload_hash: Base64;
}

export interface GetReleaseChunk {
  release?: Release;
  answer?: AnswerChunk;
  synthesis?: SynthesisSummary;
}

export type OperationState = "STATE_UNSPECIFIED" | "RUNNING" | "DONE" | "FAILED" | "INTERRUPTED" | "QUEUED";

export interface Operation {
  id: string;
  dataset: string;
  kind: string;
  state: OperationState;
  percent: number;
  release_id: string;
  error: string;
  request_id: string;
  summary: string;
  create_time?: Timestamp;
  queue_position: Int64;
}

export interface RoleBinding {
  role: "ROLE_UNSPECIFIED" | "ADMINISTRATOR" | "APPROVER" | "OPERATOR" | "CREATOR" | "AUDITOR";
  principal: string;
  dataset: string;
  bound_by: string;
  approved_by: string;
  pending: boolean;
}

export interface Credential {
  id: string;
  principal: string;
  identity?: { kind: string; issuer: string; subject: string };
  label: string;
  basis: string;
  added_by: string;
  approved_by: string;
  pending: boolean;
  add_time?: Timestamp;
  expire_time?: Timestamp;
}

export interface PrincipalInfo {
  name: string;
  kind: "KIND_UNSPECIFIED" | "PERSON" | "SERVICE";
  disabled: boolean;
  created_by: string;
  create_time?: Timestamp;
  credentials: Credential[];
  roles: RoleBinding[];
}

export interface WhoAmI {
  principal?: PrincipalInfo;
  credential_id: string;
  expire_time?: Timestamp;
  pseudonym: string;
}

// Methods that stream on the wire come as one document.
export interface Streamed<Message> {
  messages: Message[];
  // More would have come: an answer holds at most 8 MiB.
  truncated: boolean;
}

interface Paged {
  page_size?: number;
  page_token?: string;
}

// Request and response of each method that a page calls. Pages that need another method add a line here.
export interface Methods {
  "AccountantService/GetCharge": [{ charge_id?: string; request_id?: string }, Charge];
  "BudgetService/GetBudget": [{ dataset: string; with_comparison?: boolean }, Budget];
  "BudgetService/GetBurnDown": [
    { dataset: string; account?: string; from?: Timestamp; to?: Timestamp; points?: number },
    BurnDown,
  ];
  "BudgetService/ListInbox": [Paged, { items: InboxItem[]; next_page_token: string }];
  "BudgetService/ListLedgerEntries": [
    { dataset: string; after_sequence?: Int64; before_sequence?: Int64; newest?: number },
    Streamed<LedgerEntry>,
  ];
  "BudgetService/VerifyLedger": [{ dataset: string }, Verification];
  "BudgetService/GetReceiptKey": [Record<string, never>, { ledger_id: string; public_key: Base64 }];
  "BudgetService/ListChainLinks": [{ dataset: string; after_sequence?: Int64 }, Streamed<ChainLink>];
  "BudgetService/ListRefusals": [
    { dataset: string } & Paged,
    { refusals: Refusal[]; next_page_token: string },
  ];
  "BudgetService/RequestLimitChange": [LimitOrder, LimitProposal];
  "DatasetService/GetDataset": [{ dataset: string }, Dataset];
  "DatasetService/ListDatasets": [
    Paged,
    { datasets: Dataset[]; next_page_token: string; unreadable: string[] },
  ];
  "IdentityService/WhoAmI": [Record<string, never>, WhoAmI];
  "QueryService/EstimateWorkload": [
    {
      dataset: string;
      workload: Workload;
      target?: { max_error: number; confidence?: number };
      spend?: Partial<Spend>;
      confidence_level?: number;
    },
    WorkloadEstimate,
  ];
  "QueryService/AnswerWorkload": [
    {
      request_id: string;
      dataset: string;
      workload: Workload;
      spend?: Partial<Spend>;
      confidence_level?: number;
      prefer_free?: boolean;
      selection?: Selection;
    },
    Streamed<AnswerChunk>,
  ];
  "QueryService/TranslateSql": [{ dataset: string; sql: string }, Translation];
  "QueryService/GetRelease": [{ release_id: string; confidence_level?: number }, Streamed<GetReleaseChunk>];
  "QueryService/ListReleases": [
    { dataset: string } & Paged,
    { releases: Release[]; next_page_token: string },
  ];
  "SynthesisService/ListSynthesizers": [Record<string, never>, { synthesizers: Synthesizer[] }];
  "SynthesisService/EstimateSynthesis": [{ dataset: string; spec: SynthesisSpec }, SynthesisEstimate];
  "SynthesisService/CreateSynthesis": [
    { request_id: string; dataset: string; spec: SynthesisSpec },
    Operation,
  ];
  "SynthesisService/SampleModel": [
    { release_id: string; rows?: Int64; as_bins?: boolean },
    Streamed<{ csv: Base64 }>,
  ];
  "OperationService/GetOperation": [{ operation_id: string }, Operation];
  "OperationService/ListOperations": [Paged, { operations: Operation[]; next_page_token: string }];
}

export type Method = keyof Methods;
export type RequestOf<M extends Method> = Methods[M][0];
export type ResponseOf<M extends Method> = Methods[M][1];

export interface Session {
  signed_in: boolean;
  principal?: string;
  csrf?: string;
  kind?: "name" | "token" | "login";
  expires?: Timestamp;
  sign_in?: { name: boolean; token: boolean; logins: { alias: string; issuer: string }[] };
  server: { version: string; ledger_backend: string; development_mode: boolean } | null;
}

// ---- Decisions, operations, people, the audit, the server -------------------------------------------------

interface LimitOrder {
  dataset: string;
  account?: string;
  epsilon?: Decimal;
  delta?: Decimal;
  reason: string;
  request_id: string;
  validate_only?: boolean;
}

interface ProposalChoice {
  dataset: string;
  proposal_id: string;
  request_id: string;
  validate_only?: boolean;
}

export type GranteeRole =
  "GRANTEE_ROLE_UNSPECIFIED" | "ANALYST" | "SERVICE" | "AUDITOR" | "FORMER" | "GRANTED_APPROVER";

export interface Grant {
  principal: string;
  roles: GranteeRole[];
  expire_time?: Timestamp;
}

export interface AnyOperation {
  principal: string;
  operation?: Operation;
}

export type IdentityKind = "KIND_UNSPECIFIED" | "OIDC" | "CERTIFICATE" | "API_TOKEN";

export interface Quota {
  name: string;
  limit: Int64;
  // "86400s"
  period?: string;
  used?: Int64;
}

export interface AuditRecord {
  id: Int64;
  kind: "KIND_UNSPECIFIED" | "CALL" | "GAP" | "REFUSALS" | "STARTED" | "STOPPED";
  time?: Timestamp;
  server: string;
  principal: string;
  identity_kind: IdentityKind;
  credential_id: string;
  peer: string;
  method: string;
  dataset: string;
  decision: "DECISION_UNSPECIFIED" | "ALLOWED" | "REFUSED";
  status: string;
  reason: string;
  request_id: string;
  count: Int64;
  since_time?: Timestamp;
}

interface RoleChoice {
  role: RoleBinding["role"];
  principal: string;
  dataset: string;
}

export interface Methods {
  "BudgetService/ListLimitProposals": [
    { dataset: string } & Paged,
    { proposals: LimitProposal[]; next_page_token: string },
  ];
  "BudgetService/ProposeLimitChange": [LimitOrder & { takes_up?: string }, LimitProposal];
  "BudgetService/ApproveLimitChange": [ProposalChoice, LimitProposal];
  "BudgetService/RejectLimitChange": [ProposalChoice & { reason: string }, LimitProposal];
  "BudgetService/WithdrawLimitChange": [ProposalChoice, LimitProposal];
  "DatasetService/PublishDataset": [{ dataset: string; request_id: string }, Dataset];
  "DatasetService/ListGrants": [{ dataset: string } & Paged, { grants: Grant[]; next_page_token: string }];
  "DatasetService/GrantAccess": [
    { dataset: string; principal: string; roles: GranteeRole[]; expire_time?: Timestamp; request_id: string },
    Record<string, never>,
  ];
  "DatasetService/RevokeAccess": [
    { dataset: string; principal: string; with_releases: boolean; request_id: string },
    Record<string, never>,
  ];
  "OperationService/CancelOperation": [{ operation_id: string }, Operation];
  "OperationService/ListAllOperations": [Paged, { operations: AnyOperation[]; next_page_token: string }];
  "OperationService/StopOperation": [{ operation_id: string; reason: string }, AnyOperation];
  "IdentityService/ListPrincipals": [Paged, { principals: PrincipalInfo[]; next_page_token: string }];
  "IdentityService/GetPrincipal": [{ name: string }, PrincipalInfo];
  "IdentityService/CreatePrincipal": [{ name: string; kind: PrincipalInfo["kind"] }, PrincipalInfo];
  "IdentityService/DisablePrincipal": [{ name: string; reason: string }, PrincipalInfo];
  "IdentityService/EnablePrincipal": [{ name: string; reason: string }, PrincipalInfo];
  "IdentityService/ForgetPrincipal": [{ name: string; reason: string }, { pseudonym: string }];
  "IdentityService/LinkIdentity": [
    { principal: string; identity: { kind: IdentityKind; issuer: string; subject: string }; label: string },
    Credential,
  ];
  "IdentityService/CreateApiToken": [
    { principal: string; label: string; expire_time: Timestamp },
    { credential?: Credential; token: string },
  ];
  "IdentityService/ApproveCredential": [{ credential_id: string }, Credential];
  "IdentityService/RemoveCredential": [{ credential_id: string; reason: string }, Record<string, never>];
  "IdentityService/OpenEnrolment": [
    { identity: { kind: IdentityKind; issuer: string; subject: string } },
    { code: string; expire_time?: Timestamp },
  ];
  "IdentityService/BindRole": [RoleChoice, RoleBinding];
  "IdentityService/ApproveRole": [RoleChoice, RoleBinding];
  "IdentityService/UnbindRole": [RoleChoice, Record<string, never>];
  "IdentityService/GetQuotas": [{ principal: string }, { principal: string; quotas: Quota[] }];
  "AuditService/ListAuditRecords": [
    {
      principal?: string;
      dataset?: string;
      method?: string;
      decision?: AuditRecord["decision"];
      since_time?: Timestamp;
      until_time?: Timestamp;
    } & Paged,
    { records: AuditRecord[]; next_page_token: string },
  ];
  "VersionService/GetVersion": [
    Record<string, never>,
    {
      version: string;
      ledger_backend: string;
      development_mode: boolean;
      logins: { issuer: string; client_id: string; scope: string }[];
    },
  ];
  "MetricsService/GetMetrics": [Record<string, never>, { text: string }];
}
