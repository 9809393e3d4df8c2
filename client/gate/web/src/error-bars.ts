// Dots with interval bars: one row for each answer. The drawing; ErrorBars.tsx puts it into the page.
import { exactText, roundedText } from "./numbers.ts";
import { numberAxis, type Axis } from "./scale.ts";
import { label, line, px, type Shape } from "./svg.ts";

export interface Mark {
  label: string;
  value: number;
  // As it was sent.
  exact: string;
  lower: number | undefined;
  upper: number | undefined;
}

export interface BarsDrawing {
  width: number;
  height: number;
  shapes: Shape[];
}

const ROW = 22;
const AXIS = 24;
const CHARACTER = 6.8;
const WIDEST_LABEL = 22;
const CAP = 4;
const RIGHT = 18;

function shortened(text: string): string {
  return text.length > WIDEST_LABEL ? `${text.slice(0, WIDEST_LABEL - 1)}…` : text;
}

export interface Span {
  low: number;
  high: number;
}

// From zero or below to the largest finite end, so that lengths can be compared.
export function spanOf(marks: Mark[]): Span {
  let [low, high] = [0, 0];
  for (const { value, lower = value, upper = value } of marks) {
    for (const end of [lower, value, upper].filter(Number.isFinite)) {
      low = Math.min(low, end);
      high = Math.max(high, end);
    }
  }
  return { low, high: high === low ? low + 1 : high };
}

function words({ label: name, exact, lower, upper }: Mark): string {
  if (exact === "") return `${name}: none`;
  if (lower === undefined || upper === undefined) return `${name}: ${exact}`;
  const end = (number: number) => (Number.isFinite(number) ? roundedText(number) : "unbounded");
  return `${name}: ${exact} (${end(lower)} to ${end(upper)})`;
}

// A line with a cap at each end; an infinite end has none, and lies at the end of the axis.
function drawInterval(lower: number, upper: number, axis: Axis, middle: number): Shape[] {
  const at = (value: number) => axis.at(Math.min(Math.max(value, axis.low), axis.high));
  const [from, to] = [at(lower), at(upper)];
  const shapes = [line("interval", from, middle, to, middle)];
  if (to - from <= 2 * CAP) return shapes;
  if (Number.isFinite(lower)) shapes.push(line("interval", from, middle - CAP, from, middle + CAP));
  if (Number.isFinite(upper)) shapes.push(line("interval", to, middle - CAP, to, middle + CAP));
  return shapes;
}

function drawMark(mark: Mark, axis: Axis, left: number, width: number, row: number): Shape {
  const middle = ROW * row + ROW / 2;
  const children: Shape[] = [
    { tag: "title", text: words(mark) },
    { tag: "rect", attributes: { class: "hit", x: 0, y: px(ROW * row), width: px(width), height: ROW } },
    label("name", "end", left - 8, middle + 4, shortened(mark.label)),
  ];
  const attributes: Record<string, string> = {
    class: "mark",
    "data-label": mark.label,
    "data-value": mark.exact,
  };
  if (Number.isNaN(mark.value)) {
    children.push(label("tick", "start", axis.at(0) + 8, middle + 4, "none"));
    return { tag: "g", attributes, children };
  }
  if (mark.lower !== undefined && mark.upper !== undefined) {
    attributes["data-lower"] = exactText(mark.lower);
    attributes["data-upper"] = exactText(mark.upper);
    children.push(...drawInterval(mark.lower, mark.upper, axis, middle));
  }
  children.push({
    tag: "circle",
    attributes: { class: "dot", cx: px(axis.at(mark.value)), cy: px(middle), r: 3.5 },
  });
  return { tag: "g", attributes, children };
}

// The labels are as wide as the widest of `marks`; several drawings with the same span can be compared.
export function drawBars(marks: Mark[], width: number, span: Span = spanOf(marks)): BarsDrawing {
  const widest = marks.reduce((most, mark) => Math.max(most, shortened(mark.label).length), 4);
  const left = Math.min(widest * CHARACTER + 16, width * 0.45);
  const axis = numberAxis(
    span.low,
    span.high,
    left,
    width - RIGHT,
    Math.max(2, Math.floor((width - left) / 90)),
  );
  const bottom = ROW * marks.length;
  const shapes: Shape[] = [];
  for (const tick of axis.ticks) {
    shapes.push(line(tick === 0 ? "zero" : "grid", axis.at(tick), 0, axis.at(tick), bottom + 4));
    shapes.push(label("tick", "middle", axis.at(tick), bottom + 18, roundedText(tick)));
  }
  // The marks lie above the lines of the grid, and the rows that show the pointer's place below them.
  const drawn = marks.map((mark, row) => drawMark(mark, axis, left, width, row));
  return { width, height: bottom + AXIS, shapes: [...shapes, ...drawn] };
}
