import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '#platform/config/durations.ts';

/** An option in seconds that accepts a unit. */
export function durationOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const seconds = parseDuration(text);
    if (seconds === undefined) throw new InvalidArgumentError('Expected seconds, or a number with ms, s, m, h or d.');
    return seconds;
  });
}
