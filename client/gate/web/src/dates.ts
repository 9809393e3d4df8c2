// The bins of a declared range of days and times, as the server has them. A time is what a calendar and a
// clock on a wall show, in milliseconds as Date.UTC() counts them; the years are 1 to 9999.
import type { Attribute } from "./api/types.ts";

type DateKind = NonNullable<Attribute["date"]>;

const DAY = 86_400_000;
const WEEK = 7 * DAY;
// 0001-01-01, a Monday.
const FIRST_MONDAY = Date.UTC(2001, 0, 1) - 730_485 * DAY;
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?$/;

// Date.UTC() takes the years 0 to 99 as 1900 to 1999.
function monthBegin(months: number): number {
  return new Date(0).setUTCFullYear(Math.floor(months / 12), months % 12, 1);
}

function timeOf(text: string): { time: number; isDay: boolean } {
  const found = TIME.exec(text);
  if (!found) throw new Error(`"${text}" is no day and no time`);
  const part = (at: number) => Number(found[at] ?? 0);
  const midnight = monthBegin(part(1) * 12 + part(2) - 1) + (part(3) - 1) * DAY;
  const seconds = (part(4) * 60 + part(5)) * 60 + part(6);
  return { time: midnight + seconds * 1000, isDay: found[4] === undefined };
}

// "2019-03-31", or "2019-03-31T12:00:00" where it is not midnight.
function timeText(time: number): string {
  const iso = new Date(time).toISOString().replace(/^\+0/, "");
  return time % DAY === 0 ? iso.slice(0, iso.indexOf("T")) : iso.slice(0, -".000Z".length);
}

function monthsOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

// Counts the periods of the calendar.
function periodOf(time: number, bins: DateKind["bins"]): number {
  if (bins === "DAY") return Math.floor(time / DAY);
  if (bins === "WEEK") return Math.floor((time - FIRST_MONDAY) / WEEK);
  if (bins === "MONTH") return monthsOf(time);
  return Math.floor(monthsOf(time) / (bins === "QUARTER" ? 3 : 12));
}

function padded(year: number): string {
  return String(year).padStart(4, "0");
}

// ISO 8601: the week's year is that of its Thursday.
function weekLabel(week: number): string {
  const thursday = FIRST_MONDAY + week * WEEK + 3 * DAY;
  const year = new Date(thursday).getUTCFullYear();
  const days = (thursday - monthBegin(year * 12)) / DAY;
  return `${padded(year)}-W${String(Math.floor(days / 7) + 1).padStart(2, "0")}`;
}

function periodLabel(period: number, bins: DateKind["bins"]): string {
  if (bins === "DAY") return timeText(period * DAY);
  if (bins === "WEEK") return weekLabel(period);
  if (bins === "QUARTER") return `${padded(Math.floor(period / 4))}-Q${(period % 4) + 1}`;
  if (bins === "YEAR") return padded(period);
  return `${padded(Math.floor(period / 12))}-${String((period % 12) + 1).padStart(2, "0")}`;
}

function periodsOf({ from, to, bins }: DateKind): { first: number; count: number } {
  const end = timeOf(to);
  const first = periodOf(timeOf(from).time, bins);
  return { first, count: periodOf(end.time + (end.isDay ? DAY : 0) - 1, bins) - first + 1 };
}

export function dateBinsOf(date: DateKind): number {
  return date.edges.length > 0 ? date.edges.length - 1 : periodsOf(date).count;
}

export function dateLabelsOf(date: DateKind): string[] {
  if (date.edges.length > 0) {
    const edges = date.edges.map((edge) => timeText(timeOf(edge).time));
    return edges.slice(1).map((end, i) => `[${edges[i]}, ${end})`);
  }
  const { first, count } = periodsOf(date);
  return Array.from({ length: count }, (_, i) => periodLabel(first + i, date.bins));
}

// "date from 2019-01-15 to 2020-12-31 by month"
export function dateWords({ from, to, bins, edges, time_zone: zone }: DateKind): string {
  const where = zone === "" ? "" : `, in ${zone}`;
  if (edges.length > 0) return `date from ${edges[0]} up to before ${edges[edges.length - 1]}${where}`;
  return `date from ${from} to ${to} by ${bins.toLowerCase()}${where}`;
}
