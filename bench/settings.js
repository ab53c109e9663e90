/** Sizes of the measurements. Everything is bounded by counts; `full` takes about twenty minutes. */
export const SIZES = {
  full: {
    rounds: 10,
    users: 10_000,
    sessions: 100_000,
    chatSessions: 20_000,
    /** Requests to each contestant before a workload is measured, so that code is compiled. */
    warmUp: 4_000,
    /** Requests per measurement, by concurrency. */
    requests: { 1: 300, 16: 2_000, 64: 2_000 },
    logins: { 16: 100 },
    memory: { first: 1_000, last: 20_000 },
    starts: 5,
    /** Number of tries for each kind of name and address, and for each list and user. */
    tries: 200,
    overloadSeconds: 20,
    /** Requests for each list and user before they are measured. */
    listWarmUp: 200,
    expiredTokens: 10_000_000,
    grownSessions: 10_000_000,
    steadySeconds: 3_600,
  },
  quick: {
    rounds: 3,
    users: 500,
    sessions: 5_000,
    chatSessions: 5_000,
    warmUp: 1_000,
    requests: { 1: 100, 16: 600, 64: 600 },
    logins: { 16: 40 },
    memory: { first: 200, last: 2_000 },
    starts: 2,
    tries: 50,
    overloadSeconds: 5,
    listWarmUp: 60,
    expiredTokens: 100_000,
    grownSessions: 100_000,
    steadySeconds: 120,
  },
};

/** Sizes of the smoke run, which only checks that everything works within its budget. */
export const SMOKE = {
  users: 100,
  sessions: 4_000,
  chatSessions: 2_000,
  concurrency: 16,
  rounds: 4,
  warmUp: 1_200,
  requests: 240,
  logins: 8,
  bareWarmUp: 4_000,
  /** Requests to the bare server in each round. */
  bareRequests: 400,
};

/** Number of sessions in the in-memory peer. */
export const PEER_SESSIONS = 1_000;
/** Token chains of the bare server. */
export const BARE_SESSIONS = 2_000;
/** Hosts whose clients register one after another. */
export const REGISTRANTS = 500;

/** Workloads that hash a password per request, and run fewer requests. */
export const HASHING = new Set(['password-login', 'chat-login']);

/**
 * The races, in order: read-only workloads run before those that fill the tables. `goal`: minimum ratio of rates to a
 * peer, as in `performance.md`. `budget`: maximum processor time of this process per request, as a multiple of a lookup
 * on the bare server, or of a bare hash. Budgets are 1.5 times the values measured with two processors, where two runs
 * differ by up to a third.
 */
export const RACES = [
  { workload: 'introspect', peers: { 'oidc-provider': { goal: 2 }, bare: { goal: 0.6 } }, statements: 1, budget: 4.5 },
  { workload: 'chat-introspect', peers: {}, statements: 1, budget: 4.5 },
  { workload: 'userinfo', peers: { 'oidc-provider': {} }, statements: 1, budget: 4.5 },
  { workload: 'login-page', peers: {}, statements: 0, budget: 10 },
  { workload: 'device-poll', peers: {}, statements: 1, budget: 10 },
  { workload: 'client-credentials', peers: { 'oidc-provider': { goal: 2 } }, statements: 2, budget: 5.5 },
  { workload: 'client-assertion', peers: {}, statements: 2, budget: 12 },
  { workload: 'refresh', peers: { 'oidc-provider': { goal: 1 }, bare: { goal: 0.5 } }, statements: 2, budget: 9 },
  { workload: 'refresh-openid', peers: {}, statements: 2, budget: 20 },
  { workload: 'chat-refresh', peers: {}, statements: 2, budget: 9 },
  { workload: 'code-exchange', peers: {}, statements: 2, budget: 22 },
  { workload: 'registration', peers: {}, statements: 1, budget: 13 },
  { workload: 'password-login', peers: { argon2id: { goal: 0.9 } }, statements: 3, budget: 2 },
  { workload: 'chat-login', peers: { argon2id: {} }, statements: 3, budget: 2 },
];

/** Goals of starts and memory, as in `performance.md`. */
export const GOALS = { residentMb: 120, startMilliseconds: 1_000, secondStartMilliseconds: 3_000, memoryGrowth: 1.2 };
