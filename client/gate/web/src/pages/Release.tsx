// One stored answer, or one synthetic population.
import { useMemo, useState } from "preact/hooks";
import { assemble } from "../answer.ts";
import { attempt } from "../attempt.ts";
import { call } from "../api/client.ts";
import { asApiError, type ApiError } from "../api/error.ts";
import type { SynthesisSummary } from "../api/synthesis-types.ts";
import type { AnswerChunk, Cost, GetReleaseChunk, Release, Schema } from "../api/types.ts";
import { useCall } from "../api/use-call.ts";
import { bytesOfBase64 } from "../bytes.ts";
import { AnswerView } from "../components/AnswerView.tsx";
import { Button } from "../components/Button.tsx";
import { Command } from "../components/Command.tsx";
import { CostFacts } from "../components/CostFacts.tsx";
import { DataFacts } from "../components/DataFacts.tsx";
import { SkeletonLines, Skeleton } from "../components/Empty.tsx";
import { ChoiceField } from "../components/Field.tsx";
import { Gloss } from "../components/Gloss.tsx";
import { Link } from "../components/Link.tsx";
import { ErrorNotice, Notice } from "../components/Notice.tsx";
import { Card, Page } from "../components/Page.tsx";
import { Table } from "../components/Table.tsx";
import { Time } from "../components/Values.tsx";
import { LEVELS, levelText, storedLevel, storeLevel, type Level } from "../confidence.ts";
import { parseCsv } from "../csv.ts";
import { download } from "../download.ts";
import { bytesText, counted } from "../numbers.ts";
import { receiptLine } from "../receipt.ts";
import { to } from "../router.ts";
import type { PageProps } from "../routes.tsx";

const PREVIEW_ROWS = "50";

function chunksOf<Key extends keyof GetReleaseChunk>(
  messages: GetReleaseChunk[],
  key: Key,
): NonNullable<GetReleaseChunk[Key]>[] {
  return messages
    .map((message) => message[key])
    .filter((part): part is NonNullable<GetReleaseChunk[Key]> => part !== undefined);
}

function ReceiptButton({ chargeId }: { chargeId: string }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const save = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { receipt } = await call("AccountantService/GetCharge", { charge_id: chargeId });
      if (receipt) download(`receipt-${chargeId}.jsonl`, "application/jsonl", receiptLine(receipt));
    } catch (thrown) {
      setProblem(asApiError(thrown));
    }
    setBusy(false);
  };
  return (
    <>
      <div class="row">
        <Button busy={busy} onClick={() => void save()}>
          Download the receipt
        </Button>
        <span class="small quiet">
          A <Gloss term="receipt" /> proves later that the history still contains the charge.
        </span>
      </div>
      {problem && <ErrorNotice error={problem} what="The receipt" />}
    </>
  );
}

function Facts({ release, costs }: { release: Release; costs: Cost[] }) {
  return (
    <Card title="About this release">
      <dl class="facts">
        <div>
          <dt>Dataset</dt>
          <dd>
            <Link href={to("/datasets/:dataset", { dataset: release.dataset })}>{release.dataset}</Link>
          </dd>
        </div>
        <div>
          <dt>Paid by</dt>
          <dd>{release.principal}</dd>
        </div>
        <div>
          <dt>Made</dt>
          <dd>
            <Time value={release.create_time} />
          </dd>
        </div>
        <CostFacts dataset={release.dataset} costs={costs} />
        <div>
          <dt>Size</dt>
          <dd>{bytesText(Number(release.size_bytes))}</dd>
        </div>
        <div>
          <dt>Release</dt>
          <dd>
            <code>{release.id}</code>
          </dd>
        </div>
        <div>
          <dt>Charge</dt>
          <dd>
            <code>{release.charge_id}</code>
          </dd>
        </div>
      </dl>
      {release.charge_id !== "" && <ReceiptButton chargeId={release.charge_id} />}
    </Card>
  );
}

function TooLarge({ release }: { release: string }) {
  return (
    <Notice kind="warn" title="This is too large for the browser.">
      <p>The command line has all of it, free:</p>
      <Command text={`curator release show ${release} --out FILE.csv`} />
    </Notice>
  );
}

function StoredAnswer({
  release,
  chunks,
  schema,
}: {
  release: Release;
  chunks: AnswerChunk[];
  schema: Schema;
}) {
  const answer = useMemo(() => attempt(() => assemble(chunks, schema)), [chunks, schema]);
  if (answer instanceof Error)
    return (
      <Notice kind="bad" title="The answer cannot be read.">
        <p>{answer.message}</p>
      </Notice>
    );
  return <AnswerView answer={answer} schema={schema} file={`release-${release.id}`} />;
}

function textOf(messages: { csv: string }[]): string {
  const decoder = new TextDecoder();
  return (
    messages.map(({ csv }) => decoder.decode(bytesOfBase64(csv), { stream: true })).join("") +
    decoder.decode()
  );
}

function Preview({ release }: { release: string }) {
  const { data, error, reload } = useCall(
    "SynthesisService/SampleModel",
    { release_id: release, rows: PREVIEW_ROWS },
    { poll: false },
  );
  const [header = [], ...rows] = useMemo(() => (data ? parseCsv(textOf(data.messages)) : []), [data]);
  if (error && !data) return <ErrorNotice error={error} what="The sample" onRetry={reload} />;
  if (!data) return <SkeletonLines lines={40} />;
  return (
    <Table<{ cells: string[]; key: string }>
      caption={`The first ${counted(rows.length, "synthetic row")}`}
      rows={rows.map((cells, i) => ({ cells, key: String(i) }))}
      rowKey={(row) => row.key}
      columns={header.map((name, i) => ({
        key: name,
        title: name,
        value: (row) => row.cells[i],
        cell: (row) => row.cells[i] ?? "",
      }))}
    />
  );
}

function Sample({ release }: { release: Release }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isTooLarge, setTooLarge] = useState(false);
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { messages, truncated } = await call("SynthesisService/SampleModel", { release_id: release.id });
      setTooLarge(truncated);
      if (!truncated) download(`synthetic-${release.id}.csv`, "text/csv", textOf(messages));
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  return (
    <Card title="Sample">
      <p class="quiet small">
        Invented rows, drawn from the model. None of them is a real record. Drawing is free, and gives the
        same rows each time.
      </p>
      <Preview release={release.id} />
      <div>
        <Button busy={busy} onClick={() => void save()}>
          Download a whole population as CSV
        </Button>
      </div>
      {error && <ErrorNotice error={error} what="The sample" />}
      {isTooLarge && (
        <Notice kind="warn" title="It is too large for the browser.">
          <Command text={`curator release sample ${release.id} --out FILE.csv`} />
        </Notice>
      )}
    </Card>
  );
}

function Synthesis({ release, summary }: { release: Release; summary: SynthesisSummary }) {
  const settings = Object.entries(summary.settings).sort(([left], [right]) =>
    left.localeCompare(right, "en"),
  );
  return (
    <>
      <Sample release={release} />
      <Card title="How it was made">
        <dl class="facts">
          <div>
            <dt>Method</dt>
            <dd>{summary.method}</dd>
          </div>
          <div>
            <dt>Noisy number of records</dt>
            <dd>{summary.records}</dd>
          </div>
          <div>
            <dt>Protects</dt>
            <dd>{summary.protects}</dd>
          </div>
          <div>
            <dt>Recorded as</dt>
            <dd>{summary.event}</dd>
          </div>
          {settings.map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <details>
          <summary>Transcript, {counted(summary.transcript.length, "step")}</summary>
          <Command text={summary.transcript.join("\n")} label="Transcript" />
        </details>
      </Card>
    </>
  );
}

function Loading() {
  return (
    <>
      <div class="card">
        <Skeleton height={48} />
      </div>
    </>
  );
}

export function ReleasePage({ params }: PageProps) {
  const id = params["release"] ?? "";
  const [level, setLevel] = useState(storedLevel);
  const { data, error, loading, reload } = useCall(
    "QueryService/GetRelease",
    { release_id: id, confidence_level: Number(level) },
    { poll: false },
  );
  // The answer at the level before stays until the new one is there.
  const [shown, setShown] = useState(data);
  if (data !== undefined && data !== shown) setShown(data);
  const messages = useMemo(() => shown?.messages ?? [], [shown]);
  const release = messages[0]?.release;
  const { data: dataset, error: datasetError } = useCall(
    "DatasetService/GetDataset",
    release && { dataset: release.dataset },
    { poll: false },
  );
  const chunks = useMemo(() => chunksOf(messages, "answer"), [messages]);
  const [synthesis] = chunksOf(messages, "synthesis");
  const choose = (next: string) => {
    setLevel(next as Level);
    storeLevel(next as Level);
  };
  return (
    <Page
      title={release?.summary || "Release"}
      crumb={
        release ? (
          <>
            <Link href={to("/datasets/:dataset", { dataset: release.dataset })}>{release.dataset}</Link> /{" "}
            <Link href={to("/datasets/:dataset/releases", { dataset: release.dataset })}>Releases</Link>
          </>
        ) : (
          <Link href="/releases">Releases</Link>
        )
      }
    >
      {error && <ErrorNotice error={error} what="The release" onRetry={reload} />}
      {!release && !error && <Loading />}
      {release && shown?.truncated && <TooLarge release={id} />}
      {release && !shown?.truncated && chunks.length > 0 && (
        <Card title="Answer">
          <ChoiceField
            label="Intervals hold the true number with a probability of"
            name="level"
            value={level}
            onChange={choose}
            options={LEVELS.map((value) => ({ value, text: levelText(value) }))}
          />
          <div aria-busy={loading} class="stack">
            {dataset?.schema ? (
              <StoredAnswer release={release} chunks={chunks} schema={dataset.schema} />
            ) : datasetError ? (
              <ErrorNotice error={datasetError} what="The description of the dataset" />
            ) : (
              <Skeleton height={40} />
            )}
          </div>
        </Card>
      )}
      {release && synthesis && (
        <>
          <DataFacts of={dataset} />
          <Synthesis release={release} summary={synthesis} />
        </>
      )}
      {release && (dataset !== undefined || datasetError !== undefined) && (
        <Facts release={release} costs={chunks[0]?.header?.costs ?? []} />
      )}
    </Page>
  );
}
