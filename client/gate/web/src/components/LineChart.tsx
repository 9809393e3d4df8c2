// What an account has spent over time, by uPlot: a step line with the held amount above it, the limit, and a
// forecast.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { limitChanges, type SpendingChart, type StepPoint } from "../line-chart.ts";
import { roundedText } from "../numbers.ts";
import { useStore } from "../store.ts";
import { theme } from "../theme.ts";
import { dayText, timeText } from "../time.ts";
import { useWidth } from "./use-width.ts";

const HEIGHT = 300;
const DAY = 86400;

type Row = (number | null)[];

interface Columns {
  times: number[];
  spent: Row;
  held: Row;
  limit: Row;
  slow: Row;
  rate: Row;
  fast: Row;
  // The limit as it is now, from now on.
  ahead: Row;
}

// The last point is repeated at this moment, where the forecast begins.
function columnsOf({ points, now, forecast }: SpendingChart): Columns {
  const last = points[points.length - 1];
  const steps = last && last.time < now ? [...points, { ...last, time: now }] : points;
  const columns: Columns = {
    times: steps.map((point) => point.time),
    spent: steps.map((point) => point.spent),
    held: steps.map((point) => point.spent + point.held),
    limit: steps.map((point) => point.limit),
    slow: steps.map(() => null),
    rate: steps.map(() => null),
    fast: steps.map(() => null),
    ahead: steps.map(() => null),
  };
  if (!forecast || !last) return columns;
  // Ends where the limit is reached, so that no line leaves the chart.
  const ends = [forecast.slow, forecast.rate, forecast.fast].map(
    (rate) => last.spent + rate * (forecast.until - now),
  );
  const [slow = 0, rate = 0, fast = 0] = ends.map((end) => Math.min(end, last.limit));
  const at = steps.length - 1;
  for (const row of [columns.slow, columns.rate, columns.fast]) row[at] = last.spent;
  columns.times.push(forecast.until);
  for (const row of [columns.spent, columns.held, columns.limit]) row.push(null);
  columns.slow.push(slow);
  columns.rate.push(rate);
  columns.fast.push(fast);
  columns.ahead[at] = last.limit;
  columns.ahead.push(last.limit);
  return columns;
}

function dataOf(chart: SpendingChart): uPlot.AlignedData {
  const { times, spent, held, limit, slow, rate, fast, ahead } = columnsOf(chart);
  return [times, spent, held, limit, slow, rate, fast, ahead];
}

// The present colour of a custom property: light-dark() is not resolved by reading the property.
function colorOf(element: HTMLElement, property: string): string {
  const before = element.style.color;
  element.style.color = `var(${property})`;
  const color = getComputedStyle(element).color;
  element.style.color = before;
  return color;
}

function faded(color: string, share: number): string {
  const numbers = color.match(/[\d.]+/g) ?? ["128", "128", "128"];
  return `rgba(${numbers.slice(0, 3).join(",")},${share})`;
}

function markLimits(points: () => StepPoint[], color: string): uPlot.Plugin {
  return {
    hooks: {
      draw: (plot) => {
        const changes = limitChanges(points());
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.strokeStyle = color;
        ctx.setLineDash([3 * devicePixelRatio, 4 * devicePixelRatio]);
        for (const { time } of changes) {
          const x = Math.round(plot.valToPos(time, "x", true));
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        ctx.restore();
      },
    },
  };
}

// Each tick has a label of its own: with seconds where ticks are less than a minute apart.
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const STEPS = [
  ...[5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 3, 7, 14, 30, 60, 90, 180, 365, 730, 1825].map((count) => count * DAY),
];
const LEAST_SPAN = MINUTE;

// `chart` is the one that is drawn then: its data come and go without another plot.
function optionsOf(
  chart: () => SpendingChart,
  width: number,
  element: HTMLElement,
  onIndex: (index: number | undefined) => void,
): uPlot.Options {
  const color = (property: string) => colorOf(element, property);
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis = {
    stroke: color("--ink-2"),
    font,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1 },
  };
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const step = stepped ? { paths: stepped } : {};
  const forecastLine = { stroke: color("--ink-2"), width: 1.5, dash: [5, 4], points: { show: false } };
  return {
    width,
    height: HEIGHT,
    pxAlign: 1,
    cursor: { y: false, points: { size: 8 }, drag: { x: false, y: false } },
    legend: { show: false },
    scales: {
      x: { time: true, range: (_plot, low, high) => [Math.min(low, high - LEAST_SPAN), high] },
      y: { range: (_plot, _low, high) => [0, (high || 1) * 1.08] },
    },
    axes: [
      {
        ...axis,
        space: 90,
        incrs: STEPS,
        values: (plot, ticks, _axis, _space, step) => {
          const { min = 0, max = 0 } = plot.scales["x"] ?? {};
          const isLong = (max ?? 0) - (min ?? 0) > 2 * DAY;
          return ticks.map((tick) =>
            isLong ? dayText(tick).replace(/ \d{4}$/, "") : timeText(tick, step < MINUTE).replace(/^.*, /, ""),
          );
        },
      },
      {
        ...axis,
        size: 68,
        values: (_plot, ticks) => ticks.map((tick) => roundedText(Number(tick.toPrecision(10)))),
      },
    ],
    series: [
      {},
      {
        label: "spent",
        stroke: color("--spent"),
        fill: faded(color("--spent"), 0.12),
        width: 2,
        points: { show: false },
        ...step,
      },
      { label: "spent and held", stroke: "transparent", width: 0, points: { show: false }, ...step },
      { label: "limit", stroke: color("--limit"), width: 2, points: { show: false }, ...step },
      { label: "slow", ...forecastLine, stroke: "transparent" },
      { label: "rate", ...forecastLine },
      { label: "fast", ...forecastLine, stroke: "transparent" },
      { ...forecastLine, label: "limit ahead", stroke: color("--limit"), width: 2 },
    ],
    bands: [
      { series: [2, 1], fill: faded(color("--held"), 0.5) },
      { series: [6, 4], fill: faded(color("--ink-2"), 0.15) },
    ],
    plugins: [markLimits(() => chart().points, color("--limit"))],
    hooks: { setCursor: [(plot) => onIndex(plot.cursor.idx ?? undefined)] },
  };
}

function readout({ points, unit, now }: SpendingChart, index: number | undefined): string {
  if (index === undefined) return "Point at the chart, or use the arrow keys, to read it exactly.";
  const point = points[Math.min(index, points.length - 1)];
  if (!point) return "";
  if (index > points.length) return "after now: the forecast";
  const when = index >= points.length ? timeText(now, true) : timeText(point.time, true);
  return `${when}: spent ${point.exact.spent}, held ${point.exact.held}, limit ${point.exact.limit} ${unit}`;
}

export function LineChart({ chart }: { chart: SpendingChart }) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const drawn = useRef<SpendingChart | undefined>(undefined);
  const width = useWidth(frame);
  const choice = useStore(theme);
  const [systemTheme, setSystemTheme] = useState(false);
  const [index, setIndex] = useState<number>();
  const latest = useRef(chart);
  latest.current = chart;

  useEffect(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const update = () => setSystemTheme(dark.matches);
    update();
    dark.addEventListener("change", update);
    return () => dark.removeEventListener("change", update);
  }, []);

  useEffect(() => {
    const element = frame.current;
    if (!element || width === 0) return undefined;
    const made = new uPlot(
      optionsOf(() => latest.current, width, element, setIndex),
      dataOf(latest.current),
      element,
    );
    plot.current = made;
    drawn.current = latest.current;
    return () => {
      made.destroy();
      plot.current = undefined;
    };
  }, [width, choice, systemTheme]);

  // The same plot with newer data; what is read out stays at its time.
  useEffect(() => {
    const made = plot.current;
    if (!made || drawn.current === chart) return;
    const at = made.cursor.idx;
    const time = at === null || at === undefined ? undefined : made.data[0][at];
    drawn.current = chart;
    made.setData(dataOf(chart));
    if (time !== undefined) made.setCursor({ left: made.valToPos(time, "x"), top: made.cursor.top ?? 10 });
  }, [chart]);

  const onKey = (event: KeyboardEvent) => {
    const made = plot.current;
    const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!made || move === 0) return;
    event.preventDefault();
    const times = made.data[0];
    const next = Math.max(0, Math.min((index ?? (move > 0 ? -1 : times.length)) + move, times.length - 1));
    made.setCursor({ left: made.valToPos(times[next] as number, "x"), top: 10 });
  };

  const last = chart.points[chart.points.length - 1];
  const summary = last
    ? `${chart.title}. Now spent ${last.exact.spent} of ${last.exact.limit} ${chart.unit}.`
    : chart.title;
  return (
    <>
      <div
        class="plot"
        ref={frame}
        style={{ minHeight: `${HEIGHT}px` }}
        role="img"
        tabIndex={0}
        aria-label={`${summary} With the arrow keys you read its points.`}
        onKeyDown={onKey}
      />
      <div class="plot-readout" aria-live="polite">
        {readout(chart, index)}
      </div>
    </>
  );
}
