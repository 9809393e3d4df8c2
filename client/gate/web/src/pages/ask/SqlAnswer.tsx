// The answer of a statement in SQL: the rows that it shows, what they cost, and where all of it is stored.
import { useMemo } from "preact/hooks";
import { assemble, type AnswerTable } from "../../answer.ts";
import type { AnswerChunk, AnswerHeader, Dataset, Schema } from "../../api/types.ts";
import { Button } from "../../components/Button.tsx";
import { DataFacts } from "../../components/DataFacts.tsx";
import { Link } from "../../components/Link.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { NumberNotes } from "../../components/StatisticsView.tsx";
import { Table } from "../../components/Table.tsx";
import { Amount } from "../../components/Values.tsx";
import { levelText } from "../../confidence.ts";
import { sameCosts } from "../../costs.ts";
import { csvOf } from "../../csv.ts";
import { percent } from "../../decimal.ts";
import { download } from "../../download.ts";
import { counted } from "../../numbers.ts";
import { to } from "../../router.ts";
import {
  cellText,
  cellValue,
  clippedOfSql,
  csvOfSql,
  rowsOfSql,
  type SqlCell,
  type SqlRows,
} from "../../sql.ts";
import { shortAccount } from "../../words.ts";
import type { AnswerRequest } from "../Ask.tsx";

const NO_ATTRIBUTES: Schema = { attributes: [] };

function Facts({ dataset, header }: { dataset: string; header: AnswerHeader }) {
  return (
    <dl class="facts">
      {sameCosts(header.costs).map(({ amount, counter, accounts, share }) => (
        <div key={`${counter} ${amount}`}>
          <dt>Cost</dt>
          <dd title={accounts.join(", ")}>
            <Amount value={amount} unit={counter} rounding="up" />
            {accounts.length === 1
              ? ` on ${shortAccount(accounts[0] ?? "", dataset)}`
              : ` on each of ${accounts.length} accounts`}
            {share > 0 && `, ${percent(share)} of ${accounts.length === 1 ? "its promise" : "a promise"}`}
          </dd>
        </div>
      ))}
      {header.request_id !== "" && (
        <div>
          <dt>Request</dt>
          <dd>
            <code>{header.request_id}</code>
          </dd>
        </div>
      )}
      {header.release_id !== "" && (
        <div>
          <dt>Release, with all groups</dt>
          <dd>
            <Link href={to("/releases/:release", { release: header.release_id })}>{header.release_id}</Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

function FreeNotice({ from }: { from: string[] }) {
  return (
    <Notice kind="good" title="Made from earlier releases: nothing was charged.">
      <span>
        {from.map((id, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <Link href={to("/releases/:release", { release: id })}>{id}</Link>
          </span>
        ))}
      </span>
    </Notice>
  );
}

function Rows({ rows: { columns, rows }, level }: { rows: SqlRows; level: number }) {
  const intervals = level > 0 ? `, ${levelText(level)} intervals` : "";
  return (
    <Table<{ cells: SqlCell[]; key: string }>
      caption={`${counted(rows.length, "group")}${intervals}`}
      rows={rows.map((cells, i) => ({ cells, key: String(i) }))}
      rowKey={({ key }) => key}
      empty={<p>No group is shown: HAVING, LIMIT or OFFSET leave none.</p>}
      columns={columns.map(({ name, isStatistic }, i) => ({
        key: String(i),
        title: name,
        right: isStatistic,
        value: ({ cells }) => cellValue(cells[i] as SqlCell),
        cell: ({ cells }) => cellText(cells[i] as SqlCell),
      }))}
    />
  );
}

interface Read {
  header: AnswerHeader;
  table: AnswerTable;
  rows: SqlRows;
}

function read(chunks: AnswerChunk[], dataset: Dataset, request: AnswerRequest): Read {
  const { header, tables } = assemble(chunks, dataset.schema ?? NO_ATTRIBUTES);
  const [table] = tables;
  if (!table?.isStatistics || tables.length !== 1) throw new Error("It is not one set of statistics.");
  return { header, table, rows: rowsOfSql(table, request.selection ?? {}) };
}

interface Props {
  dataset: Dataset;
  request: AnswerRequest;
  chunks: AnswerChunk[];
  onClose: () => void;
}

function Unread({ problem, header }: { problem: Error; header: AnswerHeader | undefined }) {
  return (
    <Notice kind="bad" title="The answer cannot be shown here.">
      <p>{problem.message}</p>
      {header && header.release_id !== "" && (
        <p>
          It is stored, and can be looked at for free:{" "}
          <Link href={to("/releases/:release", { release: header.release_id })}>{header.release_id}</Link>
        </p>
      )}
    </Notice>
  );
}

export function SqlAnswer({ dataset, request, chunks, onClose }: Props) {
  const answer = useMemo(() => {
    try {
      return read(chunks, dataset, request);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }, [chunks, dataset, request]);
  const clipped = clippedOfSql(request, dataset.schema ?? NO_ATTRIBUTES);
  return (
    <Card
      title="Answer"
      aside={
        <Button kind="plain" onClick={onClose}>
          Ask another question
        </Button>
      }
    >
      {answer instanceof Error ? (
        <Unread problem={answer} header={chunks[0]?.header} />
      ) : (
        <>
          {answer.header.free_from.length > 0 && <FreeNotice from={answer.header.free_from} />}
          <DataFacts of={answer.header} />
          <Rows rows={answer.rows} level={answer.table.level} />
          {clipped.length > 0 && <p class="small">These are the statistics of {clipped.join(" and of ")}.</p>}
          <NumberNotes table={answer.table} />
          <div class="actions">
            <Button
              onClick={() =>
                download(`answer-${dataset.name}.csv`, "text/csv", csvOf(...csvOfSql(answer.rows)))
              }
            >
              Download the rows as CSV
            </Button>
          </div>
          <Facts dataset={dataset.name} header={answer.header} />
        </>
      )}
    </Card>
  );
}
