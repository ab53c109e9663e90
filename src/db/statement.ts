import { createHash } from 'node:crypto';

/**
 * One SQL statement with the types of its parameters and rows, made once when its module loads. It is sent as a named
 * prepared statement; the name holds a digest of the text, since a connection refuses one name for two texts.
 *
 * Rules: explicit columns, never `*` (a migration would break the statement on open connections); times come in as
 * `$n::timestamptz` from a `Date` made of the process clock, and go out as numbers (`ms` below) or booleans. A JSON
 * parameter is passed as text (`JSON.stringify`): the driver would write an array as a PostgreSQL array.
 */
export interface Statement<Row, Params extends readonly unknown[]> {
  /** What the log and the plan test call it. */
  readonly label: string;
  /** Name on the wire. */
  readonly name: string;
  readonly text: string;
  /** It changes nothing, so it is repeated when a lost connection leaves its outcome unknown. */
  readonly isReadOnly: boolean;
  /** Only here to carry the types. */
  readonly __types?: (params: Params) => Row;
}

/** Longest name that PostgreSQL keeps apart. */
const NAME_LENGTH = 63;

const registry = new Map<string, Statement<unknown, never>>();

export function statement<Row, Params extends readonly unknown[]>(label: string, text: string): Statement<Row, Params> {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const made: Statement<Row, Params> = {
    label,
    name: `${label.slice(0, NAME_LENGTH - digest.length - 1)}-${digest}`,
    text,
    isReadOnly: isReadOnly(text),
  };
  const known = registry.get(label);
  if (known !== undefined && known.text !== text) throw new Error(`two statements are labelled ${label}`);
  registry.set(label, made);
  return made;
}

/** Every statement made so far. @internal for the test of their plans */
export function registeredStatements(): Iterable<Statement<unknown, never>> {
  return registry.values();
}

/**
 * SQL that turns a `timestamptz` expression into milliseconds since the epoch, a JavaScript number and a whole one as
 * times of the process clock are. Without `extract`, whose exact decimals cost several times as much.
 */
export function ms(expression: string): string {
  return `round(date_part('epoch', ${expression}) * 1000)`;
}

// Strict on purpose: a keyword in a comment or in `for update` only costs a repetition that would have been harmless.
function isReadOnly(text: string): boolean {
  return /^\s*(select|with)\b/i.test(text) && !/\b(insert|update|delete|merge|into)\b/i.test(text);
}
