// The confidence level of intervals, as the reader chose it last. Choosing another one is free.

export const LEVELS = ["0.8", "0.9", "0.95", "0.99"] as const;
export type Level = (typeof LEVELS)[number];

const KEY = "curator.confidence";
const USUAL: Level = "0.95";

export function storedLevel(): Level {
  try {
    const stored = window.localStorage.getItem(KEY);
    return LEVELS.find((level) => level === stored) ?? USUAL;
  } catch {
    return USUAL;
  }
}

export function storeLevel(level: Level): void {
  try {
    window.localStorage.setItem(KEY, level);
  } catch {
    // Then the next page begins with the usual level.
  }
}

export function levelText(level: number | string): string {
  return `${Number((Number(level) * 100).toFixed(6))}\u00a0%`;
}
