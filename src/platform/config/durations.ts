const SECONDS_OF: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** A number with a unit. */
export const DURATION = /^(\d{1,10})(ms|s|m|h|d)$/;

/** Converts a text that matches `DURATION` to seconds. Returns NaN for other texts. */
export function secondsOf(value: string): number {
  const [, count, unit = ''] = DURATION.exec(value) ?? [];
  return Number(count) * (SECONDS_OF[unit] ?? Number.NaN);
}

/** Parses a duration in a command-line option (`90`, `90s`, `5m`) to seconds. */
export function parseDuration(text: string): number | undefined {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : secondsOf(text);
  return Number.isNaN(seconds) ? undefined : seconds;
}
