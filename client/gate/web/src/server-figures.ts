// What operators look at first, out of the server's metrics.
import { bytesText, grouped, roundedText } from "./numbers.ts";
import { quantileOf, seriesOf, totalOf, type Sample } from "./prometheus.ts";

export type Health = "good" | "warn" | "bad";

export interface Figure {
  name: string;
  value: string;
  health?: Health;
  note?: string;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

// "40 s", "12 min", "3 h", "5 days": as exact as one needs it.
export function spanText(seconds: number): string {
  if (!Number.isFinite(seconds)) return "for ever";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} days`;
}

// "2.4 ms"
export function durationText(seconds: number): string {
  if (seconds < 1) return `${roundedText(Number((seconds * 1000).toPrecision(2)))} ms`;
  return `${roundedText(Number(seconds.toPrecision(2)))} s`;
}

function figure(name: string, value: string, health?: Health, note?: string): Figure {
  return { name, value, ...(health ? { health } : {}), ...(note ? { note } : {}) };
}

function countFigure(samples: Sample[], series: string, name: string, badAbove?: number): Figure[] {
  const total = totalOf(samples, series);
  if (total === undefined) return [];
  return [figure(name, grouped(total), badAbove !== undefined && total > badAbove ? "bad" : undefined)];
}

// Of the ledger: whether it works, and how fast.
export function ledgerFigures(samples: Sample[]): Figure[] {
  const figures: Figure[] = [];
  const accepts = totalOf(samples, "curator_ledger_accepts_charges");
  if (accepts !== undefined)
    figures.push(figure("Accepts charges", accepts > 0 ? "yes" : "no", accepts > 0 ? "good" : "bad"));
  const sound = seriesOf(samples, "curator_ledger_sound");
  const damaged = sound.filter(({ value }) => value === 0).map(({ labels }) => labels["dataset"] ?? "");
  if (sound.length > 0) {
    figures.push(
      figure(
        "Histories",
        damaged.length === 0 ? "no damage known" : `damaged: ${damaged.join(", ")}`,
        damaged.length === 0 ? "good" : "bad",
      ),
    );
  }
  const behind = totalOf(samples, "curator_anchor_behind_entries");
  if (behind !== undefined)
    figures.push(figure("Entries that the anchor lacks", grouped(behind), behind > 0 ? "warn" : "good"));
  for (const [share, name] of [
    [0.5, "median"],
    [0.95, "95 %"],
    [0.99, "99 %"],
  ] as const) {
    const found = quantileOf(samples, "curator_ledger_commit_seconds", share);
    if (!found) continue;
    const text = durationText(found.value);
    figures.push(
      figure(
        `Time of a commit, ${name}`,
        found.isBeyond ? `above ${text}` : `about ${text}`,
        share === 0.99 && found.value > 0.25 ? "warn" : undefined,
      ),
    );
  }
  return [
    ...figures,
    ...countFigure(samples, "curator_ledger_waiting", "Changes that wait for the ledger"),
    ...countFigure(samples, "curator_ledger_errors_total", "Failures of the ledger", 0),
  ];
}

// Of what waits and runs.
export function workFigures(samples: Sample[]): Figure[] {
  const figures: Figure[] = [];
  const states = seriesOf(samples, "curator_operations");
  const running = states.find(({ labels }) => labels["state"] === "running");
  if (running) figures.push(figure("Operations that run", grouped(running.value)));
  figures.push(...countFigure(samples, "curator_queue_length", "Operations that wait"));
  const oldest = totalOf(samples, "curator_queue_oldest_seconds");
  if (oldest !== undefined)
    figures.push(
      figure(
        "Waits longest",
        oldest === 0 ? "nothing waits" : spanText(oldest),
        oldest > HOUR ? "warn" : undefined,
      ),
    );
  figures.push(...countFigure(samples, "curator_rpc_in_flight", "Calls that are being answered"));
  const memory = totalOf(samples, "process_resident_memory_bytes");
  if (memory !== undefined) figures.push(figure("Memory", bytesText(memory)));
  const [files, most] = [totalOf(samples, "process_open_fds"), totalOf(samples, "process_max_fds")];
  if (files !== undefined && most)
    figures.push(
      figure("Open files", `${grouped(files)} of ${grouped(most)}`, files / most > 0.8 ? "warn" : undefined),
    );
  const began = totalOf(samples, "process_start_time_seconds");
  if (began !== undefined) figures.push(figure("Runs for", spanText(Date.now() / 1000 - began)));
  return [
    ...figures,
    ...countFigure(samples, "curator_audit_dropped_total", "Calls that the audit lacks", 0),
  ];
}

export interface NamedState {
  name: string;
  text: string;
  health: Health;
}

// Of each listener: when its certificate ends.
export function certificates(samples: Sample[], now: number): NamedState[] {
  const isValid = (name: string) =>
    seriesOf(samples, "curator_certificate_valid").find(({ labels }) => nameOf(labels) === name)?.value !== 0;
  return seriesOf(samples, "curator_certificate_expiry_timestamp_seconds").map(({ labels, value }) => {
    const name = nameOf(labels);
    const left = value - now;
    if (!isValid(name)) return { name, text: "its files cannot be used", health: "bad" as const };
    if (left <= 0) return { name, text: "has ended", health: "bad" as const };
    return {
      name,
      text: `ends in ${spanText(left)}`,
      health: left < 7 * DAY ? ("warn" as const) : ("good" as const),
    };
  });
}

// Of each issuer: how old its keys are. Keys of a day and more stop its tokens.
export function issuers(samples: Sample[]): NamedState[] {
  return seriesOf(samples, "curator_jwks_age_seconds").map(({ labels, value }) => {
    const name = nameOf(labels);
    if (value === Infinity) return { name, text: "there are no keys", health: "bad" as const };
    return {
      name,
      text: `keys are ${spanText(value)} old`,
      health: value >= DAY ? ("bad" as const) : value > HOUR ? ("warn" as const) : ("good" as const),
    };
  });
}

function nameOf(labels: Record<string, string>): string {
  return Object.values(labels).join(" ");
}

export interface CountByReason {
  reason: string;
  count: number;
}

// Refused calls by reason, most first.
export function refusalCounts(samples: Sample[]): CountByReason[] {
  return seriesOf(samples, "curator_refusals_total")
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ reason: labels["reason"] ?? nameOf(labels), count: value }))
    .sort((left, right) => right.count - left.count);
}
