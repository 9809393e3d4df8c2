// The chart of a table of an answer: what its panels are, what is said beside its title, and its SVG file.
import type { AnswerTable, Row } from "./answer.ts";
import { levelText } from "./confidence.ts";
import { drawBars, spanOf, type Mark } from "./error-bars.ts";
import { counted, roundedText } from "./numbers.ts";
import { clippedText } from "./statistics.ts";
import { label, svgFile, type Shape } from "./svg.ts";

const FILE_WIDTH = 760;

export interface Panel {
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
  const own = labels.filter((_, i) => !isLeftOut(i));
  return { labels: own.length > 0 ? own : ["all records"], value, exact: count, lower, upper };
}

// A two-way marginal has a panel for each value of its first attribute; everything else is one panel, with
// what all its rows have in common as its title.
export function panelsOf(table: AnswerTable): Panel[] {
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

// "8 cells, Laplace noise, 95 % within ± 12", "2 groups, income clipped to 0..200000".
export function remarkOf(table: AnswerTable): string {
  const { rows, isMarginal, isStatistics, noise, level, measures, method } = table;
  // The intervals of statistics and of post-processed answers are not symmetric.
  const symmetric = isStatistics || method === "post-processed" ? [] : rows;
  const halves = new Set(
    symmetric.map(({ value, upper }) => (upper === undefined ? "" : roundedText(upper - value))),
  );
  const [half] = halves;
  return [
    counted(rows.length, isMarginal ? "cell" : isStatistics ? "group" : "answer"),
    noise,
    halves.size === 1 && half ? `${levelText(level)} within ±\u00a0${half}` : "",
    ...measures.map(clippedText),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

export function chartSvg(table: AnswerTable): string {
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
  return svgFile({ title: table.title, remark: remarkOf(table) }, FILE_WIDTH, top, shapes);
}
