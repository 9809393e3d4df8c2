// What the server measures of itself, for its operators.
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../components/Button.tsx";
import { SkeletonLines } from "../../components/Empty.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { Table } from "../../components/Table.tsx";
import { useNow } from "../../components/Values.tsx";
import { Icon, type IconName } from "../../components/icons.tsx";
import { download } from "../../download.ts";
import { grouped } from "../../numbers.ts";
import { parseMetrics } from "../../prometheus.ts";
import {
  certificates,
  issuers,
  ledgerFigures,
  refusalCounts,
  workFigures,
  type Figure,
  type Health,
  type NamedState,
} from "../../server-figures.ts";

const ICONS: Record<Health, IconName> = { good: "check", warn: "warning", bad: "cross" };

function Value({ text, health }: { text: string; health: Health | undefined }) {
  if (!health) return <span class="number">{text}</span>;
  return (
    <span class={`state ${health}`}>
      <Icon name={ICONS[health]} />
      {text}
    </span>
  );
}

function Figures({ title, figures }: { title: string; figures: Figure[] }) {
  if (figures.length === 0) return null;
  return (
    <Card title={title}>
      <dl class="facts">
        {figures.map(({ name, value, health }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value text={value} health={health} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function States({ title, states }: { title: string; states: NamedState[] }) {
  if (states.length === 0) return null;
  return (
    <Card title={title}>
      <dl class="facts">
        {states.map(({ name, text, health }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value text={text} health={health} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

export function Metrics() {
  const { data, error, reload } = useCall("MetricsService/GetMetrics", {});
  const now = useNow();
  if (!data) {
    return (
      <Card title="Figures">
        {error ? (
          <ErrorNotice error={error} what="The figures" onRetry={reload} />
        ) : (
          <SkeletonLines lines={6} />
        )}
      </Card>
    );
  }
  const samples = parseMetrics(data.text);
  const refused = refusalCounts(samples);
  return (
    <>
      {error && <ErrorNotice error={error} what="The figures" onRetry={reload} />}
      <Figures title="Ledger" figures={ledgerFigures(samples)} />
      <Figures title="Work" figures={workFigures(samples)} />
      <States title="Certificates" states={certificates(samples, now)} />
      <States title="Keys of issuers" states={issuers(samples)} />
      <Card
        title="Refused calls, since the server began"
        aside={
          <Button kind="plain" onClick={() => download("metrics.txt", "text/plain", data.text)}>
            Download all metrics
          </Button>
        }
      >
        <Table
          caption="Refused calls by reason"
          hideCaption
          rows={refused}
          rowKey={({ reason }) => reason}
          empty={<p class="quiet">None.</p>}
          columns={[
            {
              key: "reason",
              title: "Reason",
              value: ({ reason }) => reason,
              cell: ({ reason }) => <code>{reason}</code>,
            },
            {
              key: "count",
              title: "Calls",
              right: true,
              value: ({ count }) => count,
              cell: ({ count }) => grouped(count),
            },
          ]}
        />
      </Card>
    </>
  );
}
