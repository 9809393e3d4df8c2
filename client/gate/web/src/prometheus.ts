// Metrics in the text format of Prometheus, version 0.0.4.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/y;

function valueOf(text: string): number | undefined {
  if (text === "+Inf" || text === "Inf") return Infinity;
  if (text === "-Inf") return -Infinity;
  if (text === "NaN") return NaN;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}

function labelsOf(text: string): Record<string, string> | undefined {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const found = LABEL.exec(text);
    if (!found) return undefined;
    const [, name = "", value = ""] = found;
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  return labels;
}

// All samples; lines that are none are left out.
export function parseMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) continue;
    const [, name, labelText = "", valueText = ""] = SAMPLE.exec(line.trim()) ?? [];
    const [labels, value] = [labelsOf(labelText), valueOf(valueText)];
    if (name !== undefined && labels && value !== undefined) samples.push({ name, labels, value });
  }
  return samples;
}

export function seriesOf(samples: Sample[], name: string): Sample[] {
  return samples.filter((sample) => sample.name === name);
}

// The sum over all series of this name; undefined when there is none.
export function totalOf(samples: Sample[], name: string): number | undefined {
  const series = seriesOf(samples, name);
  return series.length === 0 ? undefined : series.reduce((sum, { value }) => sum + value, 0);
}

export interface Quantile {
  // In the unit of the histogram.
  value: number;
  // The histogram's last bound: the quantile is above it.
  isBeyond: boolean;
}

// A quantile of a histogram, all its series together: inside a bucket the observations count as evenly
// spread, as Prometheus does. Undefined where nothing was observed.
export function quantileOf(samples: Sample[], name: string, share: number): Quantile | undefined {
  const counts = new Map<number, number>();
  for (const { labels, value } of seriesOf(samples, `${name}_bucket`)) {
    const bound = valueOf(labels["le"] ?? "");
    if (bound !== undefined) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  const buckets = [...counts].sort(([left], [right]) => left - right);
  const all = buckets[buckets.length - 1]?.[1] ?? 0;
  if (all === 0) return undefined;
  const rank = share * all;
  const at = buckets.findIndex(([, count]) => count >= rank);
  const [bound, count] = buckets[at] as [number, number];
  const [lower, below] = buckets[at - 1] ?? [0, 0];
  if (bound === Infinity) return { value: lower, isBeyond: true };
  const inside = count - below;
  return {
    value: inside === 0 ? bound : lower + (bound - lower) * ((rank - below) / inside),
    isBeyond: false,
  };
}
