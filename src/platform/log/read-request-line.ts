/**
 * Parses the `http.server.response` lines of a log, both text and JSON. Logs contain untrusted text, and a file may not
 * be a log at all, so only lines that match the layout completely are accepted.
 */
import { escapePath } from './escaping.ts';
import { requestLinePattern } from './format-request-line.ts';
import { LINE_HEAD, OPTIONAL_FIELDS, REQUEST_EVENT, REQUEST_PARTS } from './request-line.ts';

export interface LoggedRequest {
  /** UTC with six decimals, as written, so that times compare as text. */
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  /** Escaped as in a text line. If the log did not write it, it may contain anything but whitespace. */
  readonly path: string;
  readonly status: number;
  readonly requester: string | undefined;
  readonly clientAddress: string | undefined;
  readonly operationType: string | undefined;
  readonly operationName: string | undefined;
  readonly traceId: string | undefined;
}

// Checks the ranges as well, because times are compared as text.
const TIME = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z`;
// `logging.color: always` also colors file output.
const LEVEL = String.raw`(?:\x1b\[\d\dm)?(?:ERROR|WARN|INFO|DEBUG|TRACE)(?:\x1b\[0m)?`;

const ANY_LINE = new RegExp(`^${TIME} +${LEVEL} (\\S+) `);

/** Captures what a `LoggedRequest` has, in the order of the line. */
const CAPTURED = ['id', 'method', 'path', 'status', 'requester', 'address', 'gtype', 'gname', 'trace'];
const REQUEST_LINE = new RegExp(
  requestLinePattern(`(${TIME}) +${LEVEL}`, (group, shape) =>
    CAPTURED.includes(group) ? `(${shape})` : `(?:${shape})`,
  ),
);

/**
 * @param line without its line break
 * @returns undefined for all other lines; `malformed` if it names the event but does not match the layout
 */
export function readRequestLine(line: string): LoggedRequest | 'malformed' | undefined {
  if (!line.includes(REQUEST_EVENT)) return undefined;
  return line.startsWith('{') ? readJson(line) : readText(line);
}

function readText(line: string): LoggedRequest | 'malformed' | undefined {
  const parts = REQUEST_LINE.exec(line);
  if (parts === null) {
    // Fields of other events may mention this event.
    const event = ANY_LINE.exec(line)?.[1];
    return event === undefined || event === REQUEST_EVENT ? 'malformed' : undefined;
  }
  const [, time = '', requestId = '', method = '', path = '', status, requester, clientAddress, ...operation] = parts;
  const [operationType, operationName, traceId] = operation;
  return {
    time,
    requestId,
    method,
    path,
    status: Number(status),
    requester,
    clientAddress,
    operationType,
    operationName,
    traceId,
  };
}

type Member = (typeof REQUEST_PARTS | typeof OPTIONAL_FIELDS)[number]['member'] | typeof LINE_HEAD.time.member;

const SHAPES = new Map<Member, RegExp>([
  ...[...REQUEST_PARTS, ...OPTIONAL_FIELDS].map(({ member, shape }) => [member, new RegExp(`^(?:${shape})$`)] as const),
  [LINE_HEAD.time.member, new RegExp(`^${TIME}$`)],
  // Not escaped in JSON.
  ['path', /./su],
]);

function readJson(line: string): LoggedRequest | 'malformed' | undefined {
  const members = parseMembers(line);
  if (members === undefined) return 'malformed';
  const event = members['event'];
  if (event !== REQUEST_EVENT) return typeof event === 'string' ? undefined : 'malformed';
  let isWellFormed = true;
  const optional = (name: Member): string | undefined => {
    const value = members[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && SHAPES.get(name)?.test(value) === true) return value;
    isWellFormed = false;
    return undefined;
  };
  const required = (name: Member): string => {
    isWellFormed &&= members[name] !== undefined;
    return optional(name) ?? '';
  };
  const status = members['status'];
  const request = {
    time: required(LINE_HEAD.time.member),
    requestId: required('request_id'),
    method: required('method'),
    path: escapePath(required('path')),
    status: typeof status === 'number' ? status : 0,
    requester: optional('requester'),
    clientAddress: optional('client.address'),
    operationType: optional('graphql.operation.type'),
    operationName: optional('graphql.operation.name'),
    traceId: optional('trace.id'),
  };
  const hasStatus = Number.isInteger(request.status) && request.status >= 100 && request.status <= 999;
  return isWellFormed && hasStatus ? request : 'malformed';
}

/** No check for an object is needed: other JSON values have no properties of the names that are read. */
function parseMembers(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: Readonly<Record<string, unknown>> | null = JSON.parse(line);
    return value ?? undefined;
  } catch {
    return undefined;
  }
}
