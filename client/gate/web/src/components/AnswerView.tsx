// An answer: its tables as dots with interval bars, two-way marginals as small multiples, and all of it as
// one CSV file.
import { useState } from "preact/hooks";
import type { Schema } from "../api/types.ts";
import type { Answer, AnswerTable } from "../answer.ts";
import { chartSvg, panelsOf, remarkOf, type Panel } from "../answer-chart.ts";
import { answerCsv, tableCsv } from "../answer-files.ts";
import { csvOf, type Cell } from "../csv.ts";
import { download } from "../download.ts";
import { spanOf } from "../error-bars.ts";
import { roundedText } from "../numbers.ts";
import { clippedText, groupsText, rowsOf, tablesOfStatistics } from "../statistics.ts";
import { Button } from "./Button.tsx";
import { DataFacts } from "./DataFacts.tsx";
import { ChartFrame } from "./ChartFrame.tsx";
import { ErrorBars } from "./ErrorBars.tsx";
import { SelectField } from "./Field.tsx";
import { Gloss } from "./Gloss.tsx";
import { StatisticsNotes, StatisticsTable } from "./StatisticsView.tsx";
import { Table } from "./Table.tsx";

// More marks than this are no chart that can be read.
const MOST_MARKS = 2000;
const MOST_MARKS_AT_ONCE = 400;
function AnswerChart({ table, file }: { table: AnswerTable; file: string }) {
  const panels = panelsOf(table);
  const span = spanOf(panels.flatMap((panel) => panel.marks));
  const remark = remarkOf(table);
  const what = table.isStatistics ? "Values" : "Counts";
  const describe = (panel: Panel) =>
    `${what} with intervals: ${table.title} (${remark})${panel.title ? `, ${panel.title}` : ""}`;
  return (
    <ChartFrame
      title={table.title}
      remark={remark}
      file={`${file}-${table.name}`}
      data={() => tableCsv(table)}
      svg={() => chartSvg(table)}
    >
      <div class={panels.length > 1 ? "panels" : "panel"}>
        {panels.map((panel) => (
          <div class="panel" key={panel.title}>
            {panel.title !== "" && <div class="small">{panel.title}</div>}
            <ErrorBars marks={panel.marks} span={span} label={describe(panel)} />
          </div>
        ))}
      </div>
    </ChartFrame>
  );
}

// What is too large for a chart, or has more than two attributes.
function AnswerNumbers({ table, file }: { table: AnswerTable; file: string }) {
  const { header, rows } = tableCsv(table);
  return (
    <Table<{ cells: Cell[]; key: string }>
      caption={`${table.title} (${remarkOf(table)})`}
      file={`${file}-${table.name}`}
      rows={rows.map((cells, i) => ({ cells, key: String(i) }))}
      rowKey={(row) => row.key}
      columns={header.map((name, i) => ({
        key: name,
        title: name.replaceAll("_", " "),
        right: i >= table.columns.length,
        value: (row) => row.cells[i],
        cell: (row) =>
          i > table.columns.length ? roundedText(Number(row.cells[i] ?? 0)) : (row.cells[i] ?? ""),
      }))}
    />
  );
}

// The table of all statistics, and a chart of each, unless there are more than can be read.
function StatisticsAnswer({ table, file }: { table: AnswerTable; file: string }) {
  const charts = tablesOfStatistics(table);
  const of = rowsOf(table, {});
  return (
    <>
      <StatisticsTable
        caption={`${table.title} (${groupsText(of)})`}
        file={`${file}-${table.name}`}
        of={of}
      />
      <StatisticsNotes clipped={table.measures.map(clippedText)} of={of} />
      {table.rows.length <= MOST_MARKS &&
        charts.map((chart) => <AnswerChart key={chart.name} table={chart} file={file} />)}
    </>
  );
}

function isChart(table: AnswerTable): boolean {
  return table.rows.length <= MOST_MARKS && !(table.isMarginal && table.columns.length > 2);
}

interface Props {
  answer: Answer;
  schema: Schema;
  // Of the files, without their ending.
  file: string;
}

export function AnswerView({ answer, schema, file }: Props) {
  const { tables, header } = answer;
  const marks = tables.reduce((sum, table) => sum + table.rows.length, 0);
  const canShowAll = marks <= MOST_MARKS_AT_ONCE;
  const [choice, setChoice] = useState(canShowAll ? "all" : "0");
  const shown = choice === "all" ? tables : tables.slice(Number(choice), Number(choice) + 1);
  const options = tables.map((table, i) => ({ value: String(i), text: table.title }));
  return (
    <>
      <DataFacts of={header} />
      <div class="row ends">
        {tables.length > 1 && (
          <SelectField
            label="Table"
            value={choice}
            onChange={setChoice}
            options={canShowAll ? [{ value: "all", text: `all ${tables.length}` }, ...options] : options}
          />
        )}
        <Button
          onClick={() => {
            const { header: names, rows } = answerCsv(answer, schema);
            download(`${file}.csv`, "text/csv", csvOf(names, rows));
          }}
        >
          Download {tables.length > 1 ? `all ${tables.length} tables` : "it"} as CSV
        </Button>
      </div>
      {tables.some((table) => table.level > 0) && (
        <p class="small quiet">
          Each bar is an <Gloss term="interval">interval</Gloss> that holds the true number with the chosen
          probability, number by number. Noise makes some counts negative.
        </p>
      )}
      {header.post_processing !== "" && (
        <p class="small">
          These numbers were changed after they were measured ({header.post_processing}):{" "}
          {tables.some((table) => table.level > 0)
            ? "their intervals are those of the measured ones, made to hold them."
            : "they have no intervals."}
        </p>
      )}
      {shown.map((table, i) =>
        table.isStatistics ? (
          <StatisticsAnswer key={`${choice}-${i}`} table={table} file={file} />
        ) : isChart(table) ? (
          <AnswerChart key={`${choice}-${i}`} table={table} file={file} />
        ) : (
          <AnswerNumbers key={`${choice}-${i}`} table={table} file={file} />
        ),
      )}
    </>
  );
}
