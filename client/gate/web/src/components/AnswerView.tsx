// An answer: its tables as dots with interval bars, two-way marginals as small multiples, and all of it as
// one CSV file.
import { useState } from "preact/hooks";
import type { Schema } from "../api/types.ts";
import { answerCsv, tablesOfStatistics, type Answer, type AnswerTable, type Row } from "../answer.ts";
import { levelText } from "../confidence.ts";
import { csvOf, type Cell } from "../csv.ts";
import { download } from "../download.ts";
import { drawBars, spanOf, type Mark } from "../error-bars.ts";
import { counted, exactText, roundedText } from "../numbers.ts";
import { svgFile, label, type Shape } from "../svg.ts";
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
const FILE_WIDTH = 760;

interface Panel {
  title: string;
  marks: Mark[];
}

// Columns that say the same in every row of a table with several rows.
function constantColumns({ columns, rows, isMarginal }: AnswerTable): Set<number> {
  const [first] = rows;
  if (isMarginal || !first || rows.length < 2) return new Set();
  const constant = columns
    .map((_, i) => i)
    .filter((i) => rows.every((row) => row.labels[i] === first.labels[i]));
  return new Set(constant.length < columns.length ? constant : []);
}

function markOf({ labels, count, value, lower, upper }: Row, isLeftOut: (column: number) => boolean): Mark {
  const label = labels.filter((_, i) => !isLeftOut(i)).join(", ") || "all records";
  return { label, value, exact: count, lower, upper };
}

// A two-way marginal has a panel for each value of its first attribute; everything else is one panel, with
// what all its rows have in common as its title.
function panelsOf(table: AnswerTable): Panel[] {
  const { columns, rows } = table;
  if (!table.isMarginal || columns.length !== 2) {
    const common = constantColumns(table);
    const title = [...common].map((i) => `${columns[i]}: ${rows[0]?.labels[i]}`).join(", ");
    return [{ title, marks: rows.map((row) => markOf(row, (i) => common.has(i))) }];
  }
  const panels = new Map<string, Mark[]>();
  for (const row of rows) {
    const of = panels.get(row.labels[0] ?? "") ?? [];
    of.push(markOf(row, (i) => i === 0));
    panels.set(row.labels[0] ?? "", of);
  }
  return [...panels].map(([value, marks]) => ({ title: `${columns[0]}: ${value}`, marks }));
}

function tableData(table: AnswerTable): { header: string[]; rows: Cell[][] } {
  const hasDeviation = table.rows.some((row) => row.deviation !== undefined);
  const hasInterval = table.level > 0;
  const exact = (value: number | undefined) => (value === undefined ? undefined : exactText(value));
  return {
    header: [
      ...table.columns,
      table.isStatistics ? "value" : "count",
      ...(hasDeviation ? ["standard_deviation"] : []),
      ...(hasInterval ? ["lower", "upper"] : []),
    ],
    rows: table.rows.map((row) => [
      ...row.labels,
      row.count,
      ...(hasDeviation ? [exact(row.deviation)] : []),
      ...(hasInterval ? [exact(row.lower), exact(row.upper)] : []),
    ]),
  };
}

function tableSvg(table: AnswerTable, title: string): string {
  const panels = panelsOf(table);
  const span = spanOf(panels.flatMap((panel) => panel.marks));
  const shapes: Shape[] = [];
  let top = 0;
  for (const panel of panels) {
    if (panel.title !== "") {
      shapes.push(label("name", "start", 8, top + 14, panel.title));
      top += 20;
    }
    const drawing = drawBars(panel.marks, FILE_WIDTH, span);
    shapes.push({ tag: "g", attributes: { transform: `translate(0 ${top})` }, children: drawing.shapes });
    top += drawing.height + 12;
  }
  return svgFile(title, FILE_WIDTH, top, shapes);
}

function subtitle(table: AnswerTable): string {
  // The intervals of statistics are not symmetric.
  const symmetric = table.isStatistics ? [] : table.rows;
  const halves = new Set(
    symmetric.map(({ value, upper }) => (upper === undefined ? "" : roundedText(upper - value))),
  );
  const [half] = halves;
  return [
    counted(table.rows.length, table.isMarginal ? "cell" : table.isStatistics ? "group" : "answer"),
    table.noise,
    halves.size === 1 && half ? `${levelText(table.level)} within ±\u00a0${half}` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function AnswerChart({ table, file }: { table: AnswerTable; file: string }) {
  const panels = panelsOf(table);
  const span = spanOf(panels.flatMap((panel) => panel.marks));
  const what = table.isStatistics ? "Values" : "Counts";
  const describe = (panel: Panel) =>
    `${what} with intervals: ${table.title}${panel.title ? `, ${panel.title}` : ""}`;
  return (
    <ChartFrame
      title={table.title}
      remark={subtitle(table)}
      file={`${file}-${table.name}`}
      data={() => tableData(table)}
      svg={() => tableSvg(table, `${table.title} (${subtitle(table)})`)}
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
  const { header, rows } = tableData(table);
  return (
    <Table<{ cells: Cell[]; key: string }>
      caption={`${table.title} (${subtitle(table)})`}
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
function StatisticsAnswer({ table, schema, file }: { table: AnswerTable; schema: Schema; file: string }) {
  const charts = tablesOfStatistics(table);
  return (
    <>
      <StatisticsTable table={table} file={file} />
      <StatisticsNotes table={table} schema={schema} />
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
            const [names, rows] = answerCsv(answer, schema);
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
          These numbers were changed after they were measured ({header.post_processing}): they have no
          intervals.
        </p>
      )}
      {shown.map((table, i) =>
        table.isStatistics ? (
          <StatisticsAnswer key={`${choice}-${i}`} table={table} schema={schema} file={file} />
        ) : isChart(table) ? (
          <AnswerChart key={`${choice}-${i}`} table={table} file={file} />
        ) : (
          <AnswerNumbers key={`${choice}-${i}`} table={table} file={file} />
        ),
      )}
    </>
  );
}
