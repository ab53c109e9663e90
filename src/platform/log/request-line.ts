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

/** Formats the line after `<time> <LEVEL> `. @param elapsedMs from the parsed request head to the finished response */
export function requestLineText(record: RequestRecord, elapsedMs: number): string {
  const { task } = record;
  const requester = record.requester === undefined ? '' : ` requester=${requesterText(record.requester)}`;
  const address = record.clientAddress === undefined ? '' : ` client.address=${record.clientAddress}`;
  const trace = task.traceId === undefined ? '' : ` trace.id=${task.traceId}`;
  return (
    `${REQUEST_EVENT} ${task.id} - "${record.method} ${pathText(record.path)} ${protocolText(record)}" ` +
    `${record.status} ${reasonPhrase(record.status)} "${userAgentText(record.userAgent)}" ` +
    `${statisticsText(task, elapsedMs)}` +
    `${requester}${address}${operationText(record.graphqlOperation)}${trace}`
  );
}

/** Formats the cost of a task. @param elapsedMs since it started */
export function statisticsText(task: Task, elapsedMs: number): string {
  return (
    `[polls: ${task.polls}, cpu: ${oneDecimal(task.cpuMs)}ms, db: ${oneDecimal(task.dbMs)}ms, ` +
    `elapsed: ${oneDecimal(elapsedMs)}ms, queries: ${task.queries}, fetched: ${task.fetched}]`
  );
}

/** Formats the members of the line's JSON object after `timestamp`, `level` and `event` (operations 5.8). */
export function requestLineJson(record: RequestRecord, elapsedMs: number): string {
  const { task, requester, clientAddress, graphqlOperation: operation } = record;
  const userAgent = hasText(record.userAgent) ? jsonString(decodeReceived(record.userAgent)) : 'null';
  return (
    `"request_id":${jsonString(task.id)},"method":${jsonString(record.method)},` +
    `"path":${jsonString(decodeReceived(record.path))},"protocol":"${protocolText(record)}",` +
    `"status":${record.status},"reason":${jsonString(reasonPhrase(record.status))},"user_agent":${userAgent},` +
    `"stats":{"polls":${task.polls},"cpu_ms":${oneDecimal(task.cpuMs)},"db_ms":${oneDecimal(task.dbMs)},` +
    `"elapsed_ms":${oneDecimal(elapsedMs)},"queries":${task.queries},"fetched":${task.fetched}}` +
    (requester === undefined ? '' : `,"requester":${jsonString(requesterText(requester))}`) +
    (clientAddress === undefined ? '' : `,"client.address":${jsonString(clientAddress)}`) +
    (operation === undefined ? '' : `,"graphql.operation.type":${jsonString(operation.type)}`) +
    (operation?.name === undefined ? '' : `,"graphql.operation.name":${jsonString(operation.name)}`) +
    (task.traceId === undefined ? '' : `,"trace.id":${jsonString(task.traceId)}`)
  );
}

/** Returns the standard reason phrase of a status. */
export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}

const PLAIN_PATH = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const PLAIN_USER_AGENT = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

function protocolText({ httpVersion }: RequestRecord): string {
  return httpVersion === '' ? '-' : `HTTP/${httpVersion}`;
}

function pathText(path: string): string {
  return PLAIN_PATH.test(path) ? path : escapePath(decodeReceived(path));
}

function userAgentText(userAgent: string | undefined): string {
  if (!hasText(userAgent)) return '-';
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

function operationText(operation: GraphqlOperation | undefined): string {
  if (operation === undefined) return '';
  const name = operation.name === undefined ? '' : ` graphql.operation.name=${operation.name}`;
  return ` graphql.operation.type=${operation.type}${name}`;
}

function oneDecimal(milliseconds: number): string {
  const tenths = Math.round(milliseconds * 10);
  const whole = Math.floor(tenths / 10);
  return `${whole}.${tenths - whole * 10}`;
}
