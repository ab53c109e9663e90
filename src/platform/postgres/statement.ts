/** SQL statements with named parameters, registered by label, and the helpers for writing them. */
import { createHash } from 'node:crypto';

/**
 * One SQL statement with the types of its parameters and rows, made once when its module loads. It is sent as a named
 * prepared statement; the name holds a digest of the text, since a connection refuses one name for two texts.
 *
 * Rules: explicit columns, never `*` (a migration would break the statement on open connections). Parameters are
 * written `:name` with a cast, `:now::timestamptz` for a `Date` of the process clock; times go out as numbers (`ms`
 * below) or booleans. A JSON parameter is passed as text (`JSON.stringify`): the driver would write an array as a
 * PostgreSQL array.
 */
export interface Statement<Row, Parameters extends object> {
  /** Its name in the log, the metrics and the test of the plans. */
  readonly label: string;
  /** Name of the prepared statement. */
  readonly name: string;
  /** The text for the server, in which `:name` has become `$n`. */
  readonly text: string;
  /** The parameters in the order of their numbers. */
  readonly parameterNames: readonly string[];
  /** It changes nothing, so it is sent again when its connection is lost. */
  readonly isReadOnly: boolean;
  /**
   * The form that answers several callers at once. Takes an array for each parameter, all of the same length. Each row
   * has the number of its caller, from 1, as `place`. A row with `is_incomplete` requires the single statement as well.
   */
  readonly joined?: AnyStatement;
  /** Never set; carries the types. */
  readonly __types?: (parameters: Parameters) => Row;
}

/** Any statement, for code that sends or inspects all of them. */
export type AnyStatement = Statement<unknown, never>;

/** For statements without parameters; they are sent with `{}`. */
export type NoParameters = Readonly<Record<string, never>>;

/** PostgreSQL cuts longer names. */
const MAX_NAME_LENGTH = 63;

/** `:name`, but neither the cast `::type` nor a colon inside a word or a number. */
const PARAMETER = /(?<![:\w]):([a-z][A-Za-z0-9]*)/g;

const registry = new Map<string, AnyStatement>();

export function statement<Row, Parameters extends object>(label: string, source: string): Statement<Row, Parameters> {
  const { text, parameterNames } = numberParameters(source);
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const made: Statement<Row, Parameters> = {
    label,
    name: `${label.slice(0, MAX_NAME_LENGTH - digest.length - 1)}-${digest}`,
    text,
    parameterNames,
    isReadOnly: isReadOnly(text),
  };
  const known = registry.get(label);
  if (known !== undefined && known.text !== text) throw new Error(`two statements have the label ${label}`);
  registry.set(label, made);
  return made;
}

/** The values of the parameters in the order that the statement's text numbers them. */
export function parameterValues(made: AnyStatement, parameters: object): unknown[] {
  return made.parameterNames.map((name) => {
    const value: unknown = Reflect.get(parameters, name);
    // The driver would send null instead.
    if (value === undefined) throw new Error(`statement ${made.label} was sent without a value for :${name}`);
    return value;
  });
}

/** Every statement registered so far. @internal for the test of the plans */
export function registeredStatements(): Iterable<AnyStatement> {
  return registry.values();
}

/**
 * SQL that turns a `timestamptz` expression into whole milliseconds since the epoch, as the process clock counts them.
 * Without `extract`, whose exact decimals cost several times as much.
 */
export function ms(expression: string): string {
  return `round(date_part('epoch', ${expression}) * 1000)`;
}

/** Numbers each name in the order of its first use. */
function numberParameters(source: string): Pick<AnyStatement, 'text' | 'parameterNames'> {
  const numbers = new Map<string, number>();
  const text = source.replace(PARAMETER, (_, name: string) => {
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `$${number}`;
  });
  return { text, parameterNames: [...numbers.keys()] };
}

// Strict on purpose: a keyword in a comment or in `for update` only prevents a retry that would have been harmless.
function isReadOnly(text: string): boolean {
  return /^\s*(select|with)\b/i.test(text) && !/\b(insert|update|delete|merge|into)\b/i.test(text);
}

/**
 * SQL for a new identifier, sortable by its time, as `newId` makes them.
 * @param now parameter with the time, cast to `timestamptz`
 */
export function newIdSql(now: string): string {
  return `(lpad(to_hex((extract(epoch from ${now}) * 1000)::bigint), 12, '0')
    || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid`;
}
