// Verifies receipts in the browser: their signatures against the key that the reader trusts, and their places
// in the hash chain.
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { asApiError, type ApiError } from "../../api/error.ts";
import type { ChainLink } from "../../api/types.ts";
import { bytesOfHex, hexOfBase64 } from "../../bytes.ts";
import { Button } from "../../components/Button.tsx";
import { Command } from "../../components/Command.tsx";
import { Field, TextField } from "../../components/Field.tsx";
import { Icon } from "../../components/icons.tsx";
import { ErrorNotice, Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { ShortId } from "../../components/Values.tsx";
import {
  canVerify,
  checkAlone,
  NotAReceipt,
  parseReceipts,
  walkChain,
  type CheckedReceipt,
} from "../../receipt.ts";

const PIN = "curator.receipt-key";
const MOST_PARTS = 100;
const MOST_RECEIPTS = 10000;

function storedPin(): string {
  try {
    return window.localStorage.getItem(PIN) ?? "";
  } catch {
    return "";
  }
}

function storePin(key: string): void {
  try {
    window.localStorage.setItem(PIN, key);
  } catch {
    // Then the reader pastes it again the next time.
  }
}

function isKey(text: string): boolean {
  return bytesOfHex(text)?.length === 32;
}

interface Outcome {
  receipts: CheckedReceipt[];
  findings: string[];
}

async function linksAfter(dataset: string, after: bigint): Promise<ChainLink[]> {
  const links: ChainLink[] = [];
  let from = after;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const { messages, truncated } = await call("BudgetService/ListChainLinks", {
      dataset,
      after_sequence: String(from),
    });
    links.push(...messages);
    const last = messages[messages.length - 1];
    if (!truncated || !last) break;
    from = BigInt(last.sequence);
  }
  return links;
}

async function check(dataset: string, text: string, key: string): Promise<Outcome> {
  const lines = parseReceipts(text);
  if (lines.length === 0) throw new NotAReceipt("There is no receipt in it.");
  if (lines.length > MOST_RECEIPTS)
    throw new NotAReceipt(`At most ${MOST_RECEIPTS} receipts are checked at once.`);
  const ledger = await call("BudgetService/VerifyLedger", { dataset });
  const { subtle } = crypto;
  const receipts: CheckedReceipt[] = [];
  for (const line of lines) {
    receipts.push(
      await checkAlone(subtle, line, key, { ledgerId: ledger.ledger_id, datasetId: ledger.dataset_id }),
    );
  }
  const places = receipts
    .filter((receipt) => receipt.problem === "")
    .map((receipt) => receipt.statement?.sequence ?? 0n);
  if (places.length === 0) return { receipts, findings: [] };
  const first = places.reduce((least, place) => (place < least ? place : least));
  const links = await linksAfter(dataset, first - 1n);
  return { receipts, findings: await walkChain(subtle, links, receipts, ledger.head_hash) };
}

function Results({ receipts, findings }: Outcome) {
  const bad = receipts.filter((receipt) => receipt.problem !== "").length;
  const isGood = bad === 0 && findings.length === 0;
  const title = isGood
    ? receipts.length === 1
      ? "The history contains the charge of this receipt."
      : `The history contains the charges of all ${receipts.length} receipts.`
    : bad > 0
      ? `${bad} of ${receipts.length} receipts ${bad === 1 ? "fails" : "fail"} the check.`
      : "The chain fails the check.";
  return (
    <Notice kind={isGood ? "good" : "bad"} title={title}>
      <ul class="checks small">
        {findings.map((finding) => (
          <li key={finding}>
            <span class="state bad">
              <Icon name="cross" />
            </span>
            <span>Chain: {finding}</span>
          </li>
        ))}
        {receipts.slice(0, 100).map(({ statement, problem }, i) => (
          <li key={i}>
            <span class={problem === "" ? "state good" : "state bad"}>
              <Icon name={problem === "" ? "check" : "cross"} />
            </span>
            <span>
              Receipt {i + 1}
              {statement && (
                <>
                  , charge <ShortId value={statement.chargeId} />, entry {String(statement.sequence)}
                </>
              )}
              {problem === "" ? ": signed with your key, and in the chain" : `: ${problem}`}
            </span>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Offline({ dataset }: { dataset: string }) {
  return <Command text={`curator ledger verify ${dataset} --receipts FILE --key HEX`} />;
}

function useReceiptFile(onText: (text: string) => void) {
  const [isOver, setOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (file) onText(await file.text());
  };
  return {
    isOver,
    read,
    handlers: {
      onDragOver: (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        void read(event.dataTransfer?.files[0]);
      },
    },
  };
}

function KeyField({ value, onChange }: { value: string; onChange: (key: string) => void }) {
  const [error, setError] = useState<ApiError>();
  const ask = async () => {
    setError(undefined);
    try {
      onChange(hexOfBase64((await call("BudgetService/GetReceiptKey", {})).public_key));
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <>
      <TextField
        label="The key that you trust"
        mono
        value={value}
        onInput={onChange}
        problem={value === "" || isKey(value) ? undefined : "A key has 64 hexadecimal digits."}
        hint={
          <>
            As <code>curator ledger key</code> printed it when you got your first receipt. It is kept in this
            browser.
          </>
        }
      />
      <div class="row">
        <Button kind="plain" onClick={() => void ask()}>
          Use the key that the server has now
        </Button>
        <span class="small quiet">This trusts the server of today.</span>
      </div>
      {error && <ErrorNotice error={error} what="The key" />}
    </>
  );
}

export function ReceiptCheck({ dataset }: { dataset: string }) {
  const [isAble, setAble] = useState<boolean>();
  const [key, setKey] = useState(storedPin);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [problem, setProblem] = useState("");
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    void canVerify(globalThis.crypto?.subtle).then(setAble);
  }, []);
  const take = (next: string) => {
    setText(next);
    setOutcome(undefined);
    setProblem("");
    setError(undefined);
  };
  const file = useReceiptFile(take);

  const run = async () => {
    setBusy(true);
    setOutcome(undefined);
    setProblem("");
    setError(undefined);
    try {
      storePin(key);
      setOutcome(await check(dataset, text, key));
    } catch (thrown) {
      if (thrown instanceof NotAReceipt) setProblem(thrown.message);
      else setError(asApiError(thrown));
    }
    setBusy(false);
  };

  return (
    <Card title="Check receipts">
      <p class="quiet small">
        Your browser verifies the signatures and follows the chain. It cannot prove that the page itself is
        honest, for it comes from the same server. This command does, on your machine:
      </p>
      <Offline dataset={dataset} />
      {isAble === false && (
        <Notice kind="warn" title="This browser cannot verify signatures (Ed25519).">
          <p>Use the command above, or a newer browser over https.</p>
        </Notice>
      )}
      {isAble && (
        <>
          <div class={file.isOver ? "drop over" : "drop"} {...file.handlers}>
            <Field
              label="Receipts"
              hint={
                <>
                  Paste lines of the file that <code>--receipt</code> wrote, or drop the file here.
                </>
              }
              problem={problem || undefined}
            >
              {(control) => (
                <textarea
                  {...control}
                  class="mono"
                  spellcheck={false}
                  value={text}
                  onInput={(event) => take(event.currentTarget.value)}
                />
              )}
            </Field>
            <div>
              <label class="button file-button">
                Choose the file…
                <input
                  type="file"
                  class="unseen"
                  onChange={(event) => void file.read(event.currentTarget.files?.[0])}
                />
              </label>
            </div>
          </div>
          <KeyField value={key} onChange={(next) => setKey(next.trim())} />
          <div>
            <Button
              kind="primary"
              busy={busy}
              disabled={text.trim() === "" || !isKey(key)}
              onClick={() => void run()}
            >
              Check
            </Button>
          </div>
          {error && <ErrorNotice error={error} what="The chain" onRetry={() => void run()} />}
          {outcome && <Results {...outcome} />}
        </>
      )}
    </Card>
  );
}
