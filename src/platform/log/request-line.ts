/**
 * The line that every request leaves in the log (operations 5.2, 5.8), as a table of its fields in their order. The
 * text, the JSON object, the reader and the reference of the log follow from this table.
 */
import { STATUS_CODES } from 'node:http';
import type { Ulid } from '#platform/base/ids.ts';
import type { Task } from '#platform/base/tasks.ts';
import { decodeReceived, escapePath, escapeQuoted, jsonString } from './escaping.ts';

export const REQUEST_EVENT = 'http.server.response';

/** The requester in the log line of a request. */
export type Requester =
  | { readonly kind: 'user'; readonly id: Ulid<'user'>; readonly username?: string }
  | { readonly kind: 'oauth2-client'; readonly id: Ulid<'client'> }
  | { readonly kind: 'homeserver' };

/** The GraphQL operation of a request, whether or not it was executed (account-graphql 1.8). */
export interface GraphqlOperation {
  readonly type: 'query' | 'mutation' | 'subscription';
  /** Restricted by the GraphQL grammar, so that it cannot end its field. Undefined for anonymous operations. */
  readonly name: string | undefined;
}

/** Contents of a request's log line (operations 5.2), except time and level. */
export interface RequestRecord {
  readonly task: Task;
  /** A token of at most 32 characters, or `-` if it could not be parsed. */
  readonly method: string;
  /** Path of the request target as received, one character per byte. */
  readonly path: string;
  /** `1.0`, `1.1` or `2.0`. Empty if it could not be parsed. */
  readonly httpVersion: string;
  readonly status: number;
  /** As received, one character per byte. */
  readonly userAgent: string | undefined;
  readonly requester: Requester | undefined;
  readonly clientAddress: string | undefined;
  readonly graphqlOperation: GraphqlOperation | undefined;
}

const PLAIN_PATH = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const PLAIN_USER_AGENT = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

interface Described {
  /** Name of its group in the regular expression of a text line. */
  readonly group: string;
  /** Name of its member in JSON. */
  readonly member: string;
  /** Regular expression of its value in a text line. */
  readonly shape: string;
  /** For the reference of the log, in Markdown. */
  readonly meaning: string;
}

const TOKEN = String.raw`[!#$%&'*+\-.^_${'`'}|~0-9A-Za-z]{1,32}`;
const WHOLE_NUMBER = String.raw`\d+`;
const ONE_DECIMAL = String.raw`\d+\.\d`;

/** What the lines of all events begin with. */
export const LINE_HEAD = {
  time: {
    group: 'time',
    member: 'timestamp',
    shape: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`,
    meaning: 'when the line was written, in UTC with microseconds',
  },
  level: {
    group: 'level',
    member: 'level',
    shape: 'INFO|WARN|ERROR',
    meaning: '`INFO` below status 400, `WARN` below 500, `ERROR` from 500 on',
  },
} as const satisfies Readonly<Record<string, Described>>;

/** A value with a fixed place in a text line. */
interface RequestPart extends Described {
  /** What a text line has before it. */
  readonly before: string;
  /** @returns its text */
  text(record: RequestRecord): string;
  /** @returns its JSON */
  json(record: RequestRecord): string;
}

/** Escaping costs more than the rest of a short value. */
const REASONS_AS_JSON: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, reason = 'Unknown']) => [Number(status), jsonString(reason)]),
);

export const REQUEST_PARTS = [
  {
    group: 'id',
    member: 'request_id',
    before: `${REQUEST_EVENT} `,
    shape: String.raw`${TOKEN}-\d+`,
    meaning: '`<METHOD>-<n>`, unique within the process; every log line of the request contains it',
    text: ({ task }) => task.id,
    json: ({ task }) => jsonString(task.id),
  },
  {
    group: 'method',
    member: 'method',
    before: ' - "',
    shape: TOKEN,
    meaning: 'method, truncated to 32 characters; `-` if it could not be parsed',
    text: ({ method }) => method,
    json: ({ method }) => jsonString(method),
  },
  {
    group: 'path',
    member: 'path',
    before: ' ',
    shape: String.raw`(?:[^\s"\\]|\\.)+`,
    meaning: 'path without query; `-` if it could not be parsed',
    text: ({ path }) => (PLAIN_PATH.test(path) ? path : escapePath(decodeReceived(path))),
    json: ({ path }) => jsonString(decodeReceived(path)),
  },
  {
    group: 'protocol',
    member: 'protocol',
    before: ' ',
    shape: String.raw`HTTP\/\d\.\d|-`,
    meaning: '`HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`; `-` if it could not be parsed',
    text: protocolText,
    json: (record) => `"${protocolText(record)}"`,
  },
  {
    group: 'status',
    member: 'status',
    before: '" ',
    shape: String.raw`\d{3}`,
    meaning: 'status code; a number in JSON',
    text: ({ status }) => String(status),
    json: ({ status }) => String(status),
  },
  {
    group: 'reason',
    member: 'reason',
    before: ' ',
    shape: '[^"]*?',
    meaning: 'its standard reason phrase, for HTTP/2 too',
    text: ({ status }) => reasonPhrase(status),
    json: ({ status }) => REASONS_AS_JSON.get(status) ?? jsonString(reasonPhrase(status)),
  },
  {
    group: 'ua',
    member: 'user_agent',
    before: ' "',
    shape: String.raw`(?:[^"\\]|\\.)*`,
    meaning: 'user agent as sent; `-` if there is none, and null in JSON',
    text: ({ userAgent }) => (hasText(userAgent) ? userAgentText(userAgent) : '-'),
    json: ({ userAgent }) => (hasText(userAgent) ? jsonString(decodeReceived(userAgent)) : 'null'),
  },
] as const satisfies readonly RequestPart[];

/** What the request cost. Lines of jobs have these too. Numbers in JSON, as members of `stats`. */
interface Statistic extends Described {
  readonly before: string;
  /** @param elapsedMs since the task started */
  text(task: Task, elapsedMs: number): string;
}

export const STATISTICS = [
  {
    group: 'polls',
    member: 'polls',
    before: '[polls: ',
    shape: WHOLE_NUMBER,
    meaning: 'number of uninterrupted JavaScript runs of the request; each wait ends one',
    text: ({ polls }) => String(polls),
  },
  {
    group: 'cpu',
    member: 'cpu_ms',
    before: ', cpu: ',
    shape: ONE_DECIMAL,
    meaning: 'CPU time of these runs, and of hashing for the request',
    text: ({ cpuMs }) => oneDecimal(cpuMs),
  },
  {
    group: 'db',
    member: 'db_ms',
    before: 'ms, db: ',
    shape: ONE_DECIMAL,
    meaning: 'time from passing statements to the driver until their results; concurrent statements add up',
    text: ({ dbMs }) => oneDecimal(dbMs),
  },
  {
    group: 'elapsed',
    member: 'elapsed_ms',
    before: 'ms, elapsed: ',
    shape: ONE_DECIMAL,
    meaning: 'time from the parsed headers to the complete response',
    text: (_, elapsedMs) => oneDecimal(elapsedMs),
  },
  {
    group: 'queries',
    member: 'queries',
    before: 'ms, queries: ',
    shape: WHOLE_NUMBER,
    meaning: 'number of statements sent',
    text: ({ queries }) => String(queries),
  },
  {
    group: 'fetched',
    member: 'fetched',
    before: ', fetched: ',
    shape: WHOLE_NUMBER,
    meaning: 'number of rows returned',
    text: ({ fetched }) => String(fetched),
  },
] as const satisfies readonly Statistic[];

/** `<member>=<value>` at the end of a text line. */
interface OptionalField extends Described {
  readonly before: string;
  /** @returns undefined if it is absent */
  value(record: RequestRecord): string | undefined;
}

export const OPTIONAL_FIELDS = [
  {
    group: 'requester',
    member: 'requester',
    before: ' requester=',
    shape: String.raw`\S+`,
    meaning:
      'authenticated caller: `user:<id>(<name>)`, `user:<id>`, `oauth2-client:<id>` or `homeserver`; absent for other ' +
      'callers, for example after a wrong password',
    value: ({ requester }) => (requester === undefined ? undefined : requesterText(requester)),
  },
  {
    group: 'address',
    member: 'client.address',
    before: ' client.address=',
    shape: '[0-9a-fA-F:.]+',
    meaning: 'client address ([trusted proxies](../guides/reverse-proxy.md)); absent if unknown',
    value: ({ clientAddress }) => clientAddress,
  },
  {
    group: 'gtype',
    member: 'graphql.operation.type',
    before: ' graphql.operation.type=',
    shape: 'query|mutation|subscription',
    meaning:
      'at `/graphql`: `query`, `mutation` or `subscription`, whether or not it was executed; absent if the operation ' +
      'is ambiguous',
    value: ({ graphqlOperation }) => graphqlOperation?.type,
  },
  {
    group: 'gname',
    member: 'graphql.operation.name',
    before: ' graphql.operation.name=',
    shape: '[_A-Za-z][_0-9A-Za-z]*',
    meaning: 'name of the operation; absent if it is anonymous',
    value: ({ graphqlOperation }) => graphqlOperation?.name,
  },
  {
    group: 'trace',
    member: 'trace.id',
    before: ' trace.id=',
    shape: '[0-9a-f]{32}',
    meaning:
      'ID of the [trace](../guides/tracing.md) of the request, if an exporter is enabled or a trusted proxy sent a ' +
      'valid `traceparent`',
    value: ({ task }) => task.traceId,
  },
] as const satisfies readonly OptionalField[];

/** Returns the standard reason phrase of a status. */
export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}

function protocolText({ httpVersion }: RequestRecord): string {
  // The usual ones cost no concatenation.
  if (httpVersion === '1.1') return 'HTTP/1.1';
  if (httpVersion === '2.0') return 'HTTP/2.0';
  return httpVersion === '' ? '-' : `HTTP/${httpVersion}`;
}

function userAgentText(userAgent: string): string {
  if (PLAIN_USER_AGENT.test(userAgent)) return userAgent;
  return escapeQuoted(decodeReceived(userAgent));
}

function hasText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function requesterText(requester: Requester): string {
  switch (requester.kind) {
    case 'homeserver':
      return 'homeserver';
    case 'oauth2-client':
      return `oauth2-client:${requester.id}`;
    case 'user':
      return requester.username === undefined
        ? `user:${requester.id}`
        : `user:${requester.id}(${usernameText(requester.username)})`;
  }
}

/**
 * Imported usernames may contain characters that would end the field, so these are percent-encoded (operations 5.5).
 */
function usernameText(username: string): string {
  return username.replace(/[^A-Za-z0-9=_\-./+@]/gu, (character) =>
    Buffer.from(character).reduce((text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, '0')}`, ''),
  );
}

const TENTHS = ['.0', '.1', '.2', '.3', '.4', '.5', '.6', '.7', '.8', '.9'];

function oneDecimal(milliseconds: number): string {
  const tenths = Math.round(milliseconds * 10);
  const whole = Math.floor(tenths / 10);
  return whole + (TENTHS[tenths - whole * 10] ?? '');
}
