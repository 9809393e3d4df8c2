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

function span(seconds: number): string {
  const whole = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`;
  if (seconds < MINUTE) return "less than a minute";
  if (seconds < HOUR) return whole(Math.floor(seconds / MINUTE), "minute");
  if (seconds < DAY) return whole(Math.floor(seconds / HOUR), "hour");
  return whole(Math.floor(seconds / DAY), "day");
}

// "3 hours ago", "in 2 days"
export function relativeText(seconds: number, now: number): string {
  const ago = now - seconds;
  if (Math.abs(ago) < 10) return "just now";
  return ago > 0 ? `${span(ago)} ago` : `in ${span(-ago)}`;
}
