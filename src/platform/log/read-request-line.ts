/**
 * Parses the `http.server.response` lines of a log, both text and JSON. Logs contain untrusted text, and a file may not
 * be a log at all, so only lines that match the layout completely are accepted.
 */
import { escapePath } from './escaping.ts';
import { REQUEST_EVENT } from './request-line.ts';

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

const TIME = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z`;
// `logging.color: always` also colors file output.
const LEVEL = String.raw`(?:\x1b\[\d\dm)?(?:ERROR|WARN|INFO|DEBUG|TRACE)(?:\x1b\[0m)?`;
const METHOD = String.raw`[!#$%&'*+\-.^_\`|~0-9A-Za-z]{1,32}`;
const REQUEST_ID = String.raw`${METHOD}-\d+`;
const REQUESTER = String.raw`\S+`;
const ADDRESS = '[0-9a-fA-F:.]+';
const OPERATION_TYPE = 'query|mutation|subscription';
const OPERATION_NAME = '[_A-Za-z][_0-9A-Za-z]*';
const TRACE_ID = '[0-9a-f]{32}';
const STATISTICS = String.raw`polls: \d+, cpu: \d+\.\dms, db: \d+\.\dms, elapsed: \d+\.\dms, queries: \d+, fetched: \d+`;

const ANY_LINE = new RegExp(`^${TIME} +${LEVEL} (\\S+) `);
const REQUEST_LINE = new RegExp(
  `^(${TIME}) +${LEVEL} http\\.server\\.response (${REQUEST_ID}) - ` +
    `"(${METHOD}) ((?:[^\\s"\\\\]|\\\\.)+) (?:HTTP/\\d\\.\\d|-)" (\\d{3}) [^"]*? "(?:[^"\\\\]|\\\\.)*" \\[${STATISTICS}\\]` +
    `(?: requester=(${REQUESTER}))?(?: client\\.address=(${ADDRESS}))?` +
    `(?: graphql\\.operation\\.type=(${OPERATION_TYPE}))?(?: graphql\\.operation\\.name=(${OPERATION_NAME}))?` +
    `(?: trace\\.id=(${TRACE_ID}))?$`,
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

const WHOLE = {
  time: new RegExp(`^${TIME}$`),
  requestId: new RegExp(`^${REQUEST_ID}$`),
  method: new RegExp(`^${METHOD}$`),
  path: /./su,
  requester: new RegExp(`^${REQUESTER}$`),
  clientAddress: new RegExp(`^${ADDRESS}$`),
  operationType: new RegExp(`^(?:${OPERATION_TYPE})$`),
  operationName: new RegExp(`^${OPERATION_NAME}$`),
  traceId: new RegExp(`^${TRACE_ID}$`),
};

function readJson(line: string): LoggedRequest | 'malformed' | undefined {
  const members = parseMembers(line);
  if (members === undefined) return 'malformed';
  const event = members['event'];
  if (event !== REQUEST_EVENT) return typeof event === 'string' ? undefined : 'malformed';
  let isWellFormed = true;
  const optional = (name: string, shape: RegExp): string | undefined => {
    const value = members[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && shape.test(value)) return value;
    isWellFormed = false;
    return undefined;
  };
  const required = (name: string, shape: RegExp): string => {
    isWellFormed &&= members[name] !== undefined;
    return optional(name, shape) ?? '';
  };
  const status = members['status'];
  const request = {
    time: required('timestamp', WHOLE.time),
    requestId: required('request_id', WHOLE.requestId),
    method: required('method', WHOLE.method),
    path: escapePath(required('path', WHOLE.path)),
    status: typeof status === 'number' ? status : 0,
    requester: optional('requester', WHOLE.requester),
    clientAddress: optional('client.address', WHOLE.clientAddress),
    operationType: optional('graphql.operation.type', WHOLE.operationType),
    operationName: optional('graphql.operation.name', WHOLE.operationName),
    traceId: optional('trace.id', WHOLE.traceId),
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
