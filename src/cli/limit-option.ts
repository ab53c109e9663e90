import { InvalidArgumentError, Option } from 'commander';

const DEFAULT_LISTED = 100;
const MAX_LISTED = 10_000;

/** Maximum number of list entries to print. */
export function limitOption(): Option {
  return new Option('--limit <count>', `maximum number of results, up to ${MAX_LISTED}`)
    .argParser(parseLimit)
    .default(DEFAULT_LISTED);
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LISTED) throw new InvalidArgumentError(`Expected an integer from 1 to ${MAX_LISTED}.`);
  return limit;
}
