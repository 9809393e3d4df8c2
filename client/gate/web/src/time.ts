// Times in the reader's zone, and spans in words.

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const timeFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const secondFormat = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

export function secondsOf(timestamp: string): number {
  return Date.parse(timestamp) / 1000;
}

// "27 Nov 2026"
export function dayText(seconds: number): string {
  return dayFormat.format(new Date(seconds * 1000));
}

// "27 Nov 2026, 18:24"
export function timeText(seconds: number, withSeconds = false): string {
  const format = withSeconds ? secondFormat : timeFormat;
  return `${dayText(seconds)}, ${format.format(new Date(seconds * 1000))}`;
}

// `round`: to whole units.
function span(seconds: number, round: (count: number) => number): string {
  if (seconds < MINUTE) return "less than a minute";
  // In the largest unit of which it is at least one; 59.7 minutes that are rounded are an hour.
  for (const [size, unit] of [
    [DAY, "day"],
    [HOUR, "hour"],
  ] as const) {
    const smaller = unit === "day" ? HOUR : MINUTE;
    if (round(seconds / smaller) * smaller < size) continue;
    const count = Math.max(round(seconds / size), 1);
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  const minutes = round(seconds / MINUTE);
  return `${minutes} minute${minutes === 1 ? "" : "s"}`;
}

// "3 hours ago", "in 2 days"
export function relativeText(seconds: number, now: number): string {
  const ago = now - seconds;
  if (Math.abs(ago) < 10) return "just now";
  return ago > 0 ? `${span(ago, Math.floor)} ago` : `in ${span(-ago, Math.round)}`;
}
