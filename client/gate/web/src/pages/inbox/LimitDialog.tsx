// Proposes a change of a limit, or asks the owner for a raise; with what it would change, as the server
// computes it.
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Account, Dataset, LimitProposal } from "../../api/types.ts";
import { useCall } from "../../api/use-call.ts";
import { useChange } from "../../api/use-change.ts";
import { useRequestId } from "../../api/use-request-id.ts";
import { Button } from "../../components/Button.tsx";
import { ChangeNotice } from "../../components/ChangeNotice.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Skeleton } from "../../components/Empty.tsx";
import { ChoiceField, SelectField, TextField } from "../../components/Field.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { PromiseDiff } from "../../components/PromiseDiff.tsx";
import { TextArea } from "../../components/TextArea.tsx";
import { compare, isDecimal, subtract } from "../../decimal.ts";
import { promiseWith } from "../../limit-change.ts";
import { newRequestId } from "../../pending.ts";
import { useSettled } from "../../use-settled.ts";
import { shortAccount } from "../../words.ts";

export interface Lacking {
  counter: string;
  // How much more than was left the refused request asked for.
  amount: string;
}

export interface LimitStart {
  dataset?: string;
  account?: string;
  reason?: string;
  lacking?: Lacking;
  // The request of an analyst that the proposal takes up.
  takesUp?: LimitProposal;
}

interface Props {
  kind: "propose" | "request";
  // Of which one is chosen.
  datasets: Dataset[];
  start?: LimitStart;
  onClose: () => void;
  onDone: (made: LimitProposal, dataset: string) => void;
}

interface Form {
  dataset: string;
  account: string;
  which: "epsilon" | "delta";
  value: string;
  reason: string;
}

type Order = {
  dataset: string;
  account: string;
  epsilon?: string;
  delta?: string;
  reason: string;
  request_id: string;
};

function orderOf(form: Form, requestId: string, reason: string): Order {
  return {
    dataset: form.dataset,
    account: form.account,
    [form.which]: form.value.trim(),
    reason,
    request_id: requestId,
  };
}

function firstForm(
  { dataset = "", account = "", reason = "", takesUp }: LimitStart,
  datasets: Dataset[],
): Form {
  const changesDelta = takesUp !== undefined && takesUp.old_promise?.epsilon === takesUp.new_promise?.epsilon;
  return {
    dataset: dataset || (datasets[0]?.name ?? ""),
    account: takesUp?.account ?? account,
    which: changesDelta ? "delta" : "epsilon",
    value: (changesDelta ? takesUp?.new_promise?.delta : takesUp?.new_promise?.epsilon) ?? "",
    reason: takesUp?.reason ?? reason,
  };
}

function LackingWords({ preview, lacking }: { preview: LimitProposal; lacking: Lacking }) {
  if (preview.counter !== lacking.counter) return null;
  const fits = compare(subtract(preview.new_limit, preview.old_limit), lacking.amount) >= 0;
  return (
    <p class={fits ? "small" : "small warn-text"}>
      {fits
        ? "The refused request would fit, as things are."
        : "The refused request would still not fit: ask for more."}
    </p>
  );
}

// What the server says the change would be. The reason is not checked yet, so any text will do for it.
function Preview({
  kind,
  form,
  requestId,
  account,
  protects,
  lacking,
}: {
  kind: Props["kind"];
  form: Form;
  requestId: string;
  account: Account;
  protects: string;
  lacking: Lacking | undefined;
}) {
  const settled = useSettled(form);
  const isComplete = isDecimal(settled.value) && settled.account !== "";
  const order = { ...orderOf(settled, requestId, "-"), validate_only: true };
  const method = kind === "propose" ? "BudgetService/ProposeLimitChange" : "BudgetService/RequestLimitChange";
  const { data, error } = useCall(method, isComplete ? order : undefined, { poll: false });
  if (form.value.trim() === "") return <p class="quiet small">What it would change is shown here.</p>;
  if (!isDecimal(form.value))
    return <p class="small warn-text">Write a decimal number, such as 2.5 or 1e-9.</p>;
  if (error) return <ChangeNotice error={error} what="This change is not possible." />;
  if (!data) return <Skeleton height={8} />;
  const counter = account.counters.find(({ name }) => name === data.counter);
  return (
    <>
      <PromiseDiff proposal={data} counter={counter} protects={protects} />
      {lacking && <LackingWords preview={data} lacking={lacking} />}
    </>
  );
}

const TEXTS = {
  propose: {
    title: "Propose a change of a limit",
    button: "Propose",
    problem: "It was not proposed.",
    note: "Nothing changes until an approver, another person, agrees. The history keeps it and its reason.",
  },
  request: {
    title: "Request a raise",
    button: "Send the request",
    problem: "The request was not sent.",
    note: "The owner proposes the change, and an approver decides. The history keeps it and its reason.",
  },
};

function ValueField({
  account,
  form,
  change,
}: {
  account: Account;
  form: Form;
  change: (part: Partial<Form>) => void;
}) {
  const { promise } = account;
  const isAdvanced = promise?.rule === "RULE_ADVANCED";
  return (
    <>
      {isAdvanced && (
        <ChoiceField
          label="What changes"
          name="which"
          value={form.which}
          onChange={(which) => change({ which: which as Form["which"], value: "" })}
          options={[
            { value: "epsilon", text: "epsilon" },
            { value: "delta", text: "delta" },
          ]}
        />
      )}
      <TextField
        label={`New ${form.which}`}
        value={form.value}
        onInput={(value) => change({ value })}
        hint={`Now ${form.which === "epsilon" ? promise?.epsilon : promise?.delta}.`}
      />
    </>
  );
}

export function LimitDialog({ kind, datasets, start = {}, onClose, onDone }: Props) {
  // Of what is only looked at, which is never made.
  const [previewId] = useState(newRequestId);
  const requestIdOf = useRequestId();
  const [form, setForm] = useState(() => firstForm(start, datasets));
  const change = (part: Partial<Form>) => setForm((before) => ({ ...before, ...part }));
  const { data: budget, error } = useCall(
    "BudgetService/GetBudget",
    form.dataset ? { dataset: form.dataset } : undefined,
    { poll: false },
  );
  const accounts = budget?.accounts ?? [];
  const account =
    accounts.find(({ name }) => name === form.account) ?? (form.account === "" ? accounts[0] : undefined);
  const { takesUp, lacking } = start;
  const texts = TEXTS[kind];

  useEffect(() => {
    if (!account) return;
    const counter = lacking && account.counters.find(({ name }) => name === lacking.counter);
    const guess =
      lacking && counter && account.promise
        ? promiseWith(account.promise, lacking.counter, counter.limit, lacking.amount)
        : undefined;
    setForm((before) => ({
      ...before,
      account: account.name,
      ...(guess && before.value === ""
        ? {
            which: guess.delta ? ("delta" as const) : ("epsilon" as const),
            value: guess.delta ?? guess.epsilon ?? "",
          }
        : {}),
    }));
  }, [account?.name]);

  const {
    start: send,
    busy,
    error: problem,
  } = useChange(async () => {
    const order = orderOf(form, "", form.reason.trim());
    order.request_id = requestIdOf([kind, takesUp?.id, order]);
    const made =
      kind === "request"
        ? await call("BudgetService/RequestLimitChange", order)
        : await call(
            "BudgetService/ProposeLimitChange",
            takesUp ? { ...order, takes_up: takesUp.id } : order,
          );
    onDone(made, form.dataset);
  });
  const isComplete = account !== undefined && isDecimal(form.value) && form.reason.trim() !== "";

  return (
    <Dialog
      title={takesUp ? `Propose what ${takesUp.proposed_by} asks for` : texts.title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={!isComplete} onClick={() => void send()}>
            {texts.button}
          </Button>
        </>
      }
    >
      <p class="small quiet">{texts.note}</p>
      {!takesUp && datasets.length > 1 && (
        <SelectField
          label="Dataset"
          value={form.dataset}
          onChange={(dataset) => change({ dataset, account: "", value: "" })}
          options={datasets.map(({ name }) => ({ value: name, text: name }))}
        />
      )}
      {error && <ErrorNotice error={error} what="The budget" />}
      {!budget && !error && <Skeleton height={6} />}
      {budget && accounts.length === 0 && <Notice title="This dataset is public: it has no limit." />}
      {budget && accounts.length > 0 && !account && (
        <Notice kind="warn" title={`You do not see the account ${form.account}.`} />
      )}
      {account && (
        <>
          {takesUp || accounts.length === 1 ? (
            <p>
              <span class="quiet">Account:</span> {shortAccount(account.name, form.dataset)}
            </p>
          ) : (
            <SelectField
              label="Account"
              value={account.name}
              onChange={(name) => change({ account: name, value: "" })}
              options={accounts.map(({ name }) => ({ value: name, text: shortAccount(name, form.dataset) }))}
            />
          )}
          <ValueField account={account} form={form} change={change} />
          <div class="preview" aria-live="polite">
            <Preview
              kind={kind}
              form={form}
              requestId={previewId}
              account={account}
              protects={budget?.protects ?? ""}
              lacking={lacking}
            />
          </div>
          <TextArea
            label="Reason"
            hint="The history keeps it for ever: names of people do not belong here."
            value={form.reason}
            onInput={(reason) => change({ reason })}
          />
        </>
      )}
      <ChangeNotice error={problem} what={texts.problem} />
    </Dialog>
  );
}
