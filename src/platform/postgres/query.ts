/**
 * Commands as queries of the driver, pipelined and with as little work per statement as the protocol allows: named
 * prepared statements, and groups such as BEGIN with the first statement of its transaction.
 */
import { type Client, type FieldDef, Query, type QueryResult, type Connection as Wire } from 'pg';
import driverUtils from 'pg/lib/utils.js';
import { executeMessage } from './messages.ts';

declare module 'pg' {
  interface Connection {
    /** Texts of the statements that the server has prepared, by their names. */
    readonly parsedStatements: Record<string, string>;
    /** Those that it was asked to prepare. */
    readonly submittedNamedStatements: Record<string, string>;
  }
}

/** What is sent to the server: a registered statement, or one of the commands in `session-commands.ts`. */
export interface Command {
  readonly label: string;
  /** Name of the prepared statement; undefined where a pooler forbids names. */
  readonly name: string | undefined;
  readonly text: string;
  readonly params: readonly unknown[];
}

/** The result of a command. */
export type Completed = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>;

export type QueryDone = (error: unknown, completed: Completed | undefined) => void;

/**
 * The driver's query for one command; `done` is called once, when the result is complete.
 * @param guard sent in one group before the command, which the server skips when it fails
 */
export function singleQuery(command: Command, guard: Command | undefined, shapes: RowShapes, done: QueryDone): Query {
  const { name, text, params } = command;
  if (name !== undefined) return new PreparedQuery(command, name, guard, shapes, done);
  if (guard !== undefined) return new GroupedQuery([guard], command, done);
  return Object.assign(new Query(text, [...params], done), modeOf(command));
}

/**
 * The driver's query for a command that is sent together with commands before it, in one synchronization group: when
 * one of them fails, the server skips the rest. So BEGIN costs no round trip, and nothing runs without it.
 *
 * If the commands before have a name, they must already be prepared on the connection: the
 * driver would record the preparation under the name of the last command.
 */
export class GroupedQuery extends Query {
  constructor(before: readonly Command[], last: Command, done: QueryDone) {
    super(last.text, [...last.params], (error, results: QueryResult | QueryResult[] | undefined) => {
      done(error, Array.isArray(results) ? results.at(-1) : results);
    });
    Object.assign(this, modeOf(last));
    const submitLast = this.submit;
    this.submit = (wire) => {
      wire.stream.cork();
      try {
        for (const command of before) sendOne(wire, command);
        return submitLast.call(this, wire);
      } finally {
        wire.stream.uncork();
      }
    };
  }
}

/** Set on the query itself: a configuration object would be cloned property by property, at 3 us a statement. */
function modeOf(command: Command) {
  return {
    name: command.name,
    // Without a name and parameters the driver would take the simple protocol, which ends the group.
    queryMode: 'extended',
  };
}

function sendOne(wire: Wire, command: Command): void {
  if (command.name === undefined) wire.parse({ name: '', text: command.text, types: [] }, true);
  wire.bind({ portal: '', statement: command.name ?? '', values: command.params.map(encode) }, true);
  // The driver cannot read rows that were not described.
  wire.describe({ type: 'P', name: '' }, true);
  wire.execute({ portal: '' }, true);
}

interface RowShape {
  readonly columns: readonly { readonly name: string; readonly parse: (text: string) => unknown }[];
  /** A row with nothing but nulls: copying it is cheaper than adding its properties one by one. */
  readonly blank: Readonly<Record<string, unknown>>;
}

/**
 * The shapes of the rows that the prepared statements of one connection return, each read from its first answer.
 * A shape is valid as long as the connection: when a migration changes the columns of a prepared statement, the server
 * refuses to run it.
 */
export class RowShapes {
  readonly #client: Client;
  readonly #byName = new Map<string, RowShape>();

  constructor(client: Client) {
    this.#client = client;
  }

  get(name: string): RowShape | undefined {
    return this.#byName.get(name);
  }

  add(name: string, fields: readonly FieldDef[]): RowShape {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#client.getTypeParser(dataTypeID) }));
    const blank: Record<string, unknown> = {};
    for (const column of columns) blank[column.name] = null;
    const shape = { columns, blank };
    this.#byName.set(name, shape);
    return shape;
  }
}

/**
 * A named prepared statement as a query of the driver, which calls the `handle` methods with the server's messages.
 * The driver's own query asks for a description of the columns with every execution and builds the parsers again each
 * time: with the fifteen columns of an introspection that took 5 % of the request's processor time.
 */
class PreparedQuery extends Query {
  override readonly submit = submitPrepared;
  declare readonly name: string;
  readonly #text: string;
  readonly #params: readonly unknown[];
  readonly #guard: Command | undefined;
  readonly #shapes: RowShapes;
  readonly #done: QueryDone;
  readonly #rows: QueryResult['rows'] = [];
  #shape: RowShape | undefined;
  #tag = '';
  #failure: unknown;

  constructor({ text, params }: Command, name: string, guard: Command | undefined, shapes: RowShapes, done: QueryDone) {
    super(text);
    this.name = name;
    this.#guard = guard;
    this.#text = text;
    this.#params = params;
    this.#shapes = shapes;
    this.#done = done;
  }

  /** Sends everything up to the end of its synchronization group. */
  send(wire: Wire): void {
    const name = this.name;
    const guard = this.#guard;
    this.#shape = this.#shapes.get(name);
    if (guard === undefined && this.#shape !== undefined && isPrepared(wire, name)) this.#execute(wire, name);
    else this.#prepareAndExecute(wire, name, guard);
  }

  /** The common case, in one write. */
  #execute(wire: Wire, name: string): void {
    let message: Buffer;
    try {
      message = executeMessage(name, this.#params.map(encode));
    } catch (error) {
      // A parameter cannot be encoded. An empty group makes the driver continue with the next query.
      this.#failure = error;
      wire.sync();
      return;
    }
    if (wire.stream.writable) wire.stream.write(message);
  }

  #prepareAndExecute(wire: Wire, name: string, guard: Command | undefined): void {
    wire.stream.cork();
    try {
      // Both before anything is executed: what comes after a failure is skipped, and would not be prepared.
      if (guard?.name !== undefined) {
        prepare(wire, guard.name, guard.text);
        // The driver notes what was prepared under the name of the query only. If the server has refused it after all,
        // the next use finds that out.
        wire.parsedStatements[guard.name] = guard.text;
      }
      prepare(wire, name, this.#text);
      if (guard !== undefined) {
        wire.bind({ portal: '', statement: guard.name ?? '', values: guard.params.map(encode) }, true);
        // No rows are described, so it must return none.
        wire.execute({ portal: '' }, true);
      }
      wire.bind({ portal: '', statement: name, values: this.#params.map(encode) }, true);
      if (this.#shape === undefined) wire.describe({ type: 'P', name: '' }, true);
      wire.execute({ portal: '' }, true);
    } catch (error) {
      // A parameter cannot be encoded. The group is ended below, so that the driver continues with the next query.
      this.#failure = error;
    } finally {
      wire.sync();
      wire.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#shape = this.#shapes.add(this.name, fields);
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

  /** Called for a statement without text. */
  handleEmptyQuery(): void {}

  handleError(error: unknown): void {
    this.#done(this.#failure ?? error, undefined);
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.#done(this.#failure, undefined);
    else this.#done(undefined, completed(this.#tag, this.#rows));
  }
}

function prepare(wire: Wire, name: string, text: string): void {
  if (isPrepared(wire, name)) return;
  wire.parse({ name, text, types: [] }, true);
  wire.submittedNamedStatements[name] = text;
}

function isPrepared(wire: Wire, name: string): boolean {
  return (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined;
}

/** One function for all queries: the driver's class has a property here, which a method cannot override. */
function submitPrepared(this: PreparedQuery, wire: Wire): void {
  this.send(wire);
}

/** From the year 1 to 3938; for other years the driver and `toISOString` write different texts. */
const MAX_PLAIN_TIME_MS = 62_135_596_800_000;
const latestTime = { ms: Number.NaN, text: '' };

function encode(value: unknown): string | Buffer | null {
  // The driver is slower here: it converts to the time zone of the process, digit by digit.
  if (isPlainTime(value)) return encodeTime(value);
  return driverUtils.prepareValue(Array.isArray(value) ? value.map(encodeElement) : value);
}

/** Encodes an element of an array. An array within an array is sent as text (see `joinableWrite`). */
function encodeElement(value: unknown): unknown {
  if (isPlainTime(value)) return encodeTime(value);
  return Array.isArray(value) ? driverUtils.prepareValue(value) : value;
}

function isPlainTime(value: unknown): value is Date {
  return value instanceof Date && Math.abs(value.getTime()) < MAX_PLAIN_TIME_MS;
}

/** Cached, since the statements of a request send the time of the request again and again. */
function encodeTime(time: Date): string {
  const ms = time.getTime();
  if (ms !== latestTime.ms) {
    latestTime.ms = ms;
    latestTime.text = time.toISOString();
  }
  return latestTime.text;
}

function rowOf(shape: RowShape | undefined, fields: readonly (string | null)[]): Record<string, unknown> {
  if (shape === undefined) throw new Error('a row arrived without a description of its columns');
  const { columns } = shape;
  const row: Record<string, unknown> = { ...shape.blank };
  for (let index = 0; index < columns.length; index += 1) {
    const column = columns[index];
    const text = fields[index];
    if (column !== undefined && text !== undefined && text !== null) row[column.name] = column.parse(text);
  }
  return row;
}

/** @param tag `SELECT 1`, `INSERT 0 1`, `COMMIT`: the last number is the number of rows */
function completed(tag: string, rows: Completed['rows']): Completed {
  const blank = tag.indexOf(' ');
  if (blank === -1) return { command: tag, rowCount: null, rows };
  return { command: tag.slice(0, blank), rowCount: Number(tag.slice(tag.lastIndexOf(' ') + 1)), rows };
}
