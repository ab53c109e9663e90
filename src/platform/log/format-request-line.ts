/** Formats the line of a request. Every request pays for it, so what never changes is prepared here. */
import type { Task } from '#platform/base/tasks.ts';
import { jsonString } from './escaping.ts';
import { OPTIONAL_FIELDS, REQUEST_PARTS, type RequestRecord, STATISTICS } from './request-line.ts';

// The formatters name each field once instead of looping, so that the compiler inlines its function. The empty tuples
// make a field that the formatters omit a type error.
const [ID, METHOD, PATH, PROTOCOL, STATUS, REASON, USER_AGENT, ...noPart] = REQUEST_PARTS;
noPart satisfies readonly [];
const [POLLS, CPU, DB, ELAPSED, QUERIES, FETCHED, ...noStatistic] = STATISTICS;
noStatistic satisfies readonly [];
const [REQUESTER, ADDRESS, OPERATION_TYPE, OPERATION_NAME, TRACE, ...noField] = OPTIONAL_FIELDS;
noField satisfies readonly [];

const AFTER_PARTS = '" ';

/** Formats the line after `<time> <LEVEL> `. @param elapsedMs from the parsed request head to the finished response */
export function requestLineText(record: RequestRecord, elapsedMs: number): string {
  return (
    `${ID.before}${ID.text(record)}${METHOD.before}${METHOD.text(record)}${PATH.before}${PATH.text(record)}` +
    `${PROTOCOL.before}${PROTOCOL.text(record)}${STATUS.before}${STATUS.text(record)}` +
    `${REASON.before}${REASON.text(record)}${USER_AGENT.before}${USER_AGENT.text(record)}` +
    `${AFTER_PARTS}${statisticsText(record.task, elapsedMs)}` +
    fieldText(REQUESTER, REQUESTER.value(record)) +
    fieldText(ADDRESS, ADDRESS.value(record)) +
    fieldText(OPERATION_TYPE, OPERATION_TYPE.value(record)) +
    fieldText(OPERATION_NAME, OPERATION_NAME.value(record)) +
    fieldText(TRACE, TRACE.value(record))
  );
}

function fieldText({ before }: { readonly before: string }, value: string | undefined): string {
  return value === undefined ? '' : before + value;
}

/** Formats the cost of a task. @param elapsedMs since it started */
export function statisticsText(task: Task, elapsedMs: number): string {
  return (
    `${POLLS.before}${POLLS.text(task)}${CPU.before}${CPU.text(task)}${DB.before}${DB.text(task)}` +
    `${ELAPSED.before}${ELAPSED.text(task, elapsedMs)}` +
    `${QUERIES.before}${QUERIES.text(task)}${FETCHED.before}${FETCHED.text(task)}]`
  );
}

const KEYS = {
  id: `"${ID.member}":`,
  method: `,"${METHOD.member}":`,
  path: `,"${PATH.member}":`,
  protocol: `,"${PROTOCOL.member}":`,
  status: `,"${STATUS.member}":`,
  reason: `,"${REASON.member}":`,
  userAgent: `,"${USER_AGENT.member}":`,
  polls: `,"stats":{"${POLLS.member}":`,
  cpu: `,"${CPU.member}":`,
  db: `,"${DB.member}":`,
  elapsed: `,"${ELAPSED.member}":`,
  queries: `,"${QUERIES.member}":`,
  fetched: `,"${FETCHED.member}":`,
  requester: `,"${REQUESTER.member}":`,
  address: `,"${ADDRESS.member}":`,
  operationType: `,"${OPERATION_TYPE.member}":`,
  operationName: `,"${OPERATION_NAME.member}":`,
  trace: `,"${TRACE.member}":`,
} as const;

/** Formats the members of the line's JSON object after `timestamp`, `level` and `event` (operations 5.8). */
export function requestLineJson(record: RequestRecord, elapsedMs: number): string {
  const { task } = record;
  return (
    `${KEYS.id}${ID.json(record)}${KEYS.method}${METHOD.json(record)}${KEYS.path}${PATH.json(record)}` +
    `${KEYS.protocol}${PROTOCOL.json(record)}${KEYS.status}${STATUS.json(record)}` +
    `${KEYS.reason}${REASON.json(record)}${KEYS.userAgent}${USER_AGENT.json(record)}` +
    `${KEYS.polls}${POLLS.text(task)}${KEYS.cpu}${CPU.text(task)}${KEYS.db}${DB.text(task)}` +
    `${KEYS.elapsed}${ELAPSED.text(task, elapsedMs)}` +
    `${KEYS.queries}${QUERIES.text(task)}${KEYS.fetched}${FETCHED.text(task)}}` +
    fieldJson(KEYS.requester, REQUESTER.value(record)) +
    fieldJson(KEYS.address, ADDRESS.value(record)) +
    fieldJson(KEYS.operationType, OPERATION_TYPE.value(record)) +
    fieldJson(KEYS.operationName, OPERATION_NAME.value(record)) +
    fieldJson(KEYS.trace, TRACE.value(record))
  );
}

function fieldJson(key: string, value: string | undefined): string {
  return value === undefined ? '' : key + jsonString(value);
}

/**
 * Returns the regular expression that a text line matches.
 * @param head matches time and level
 * @param groupOf returns the group for a value
 */
export function requestLinePattern(head: string, groupOf: (group: string, shape: string) => string): string {
  const fixed = (fields: readonly { readonly before: string; readonly group: string; readonly shape: string }[]) =>
    fields.map(({ before, group, shape }) => literally(before) + groupOf(group, shape)).join('');
  const optional = OPTIONAL_FIELDS.map(
    ({ before, group, shape }) => `(?:${literally(before)}${groupOf(group, shape)})?`,
  );
  return `^${head} ${fixed(REQUEST_PARTS)}${AFTER_PARTS}${fixed(STATISTICS)}\\]${optional.join('')}$`;
}

function literally(text: string): string {
  return text.replace(/[.[\]]/g, String.raw`\$&`);
}
