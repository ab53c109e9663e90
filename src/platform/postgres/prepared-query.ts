import { type Client, type FieldDef, Query, type QueryResult, type Connection as Wire } from 'pg';
import driverUtils from 'pg/lib/utils.js';

declare module 'pg' {
  interface Connection {
    /** Texts of the statements that the server has prepared, by their names. */
    readonly parsedStatements: Record<string, string>;
    /** Of those that it was asked to prepare. */
    readonly submittedNamedStatements: Record<string, string>;
  }
}

/** A command that is prepared under its name on the connection. */
export interface NamedCommand {
  readonly name: string;
  readonly text: string;
  readonly params: readonly unknown[];
}

/** What a command brought. */
export type Completed = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>;

export type QueryDone = (error: unknown, completed: Completed | undefined) => void;

interface RowShape {
  readonly columns: readonly { readonly name: string; readonly parse: (text: string) => unknown }[];
  /** A row with nothing but nulls: copying it is cheaper than adding its members one by one. */
  readonly blank: Readonly<Record<string, unknown>>;
}

/**
 * The shapes of the rows that the prepared statements of one connection return, each learnt from its first answer.
 * They stay true as long as the connection: when a migration changes the columns of what was prepared, the server
 * refuses to run it.
 */
export class RowShapes {
  readonly #client: Client;
  readonly #byName = new Map<string, RowShape>();

  constructor(client: Client) {
    this.#client = client;
  }

  of(name: string): RowShape | undefined {
    return this.#byName.get(name);
  }

  learn(name: string, fields: readonly FieldDef[]): RowShape {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#client.getTypeParser(dataTypeID) }));
    const blank: Record<string, unknown> = {};
    for (const column of columns) blank[column.name] = null;
    const shape = { columns, blank };
    this.#byName.set(name, shape);
    return shape;
  }
}

/**
 * A prepared statement on its way through the driver, which calls the `handle` methods with the server's messages. The
 * driver's own query asks for a description of the columns with every execution, and makes parsers of it every time:
 * with the fifteen columns of an introspection that was a twentieth of the whole request's processor time.
 */
export class PreparedQuery extends Query {
  override readonly submit = submitPrepared;
  declare readonly name: string;
  readonly #text: string;
  readonly #params: readonly unknown[];
  readonly #shapes: RowShapes;
  readonly #done: QueryDone;
  readonly #rows: QueryResult['rows'] = [];
  #shape: RowShape | undefined;
  #tag = '';
  #failure: unknown;

  constructor({ name, text, params }: NamedCommand, shapes: RowShapes, done: QueryDone) {
    super(text);
    this.name = name;
    this.#text = text;
    this.#params = params;
    this.#shapes = shapes;
    this.#done = done;
  }

  /** Sends everything up to the end of its synchronization group. */
  send(wire: Wire): void {
    const name = this.name;
    const text = this.#text;
    const isSent = wire.parsedStatements[name] ?? wire.submittedNamedStatements[name];
    this.#shape = this.#shapes.of(name);
    wire.stream.cork();
    try {
      if (isSent === undefined) {
        wire.parse({ name, text, types: [] }, true);
        wire.submittedNamedStatements[name] = text;
      }
      wire.bind({ portal: '', statement: name, values: this.#params.map(encode) }, true);
      if (this.#shape === undefined) wire.describe({ type: 'P', name: '' }, true);
      wire.execute({ portal: '' }, true);
    } catch (error) {
      // A parameter that has no text. The group is ended below, so that the driver goes on to the next.
      this.#failure = error;
    } finally {
      wire.sync();
      wire.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#shape = this.#shapes.learn(this.name, fields);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(rowOf(this.#shape, fields));
    } catch (error) {
      this.#failure ??= error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#tag = text;
  }

  /** Empty text. */
  handleEmptyQuery(): void {}

  handleError(error: unknown): void {
    this.#done(this.#failure ?? error, undefined);
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.#done(this.#failure, undefined);
    else this.#done(undefined, completed(this.#tag, this.#rows));
  }
}

/** Shared by all, where a method of the class could not stand for the property that the driver's query has. */
function submitPrepared(this: PreparedQuery, wire: Wire): void {
  this.send(wire);
}

/** From the year 1 to 3938; outside, the two do not write the same text. */
const PLAIN_TIMES_MS = 62_135_596_800_000;
const latest = { ms: Number.NaN, text: '' };

function encode(value: unknown): string | Buffer | null {
  // The driver would put it into the time zone of the process, digit by digit.
  if (value instanceof Date && Math.abs(value.getTime()) < PLAIN_TIMES_MS) return encodeTime(value);
  return driverUtils.prepareValue(value);
}

/** Most times are that of the request, which its statements name several times. */
function encodeTime(time: Date): string {
  const ms = time.getTime();
  if (ms !== latest.ms) {
    latest.ms = ms;
    latest.text = time.toISOString();
  }
  return latest.text;
}

function rowOf(shape: RowShape | undefined, fields: readonly (string | null)[]): Record<string, unknown> {
  if (shape === undefined) throw new Error('a row came without a description');
  const { columns } = shape;
  const row: Record<string, unknown> = { ...shape.blank };
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index];
    const text = fields[index];
    if (column !== undefined && text !== undefined && text !== null) row[column.name] = column.parse(text);
  }
  return row;
}

/** @param tag `SELECT 1`, `INSERT 0 1`, `COMMIT`: the last number is that of the rows */
function completed(tag: string, rows: Completed['rows']): Completed {
  const blank = tag.indexOf(' ');
  if (blank === -1) return { command: tag, rowCount: null, rows };
  return { command: tag.slice(0, blank), rowCount: Number(tag.slice(tag.lastIndexOf(' ') + 1)), rows };
}
