import type { EntityProgress } from '#domain/import/progress.ts';
import type { Clock } from '#platform/base/clock.ts';

const PROGRESS_MS = 5_000;

/** Prints the progress of an import every five seconds. */
export class ImportReport {
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt: number;
  #latest: EntityProgress | undefined;

  constructor(io: { stderr(text: string): void }, clock: Clock) {
    this.#startedAt = clock.now();
    this.#timer = setInterval(() => {
      if (this.#latest === undefined) return;
      const seconds = Math.round((clock.now() - this.#startedAt) / 1000);
      io.stderr(`latchkey: import: ${progressText(this.#latest)}, after ${seconds} s\n`);
    }, PROGRESS_MS);
  }

  note(progress: EntityProgress): void {
    this.#latest = progress;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function progressText({ entity, done, skipped, estimate }: EntityProgress): string {
  const of = estimate === undefined ? '' : ` of about ${estimate}`;
  return `${entity}: ${done} done, ${sumOf(skipped)} skipped${of}`;
}

export function resultsText(results: readonly EntityProgress[], isDryRun: boolean): string {
  const lines = results.map(({ entity, done, skipped }) => {
    const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
    const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
    return `${entity}: ${done} done, ${sumOf(skipped)} skipped${why}\n`;
  });
  return `${lines.join('')}${isDryRun ? 'dry run: nothing was stored\n' : ''}`;
}

function sumOf(skipped: EntityProgress['skipped']): number {
  return Object.values(skipped).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
