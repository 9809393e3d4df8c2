// What a chart of time series shows, apart from how: for the page, for a table and for a file.
import type { Cell } from "./csv.ts";
import { roundedText } from "./numbers.ts";
import { numberAxis, timeAxis } from "./scale.ts";
import { label, line, px, svgFile, type Shape } from "./svg.ts";
import { dayText, timeText } from "./time.ts";

export interface StepPoint {
  // Seconds.
  time: number;
  limit: number;
  spent: number;
  held: number;
  // As the server said it.
  exact: { time: string; limit: string; spent: string; held: string };
}

export interface SpendingChart {
  title: string;
  unit: string;
  // Ascending. Nothing changes between two of them.
  points: StepPoint[];
  now: number;
  // Lines from now on: what will have been spent at the rates of the forecast. Absent without one.
  forecast?: { until: number; slow: number; rate: number; fast: number } | undefined;
}

// The points at which the limit is another one than before.
export function limitChanges(points: StepPoint[]): StepPoint[] {
  return points.filter((point, i) => i > 0 && point.exact.limit !== (points[i - 1] as StepPoint).exact.limit);
}

export function spendingTable({ points }: SpendingChart): { header: string[]; rows: Cell[][] } {
  return {
    header: ["time", "limit", "spent", "held"],
    rows: points.map(({ exact }) => [exact.time, exact.limit, exact.spent, exact.held]),
  };
}

function stepPath(corners: [number, number][]): string {
  return corners.map(([x, y], i) => (i === 0 ? `M${px(x)} ${px(y)}` : `H${px(x)}V${px(y)}`)).join("");
}

const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 72;
const BOTTOM = 30;

// What the lines are, to the right above the chart.
function legend(hasForecast: boolean): Shape[] {
  const names = [
    ["line-spent", "spent"],
    ["area-held", "held"],
    ["line-limit", "limit"],
    ...(hasForecast ? [["line-forecast", "forecast"]] : []),
  ];
  return names.flatMap(([style = "", name = ""], i): Shape[] => {
    const x = WIDTH - 16 - (names.length - i) * 84;
    const mark = style.startsWith("area")
      ? { tag: "rect", attributes: { class: style, x, y: -18, width: 20, height: 8 } }
      : line(style, x, -14, x + 20, -14);
    return [mark, label("tick", "start", x + 26, -10, name)];
  });
}

// The same chart as a file.
export function spendingSvg(chart: SpendingChart): string {
  const { points, now, forecast } = chart;
  const first = points[0]?.time ?? now - 1;
  const y = numberAxis(
    0,
    Math.max(...points.map((point) => Math.max(point.limit, point.spent + point.held)), 0) || 1,
    HEIGHT - BOTTOM,
    8,
    6,
  );
  const x = timeAxis(first, forecast?.until ?? now, LEFT, WIDTH - 16, 7);
  const shapes: Shape[] = [];
  for (const tick of y.ticks) {
    shapes.push(line("grid", LEFT, y.at(tick), WIDTH - 16, y.at(tick)));
    shapes.push(label("tick", "end", LEFT - 8, y.at(tick) + 4, roundedText(tick)));
  }
  const text = x.high - x.low > 3 * 86400 ? dayText : timeText;
  for (const tick of x.ticks) shapes.push(label("tick", "middle", x.at(tick), HEIGHT - 10, text(tick)));
  const corners = (value: (point: StepPoint) => number): [number, number][] => {
    const last = points[points.length - 1];
    const all: [number, number][] = points.map((point) => [x.at(point.time), y.at(value(point))]);
    return last ? [...all, [x.at(now), y.at(value(last))]] : all;
  };
  const spent = corners((point) => point.spent);
  const held = corners((point) => point.spent + point.held);
  const back = (of: [number, number][]) =>
    [...of]
      .reverse()
      .map(([cx, cy], i, all) => (i === 0 ? `L${px(cx)} ${px(cy)}` : `V${px(cy)}H${px(all[i]?.[0] ?? cx)}`))
      .join("");
  if (spent.length > 0) {
    shapes.push({
      tag: "path",
      attributes: { class: "area-spent", d: `${stepPath(spent)}V${px(y.at(0))}H${px(x.at(first))}Z` },
    });
    shapes.push({ tag: "path", attributes: { class: "area-held", d: `${stepPath(held)}${back(spent)}Z` } });
    shapes.push({ tag: "path", attributes: { class: "line-spent", d: stepPath(spent) } });
    shapes.push({
      tag: "path",
      attributes: { class: "line-limit", d: stepPath(corners((point) => point.limit)) },
    });
  }
  for (const point of limitChanges(points))
    shapes.push(line("marker", x.at(point.time), 8, x.at(point.time), HEIGHT - BOTTOM));
  const last = points[points.length - 1];
  if (forecast && last) {
    const end = (rate: number) => Math.min(last.spent + rate * (forecast.until - now), y.high);
    const [x0, x1, y0] = [px(x.at(now)), px(x.at(forecast.until)), px(y.at(last.spent))];
    shapes.push({
      tag: "path",
      attributes: {
        class: "area-forecast",
        d: `M${x0} ${y0}L${x1} ${px(y.at(end(forecast.fast)))}V${px(y.at(end(forecast.slow)))}Z`,
      },
    });
    const limit = y.at(last.limit);
    shapes.push(
      line("line-limit-ahead", x.at(now), limit, x.at(forecast.until), limit),
      line("line-forecast", x.at(now), y.at(last.spent), x.at(forecast.until), y.at(end(forecast.rate))),
    );
  }
  shapes.push(...legend(forecast !== undefined));
  return svgFile({ title: chart.title, remark: chart.unit }, WIDTH, HEIGHT, shapes);
}
