const SECONDS_OF: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** A number with its unit. */
export const DURATION = /^(\d{1,10})(ms|s|m|h|d)$/;

/** Seconds of a text that fits `DURATION`; else not a number. */
export function secondsOf(value: string): number {
  const [, count, unit = ''] = DURATION.exec(value) ?? [];
  return Number(count) * (SECONDS_OF[unit] ?? Number.NaN);
}

/** Seconds of a duration as options of commands take it: `90`, `90s`, `5m`. */
export function parseDuration(text: string): number | undefined {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : secondsOf(text);
  return Number.isNaN(seconds) ? undefined : seconds;
}
