import { LOG_LEVELS, type LogLevel } from '#platform/log/log-options.ts';

export interface LogLevels {
  readonly level: LogLevel | undefined;
  readonly targetLevels: Readonly<Record<string, LogLevel>>;
}

/** Reads `LATCHKEY_LOG`: `level,target=level,...`; undefined when a part is neither. */
export function parseLogLevels(text: string): LogLevels | undefined {
  const targetLevels: Record<string, LogLevel> = {};
  let level: LogLevel | undefined;
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const [, target, name] = /^(?:([A-Za-z0-9_.-]+)=)?([a-z]+)$/.exec(part) ?? [];
    const known = LOG_LEVELS.find((candidate) => candidate === name);
    if (known === undefined) return undefined;
    if (target === undefined) level = known;
    else targetLevels[target] = known;
  }
  return { level, targetLevels };
}
