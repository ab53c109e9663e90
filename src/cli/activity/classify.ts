/**
 * Classifies logged requests as activities of users and clients (interface, "Classifying activity from the log";
 * operations 3.10).
 */
import type { LoggedRequest } from '#platform/log/read-request-line.ts';

/** Outcomes of a request. `attempted`: the log does not show the outcome (responses of `/graphql`). */
export const OUTCOMES = [
  'success',
  'attempted',
  'pending',
  'redirect',
  'incomplete',
  'other',
  'failure',
  'refused',
  'error',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** All activities, without the operation that follows `account:`. */
export const ACTIVITIES = [
  'browser-login',
  'browser-logout',
  'registration',
  'upstream-login',
  'chat-login',
  'chat-logout',
  'token-issuance',
  'token-revocation',
  'token-introspection',
  'authorization-grant',
  'account',
] as const;
export type Activity = (typeof ACTIVITIES)[number];

export interface ActivityRecord extends Omit<LoggedRequest, 'operationType' | 'operationName'> {
  /** One of `ACTIVITIES`; `account:<Operation>` includes the operation. */
  readonly activity: string;
  readonly outcome: Outcome;
}

interface Rule {
  readonly activity: Exclude<Activity, 'account'>;
  /** Statuses below 500 that count as failures. Other 4xx are `refused`. */
  readonly failures: readonly number[];
  /** Returns the outcome for other statuses below 400. */
  judge(request: LoggedRequest): Outcome;
}

/** A sign-in form, which is shown again with 200 if it is rejected. */
function judgeForm(otherwise: Outcome): Rule['judge'] {
  return ({ status, requester }) => {
    if (status === 200) return 'failure';
    if (status !== 303) return 'other';
    return requester === undefined ? otherwise : 'success';
  };
}

function succeeds(isSuccess: (request: LoggedRequest) => boolean): Rule['judge'] {
  return (request) => (isSuccess(request) ? 'success' : 'other');
}

const isByClient = ({ status, requester }: LoggedRequest): boolean =>
  status === 200 && requester?.startsWith('oauth2-client:') === true;

const REGISTRATION: Rule = { activity: 'registration', failures: [], judge: judgeForm('incomplete') };
const UPSTREAM_LOGIN: Rule = { activity: 'upstream-login', failures: [], judge: judgeForm('redirect') };
const CHAT_LOGIN: Rule = {
  activity: 'chat-login',
  failures: [401, 403, 429],
  judge: succeeds(({ status, requester }) => status === 200 && requester !== undefined),
};
const CHAT_LOGOUT: Rule = {
  activity: 'chat-logout',
  failures: [401],
  judge: succeeds(({ status }) => status === 200),
};
const AUTHORIZATION: Rule = {
  activity: 'authorization-grant',
  failures: [400],
  judge: ({ status, requester }) => {
    if (status === 303) return requester === undefined ? 'pending' : 'success';
    return status === 200 ? 'pending' : 'other';
  },
};

/** Every sign-in method ends in one of these: the password alone, or the second factor. */
const BROWSER_LOGIN: Rule = { activity: 'browser-login', failures: [], judge: judgeForm('redirect') };

/** Rules by method and full path. */
const FIXED = new Map<string, Rule>([
  ['POST /login', BROWSER_LOGIN],
  ['POST /login/totp', BROWSER_LOGIN],
  ['POST /login/recovery-code', BROWSER_LOGIN],
  ['POST /login/passkey', BROWSER_LOGIN],
  ['POST /login/setup', BROWSER_LOGIN],
  ['POST /logout', { activity: 'browser-logout', failures: [], judge: succeeds(({ status }) => status === 303) }],
  ['POST /oauth2/token', { activity: 'token-issuance', failures: [400, 401], judge: succeeds(isByClient) }],
  ['POST /oauth2/revoke', { activity: 'token-revocation', failures: [400, 401], judge: succeeds(isByClient) }],
  [
    'POST /oauth2/introspect',
    { activity: 'token-introspection', failures: [401], judge: succeeds(({ status }) => status === 200) },
  ],
  ['GET /authorize', AUTHORIZATION],
  ['POST /authorize', AUTHORIZATION],
]);

const ULID = '[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}';
const FINISH = new RegExp(`^/register/steps/${ULID}/finish$`);
const LINK = new RegExp(`^/upstream/link/${ULID}$`);
const CHAT = /^\/_[^/]*\/client\/[^/]+\/(login|logout|logout\/all)$/;

/**
 * @param prefix path prefix of the listener, without a trailing slash; empty for none
 * @returns undefined if the request is not an activity
 */
export function classify(request: LoggedRequest, prefix: string): ActivityRecord | undefined {
  if (!request.path.startsWith(prefix)) return undefined;
  const path = prefix === '' ? request.path : request.path.slice(prefix.length);
  if (path === '/graphql') return accountActivity(request);
  const rule = ruleOf(request.method, path);
  return rule === undefined ? undefined : recordOf(request, rule.activity, outcomeOf(request, rule));
}

function ruleOf(method: string, path: string): Rule | undefined {
  const fixed = FIXED.get(`${method} ${path}`);
  if (fixed !== undefined) return fixed;
  if (method === 'GET') return FINISH.test(path) ? REGISTRATION : undefined;
  if (method !== 'POST') return undefined;
  if (LINK.test(path)) return UPSTREAM_LOGIN;
  const kind = CHAT.exec(path)?.[1];
  if (kind === undefined) return undefined;
  return kind === 'login' ? CHAT_LOGIN : CHAT_LOGOUT;
}

function outcomeOf(request: LoggedRequest, rule: Rule): Outcome {
  const { status } = request;
  if (status >= 500) return 'error';
  if (rule.failures.includes(status)) return 'failure';
  return status >= 400 ? 'refused' : rule.judge(request);
}

/** The log shows that a change was requested. Only the response shows whether it succeeded (interface, Errors 2). */
function accountActivity(request: LoggedRequest): ActivityRecord | undefined {
  const { method, operationType, operationName, status } = request;
  if (method !== 'POST' || operationType !== 'mutation' || operationName === undefined) return undefined;
  let outcome: Outcome = 'other';
  if (status >= 500) outcome = 'error';
  else if (status >= 400) outcome = 'failure';
  else if (status === 200) outcome = 'attempted';
  return recordOf(request, `account:${operationName}`, outcome);
}

function recordOf(request: LoggedRequest, activity: string, outcome: Outcome): ActivityRecord {
  // Written out: with millions of lines, copying by spread costs three times as much as parsing.
  return {
    time: request.time,
    activity,
    outcome,
    requester: request.requester,
    clientAddress: request.clientAddress,
    requestId: request.requestId,
    method: request.method,
    path: request.path,
    status: request.status,
    traceId: request.traceId,
  };
}
