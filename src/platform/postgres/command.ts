import { Query, type QueryResult, type Connection as Wire } from 'pg';
import { PreparedQuery, type QueryDone, type RowShapes } from './prepared-query.ts';

/** What is sent to the server: a registered statement, or one of the few commands of the pools themselves. */
export interface Command {
  readonly label: string;
  /** Name of the prepared statement; undefined where a pooler forbids names. */
  readonly name: string | undefined;
  readonly text: string;
  readonly params: readonly unknown[];
}

/** The driver's query for a command; `done` is called once, as soon as the result is complete. */
export function singleQuery(command: Command, shapes: RowShapes, done: QueryDone): Query {
  const { name, text, params } = command;
  if (name !== undefined) return new PreparedQuery({ name, text, params }, shapes, done);
  return Object.assign(new Query(text, [...params], done), modeOf(command));
}

/**
 * The driver's query for a command that runs behind others in one synchronization group: when one of them fails, the
 * server skips the rest. So a BEGIN costs no round trip of its own, and without it nothing behind it runs.
 *
 * The commands before have no parameters. A named one must already be prepared on the connection: the driver would
 * book its preparation under the name of the last.
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
  wire.bind({ portal: '', statement: command.name ?? '', values: [] }, true);
  // The driver cannot read rows that were not described.
  wire.describe({ type: 'P', name: '' }, true);
  wire.execute({ portal: '' }, true);
}
