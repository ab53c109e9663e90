import type { z } from 'zod';
import { bool, choice, mapping, path } from '#platform/config/values.ts';
import { LOG_LEVELS, type LogLevel, type LogOptions } from '#platform/log/log-options.ts';

export const loggingSection = mapping({
  level: choice(LOG_LEVELS).prefault('info').describe('Minimum log level. `LATCHKEY_LOG` overrides it.'),
  format: choice(['text', 'json']).prefault('text').describe('Human-readable lines, or one JSON object per line.'),
  output: path(['stderr', 'stdout'])
    .prefault('stderr')
    .describe('Destination of the log. Files are appended to, and reopened on SIGHUP.'),
  color: choice(['auto', 'always', 'never'])
    .prefault('auto')
    .describe('Colored level names. `auto`: if the output is a terminal and `NO_COLOR` is not set.'),
  pad_level: bool().prefault(false).describe('Pads the level to five columns.'),
});

export function loggingConfig(
  parsed: z.output<typeof loggingSection>,
  targetLevels: Readonly<Record<string, LogLevel>>,
  isPlain: boolean,
): LogOptions {
  const { output } = parsed;
  return {
    level: parsed.level,
    targetLevels,
    format: parsed.format,
    output: output === 'stderr' || output === 'stdout' ? output : { path: output },
    color: parsed.color === 'auto' && isPlain ? 'never' : parsed.color,
    padLevel: parsed.pad_level,
  };
}
