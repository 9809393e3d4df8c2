// Answers that are kept in memory, so that a page that is visited again is there at once: as many as fit.

export class Kept {
  readonly #most: number;
  readonly #answers = new Map<string, { data: unknown; size: number }>();
  #size = 0;

  // `most`: of their texts, in bytes or a little less.
  constructor(most: number) {
    this.#most = most;
  }

  // The ones that were kept longest go first. What is too large by itself is not kept.
  set(key: string, data: unknown): void {
    this.delete(key);
    const size = JSON.stringify(data instanceof Map ? [...data] : data)?.length ?? 0;
    if (size > this.#most) return;
    this.#answers.set(key, { data, size });
    this.#size += size;
    for (const oldest of this.#answers.keys()) {
      if (this.#size <= this.#most) break;
      this.delete(oldest);
    }
  }

  has(key: string): boolean {
    return this.#answers.has(key);
  }

  get(key: string): unknown {
    return this.#answers.get(key)?.data;
  }

  delete(key: string): void {
    this.#size -= this.#answers.get(key)?.size ?? 0;
    this.#answers.delete(key);
  }

  clear(): void {
    this.#answers.clear();
    this.#size = 0;
  }
}
