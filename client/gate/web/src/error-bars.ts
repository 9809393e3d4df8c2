// Dots with interval bars: one row for each answer. The drawing; ErrorBars.tsx puts it into the page.
import { exactText, roundedText } from "./numbers.ts";
import { numberAxis, type Axis } from "./scale.ts";
import { label, line, px, type Shape } from "./svg.ts";

export interface Mark {
  // A value of each attribute.
  labels: string[];
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
const WIDEST_LABEL = 32;
const LABEL_SHARE = 0.45;
const LABEL_SPACE = 16;
const CAP = 4;
const RIGHT = 18;
const TICK_CHARACTER = 6.5;
const TICK_GAP = 8;

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

// The longest labels are cut first, so that something of each is left.
function shortened(labels: string[], most: number): string {
  const length = (each: number) => labels.map((text) => cut(text, each)).join(", ").length;
  let each = most;
  while (each > 2 && length(each) > most) each -= 1;
  return cut(labels.map((text) => cut(text, each)).join(", "), most);
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

function words({ labels, exact, lower, upper }: Mark): string {
  const name = labels.join(", ");
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

function drawMark(mark: Mark, name: string, axis: Axis, left: number, width: number, row: number): Shape {
  const middle = ROW * row + ROW / 2;
  const children: Shape[] = [
    { tag: "title", text: words(mark) },
    { tag: "rect", attributes: { class: "hit", x: 0, y: px(ROW * row), width: px(width), height: ROW } },
    label("name", "end", left - 8, middle + 4, name),
  ];
  const attributes: Record<string, string> = {
    class: "mark",
    "data-label": mark.labels.join(", "),
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

// To the right of the last tick there is room for half of its number.
function axisOf({ low, high }: Span, left: number, width: number): Axis {
  const most = Math.max(2, Math.floor((width - left) / 90));
  const axisTo = (end: number) => numberAxis(low, high, left, end, most);
  const last = roundedText(axisTo(width).high);
  return axisTo(width - Math.max(RIGHT, (last.length * TICK_CHARACTER) / 2));
}

// Where numbers are too wide for the ticks, every second or third tick has one, and that of zero does.
function drawTicks({ ticks, at }: Axis, bottom: number): Shape[] {
  const texts = ticks.map(roundedText);
  const widest = texts.reduce((most, text) => Math.max(most, text.length), 0) * TICK_CHARACTER + TICK_GAP;
  const [first = 0, second = 1] = ticks;
  const every = Math.ceil(widest / (at(second) - at(first)));
  const zero = Math.max(ticks.indexOf(0), 0);
  return ticks.flatMap((tick, i) => {
    const shapes = [line(tick === 0 ? "zero" : "grid", at(tick), 0, at(tick), bottom + 4)];
    if ((i - zero) % every === 0) shapes.push(label("tick", "middle", at(tick), bottom + 18, texts[i] ?? ""));
    return shapes;
  });
}

// The labels are as wide as the widest of `marks`; several drawings with the same span can be compared.
export function drawBars(marks: Mark[], width: number, span: Span = spanOf(marks)): BarsDrawing {
  const most = Math.min(WIDEST_LABEL, Math.floor((width * LABEL_SHARE - LABEL_SPACE) / CHARACTER));
  const names = marks.map((mark) => shortened(mark.labels, most));
  const left = names.reduce((widest, name) => Math.max(widest, name.length), 4) * CHARACTER + LABEL_SPACE;
  const axis = axisOf(span, left, width);
  const bottom = ROW * marks.length;
  // The marks lie above the lines of the grid, and the rows that show the pointer's place below them.
  const drawn = marks.map((mark, row) => drawMark(mark, names[row] ?? "", axis, left, width, row));
  return { width, height: bottom + AXIS, shapes: [...drawTicks(axis, bottom), ...drawn] };
}
