/** The acceptance checks of operations 10, by number and clause, with the tests that prove them. */

/** A file, and part of the name of its test. Programs in `tools/` and `bench/` may have no test names. */
export type Proof = readonly [file: string, words?: string];

export interface Clause {
  readonly what: string;
  readonly shownBy: readonly Proof[];
  /** The part that no test proves yet, and why. */
  readonly missing?: string;
}

export interface Check {
  readonly title: string;
  readonly clauses: readonly Clause[];
}

const EMPTY_DIRECTORY = 'test/start/empty-directory.test.ts';
const REQUEST_LINES = 'test/start/request-lines.test.ts';
const SECRETS = 'test/acceptance/secrets.test.ts';
const KEYS = 'src/config/keys.test.ts';
const REQUEST_LOG = 'src/platform/http/request-log.test.ts';
const HTTP2 = 'src/platform/http/http2.test.ts';
const STOP = 'test/faults/stop.test.ts';
const TWO_INSTANCES = 'test/faults/two-instances.test.ts';
const PERIODIC = 'src/platform/jobs/periodic-jobs.test.ts';
const SWEEPS = 'src/app/sweeps.test.ts';
const MIGRATE = 'src/platform/postgres/migrator/migrate.test.ts';
const BACKUP = 'src/cli/backup.test.ts';
const ADMIN_MATRIX = 'test/attacks/admin-matrix.test.ts';

/** Ordered by number, starting at 10.1. */
export const CHECKS: readonly Check[] = [
  {
    title: 'Start in an empty directory',
    clauses: [
      {
        what: 'every GET route of the interface answers, within 8 s',
        shownBy: [[EMPTY_DIRECTORY, 'every GET route of the interface answers'], ['bench/starts.js']],
      },
      {
        what: 'a second start uses the same keys',
        shownBy: [
          [EMPTY_DIRECTORY, 'a second start has the same keys and users'],
          [
            'src/app/data-directory/data-directory.test.ts',
            'keep every key, add a missing one, and record the version that wrote last',
          ],
        ],
      },
      {
        what: 'files are not accessible to other users',
        shownBy: [
          [EMPTY_DIRECTORY, 'its files are not accessible to others'],
          ['src/app/data-directory/data-directory.test.ts', 'private to this account'],
          [
            'src/platform/embedded-postgres/embedded-server.test.ts',
            'other accounts cannot access files, socket directory and log',
          ],
        ],
      },
      {
        what: 'a second service on the same port exits with 71',
        shownBy: [
          [EMPTY_DIRECTORY, 'a second service on the same port exits with 71'],
          [STOP, 'a second service on the same port exits with 71'],
          ['test/faults/processes.test.ts', 'a port in use ends the start with exit 71'],
        ],
      },
      {
        what: 'a second service on another port serves the same data',
        shownBy: [
          [EMPTY_DIRECTORY, 'signs in there and at a second service of the directory'],
          ['test/faults/two-processes.test.ts', 'two hundred codes, each exchanged and refreshed'],
        ],
      },
      {
        what: 'an administrator is created while the service runs, and signs in',
        shownBy: [
          [EMPTY_DIRECTORY, 'an administrator created at run time signs in'],
          ['test/start/running.test.ts', 'show a command that creates the first admin'],
        ],
      },
    ],
  },
  {
    title: 'Every setting',
    clauses: [
      { what: 'has its default', shownBy: [[KEYS, 'without any source, the defaults match the manual']] },
      {
        what: 'accepts a valid value',
        shownBy: [
          [KEYS, 'accepts ${row.good'],
          [KEYS, 'covers every key of the schema'],
        ],
      },
      { what: 'rejects an invalid value with file, line and column', shownBy: [[KEYS, 'with file, line and column']] },
      {
        what: 'is rejected together with its file',
        shownBy: [
          [KEYS, '%s is rejected together with %s_file, with its position'],
          ['src/config/secret-files.test.ts', 'together with k in one source is an error that names both'],
        ],
      },
      {
        what: 'is suggested for a misspelled key',
        shownBy: [
          ['src/config/load.test.ts', 'lists all problems of all files in text order'],
          ['src/config/load.test.ts', 'suggests the position of a misplaced known key'],
        ],
      },
      {
        what: 'is overridden by its environment variable',
        shownBy: [[KEYS, 'is overridden by its environment variable']],
      },
      {
        what: 'matches the JSON Schema',
        shownBy: [
          [
            'src/config/reference/reference.test.ts',
            'contains every key with title and description, and rejects others',
          ],
          ['src/cli/config.test.ts', 'config schema and the manual are printed as shipped'],
          ['test/manual/manual.test.ts', 'every generated page matches the source'],
        ],
      },
    ],
  },
  {
    title: 'Listeners',
    clauses: [
      {
        what: 'by address, by host and port',
        shownBy: [
          ['src/config/rules.test.ts', 'a bind is an address, a port with an optional host'],
          [
            'src/platform/http/shutdown.test.ts',
            'without a host serves both families on one port; a name binds all its addresses',
          ],
        ],
      },
      {
        what: 'PROXY protocol, versions 1 and 2',
        shownBy: [
          [
            'src/platform/http/proxy-protocol.test.ts',
            'the source named by a PROXY header is the client (operations 1.7.4, 5.6)',
          ],
          [
            'src/platform/http/proxy-protocol.test.ts',
            'a connection without a valid header is closed without a response',
          ],
          ['test/start/activity.test.ts', 'reports activity over HTTP/2, TLS, PROXY, Unix sockets'],
        ],
      },
      {
        what: 'TLS with HTTP/2 and HTTP/1.1',
        shownBy: [
          [HTTP2, 'curl gets pages and sends forms'],
          ['src/platform/http/tls.test.ts', 'speaks HTTP/1.1 by ALPN'],
          ['test/start/activity.test.ts', 'reports activity over HTTP/2, TLS, PROXY, Unix sockets'],
        ],
      },
      {
        what: 'certificate replacement without a restart',
        shownBy: [
          ['test/faults/reload.test.ts', 'a certificate is replaced without a restart'],
          ['src/app/service/tls-reload.test.ts', 'are reloaded once they have changed, not at every check'],
        ],
      },
      {
        what: 'permissions and replacement of a Unix socket',
        shownBy: [
          [
            'src/platform/http/unix-sockets.test.ts',
            'has the configured permissions from the start and is removed at the end',
          ],
          [
            'src/platform/http/unix-sockets.test.ts',
            'replaces the socket of a running process, which then leaves the new one alone',
          ],
        ],
      },
      {
        what: 'systemd socket activation',
        shownBy: [
          ['test/start/inherited-sockets.test.ts', 'TCP by name and Unix by position are served'],
          ['src/platform/http/inherited-sockets.test.ts', 'are found by position or by name'],
        ],
      },
    ],
  },
  {
    title: 'Request lines',
    clauses: [
      {
        what: 'every line of a run over all routes has the format, as text and as JSON',
        shownBy: [
          [REQUEST_LINES, 'has complete lines with unique numbers'],
          [
            'test/hostile-input/every-endpoint.test.ts',
            'no internal error, no foreign redirect, one log line with the right',
          ],
          ['src/platform/log/logging.test.ts', 'a request line as JSON'],
        ],
      },
      {
        what: 'one line per request, also for 404, 405, 413, abort, throw, HEAD, OPTIONS',
        shownBy: [
          [REQUEST_LINES, 'has one line per request, with its method, path, protocol and status'],
          [REQUEST_LOG, 'one line per request (operations 5.1)'],
          [REQUEST_LOG, 'a client that disconnects while sending the body leaves one line with 400'],
          [REQUEST_LOG, 'an exception in a handler is one ERROR line before the request line, with the same id'],
        ],
      },
      {
        what: 'the same over HTTP/2',
        shownBy: [
          [REQUEST_LINES, 'has one line per request, with its method, path, protocol and status'],
          [HTTP2, 'gets 404, 405, 413, 414, 415 and 431 as over HTTP/1.1 and continues on the same connection'],
          [HTTP2, 'a client that disconnects while sending its body leaves one line with 400 (operations 5.1)'],
        ],
      },
      {
        what: 'request IDs are unique under 1,000 concurrent requests',
        shownBy: [
          [REQUEST_LINES, 'complete lines with unique numbers'],
          [REQUEST_LOG, 'counters are unique and gapless under 1,000 concurrent requests'],
        ],
      },
      {
        what: 'no forged lines (S-75)',
        shownBy: [[REQUEST_LOG, 'external text cannot leave its field in a line (security S-75)']],
      },
    ],
  },
  {
    title: 'Requester and client address',
    clauses: [
      {
        what: 'every endpoint, for each kind of caller',
        shownBy: [['test/hostile-input/every-endpoint.test.ts', 'one log line with the right requester']],
      },
      {
        what: 'pages and forms: the signed-in user',
        shownBy: [
          [
            'src/browser/viewer.test.ts',
            'with a live session is the requester with one query, and leaves the cookie unchanged',
          ],
          ['src/browser/viewer.test.ts', 'has no requester when the session was ended elsewhere'],
        ],
      },
      {
        what: 'sign-in: the signed-in user; none on errors or pending factors',
        shownBy: [
          ['src/features/login/login.test.ts', 'creates a session, redirects to / and is attributed to the user'],
          ['src/features/login/login.test.ts', 'answers a wrong password, an unknown name'],
          ['src/features/second-factor/second-factor.test.ts', 'no requester'],
          ['src/features/second-factor/second-factor.test.ts', 'then a code signs in, once'],
          ['src/features/upstream-login/upstream-login.test.ts', 'is signed in by the POST alone'],
        ],
      },
      {
        what: 'identity confirmation: the signed-in user, also with a wrong password',
        shownBy: [['src/features/reauth/reauth.test.ts', 'with a wrong password shows the error at its field']],
      },
      {
        what: 'sign-out: the signed-out user',
        shownBy: [
          ['src/features/logout/logout.test.ts', 'is attributed to its user and redirects'],
          ['src/features/logout/logout.test.ts', 'attributed to nobody'],
        ],
      },
      {
        what: 'registration: the new account in the last step, none before',
        shownBy: [
          ['src/features/registration/steps.test.ts', 'first asks for the display name, without a requester'],
          ['src/features/registration/steps.test.ts', "shares nothing with the browser's previous session"],
        ],
      },
      {
        what: 'client, device and chat client requests in the browser: the signed-in user',
        shownBy: [
          [
            'src/features/authorization/authorization.test.ts',
            'without consent sees the consent page; prompt=none: consent_required, and no grant is kept',
          ],
          ['src/features/device/device.test.ts', 'code, sign-in, page, consent'],
          ['src/features/chat-compat/sso.test.ts', 'asks a signed-in user, with all details for the decision'],
        ],
      },
      {
        what: 'OAuth endpoints: the authenticated client',
        shownBy: [
          ['src/features/token/client-authentication.test.ts', 'and the client is the requester'],
          [
            'src/features/device/device.test.ts',
            'gets a device code, a user code and the verification URLs, in one statement',
          ],
          ['src/features/revocation/revocation.test.ts', 'in two statements, with an empty 200'],
        ],
      },
      {
        what: 'introspection: the calling client, or the homeserver',
        shownBy: [
          [
            'src/features/introspection/introspection.test.ts',
            'takes two statements for the first use, one for later ones, none for a malformed token',
          ],
          [
            'src/features/introspection/introspection.test.ts',
            'is rejected as access_denied, without a requester in the log',
          ],
        ],
      },
      {
        what: 'userinfo: the user of the token',
        shownBy: [
          ['src/features/userinfo/userinfo.test.ts', 'openid alone shows the subject and the username'],
          ['src/features/userinfo/userinfo.test.ts', 'is invalid_token, without a requester in the log'],
        ],
      },
      {
        what: 'chat clients: sign-in, sign-out, refresh',
        shownBy: [
          ['src/features/chat-compat/login.test.ts', 'returns a non-expiring token, the device and the full user id'],
          ['src/features/chat-compat/log-out.test.ts', 'ends the session with all its tokens, and no other'],
          [
            'src/features/chat-compat/refresh.test.ts',
            'returns a new pair and invalidates the old access token at once',
          ],
        ],
      },
      {
        what: 'GraphQL and the admin API',
        shownBy: [
          ['src/features/account-api/transport.test.ts', 'with the cookie, %s'],
          ['src/features/admin-api/admin-api.test.ts', 'accepts clients with their own right, and users with theirs'],
          [
            'src/features/admin-api/personal-sessions.test.ts',
            'can act as a locked account, named in the log, while account and owner have the right',
          ],
        ],
      },
      {
        what: 'back-channel logout by a provider: none',
        shownBy: [
          [
            'src/features/upstream-login/backchannel-logout.test.ts',
            'needs no cookie or form token, is unreadable to other origins, and takes six statements',
          ],
        ],
      },
      {
        what: 'client address, by peer, header, port, IPv6, Forwarded',
        shownBy: [
          ['src/platform/http/client-address.test.ts', 'client.address (operations 5.6)'],
          ['src/platform/http/client-address.test.ts', 'Forwarded (RFC 7239)'],
          ['src/features/operations/connection-info.test.ts', 'behind a trusted proxy that sends'],
        ],
      },
      {
        what: 'client address by PROXY header',
        shownBy: [
          [
            'src/platform/http/proxy-protocol.test.ts',
            'forwarding headers behind it count only when the source is a trusted proxy (S-147, S-148)',
          ],
        ],
      },
    ],
  },
  {
    title: 'Cost in the request line',
    clauses: [
      { what: 'a handler that blocks for 50 ms', shownBy: [[REQUEST_LOG, 'shows at least 45 ms of cpu']] },
      {
        what: 'a handler that waits for a timer or the database',
        shownBy: [
          [REQUEST_LOG, 'shows less than 10 ms of cpu and at least two polls'],
          [
            'src/platform/postgres/single-statements.test.ts',
            'a task that waits 50 ms for a statement is charged database time, not CPU time (operations 5.4)',
          ],
        ],
      },
      {
        what: 'both concurrently',
        shownBy: [[REQUEST_LOG, 'a waiting request is not charged the cpu time of a concurrent spinning one']],
      },
      {
        what: 'the password hash of a sign-in',
        shownBy: [
          [REQUEST_LINES, 'attributes its hash to a sign-in'],
          [
            'src/platform/password-hash/hash-queue.test.ts',
            'hashing time is charged to the request, queueing time is not',
          ],
        ],
      },
      {
        what: 'one poll per awaited statement',
        shownBy: [['src/platform/postgres/single-statements.test.ts', 'a transaction counts its statements']],
      },
      {
        what: 'zeros without a statement',
        shownBy: [
          [REQUEST_LINES, 'nothing to requests without database access'],
          [REQUEST_LOG, 'shows at least 45 ms of cpu'],
        ],
      },
    ],
  },
  {
    title: 'latchkey activity',
    clauses: [
      {
        what: 'reports for a recorded run what the table in the interface specification says, from text and JSON',
        shownBy: [
          ['test/journeys/recorded-activity.test.ts', 'reports the same as the documented table'],
          ['test/start/activity.test.ts', 'reports activity over HTTP/2, TLS, PROXY, Unix sockets'],
        ],
      },
    ],
  },
  {
    title: 'Admin API',
    clauses: [
      {
        what: 'every operation without a token, with a wrong scope, by a locked administrator, and authorized',
        shownBy: [
          [ADMIN_MATRIX, '%s: refused without any effect'],
          [ADMIN_MATRIX, '%s: authorized, whatever the outcome'],
          ['test/manual/endpoints.test.ts', 'documents statement counts that a walk through the service confirms'],
        ],
      },
      {
        what: 'every operation with a missing object, an invalid body and an invalid ID',
        shownBy: [
          [ADMIN_MATRIX, 'returns 404 for what does not exist'],
          [ADMIN_MATRIX, 'returns 400 for an invalid body'],
          [ADMIN_MATRIX, 'returns 400 for the malformed id %s'],
          ['tools/admin-api/run.js'],
        ],
      },
      {
        what: 'pagination over 1,000 rows in both directions during inserts',
        shownBy: [
          ['src/features/admin-api/walks.test.ts', 'returns every row that existed at the start, once and in order'],
        ],
      },
      {
        what: 'responses match /api/spec.json',
        shownBy: [
          [
            'src/features/admin-api/admin-api.test.ts',
            'is valid, with an example for each body and response that matches its schema',
          ],
          ['test/manual/endpoints.test.ts', 'documents statement counts that a walk through the service confirms'],
          ['tools/admin-api/run.js'],
        ],
      },
      {
        what: 'the interactive reference only loads from its own origin',
        shownBy: [['tools/browser/api-reference-journey.js'], ['src/features/admin-api/reference.test.ts', 'S-173']],
      },
    ],
  },
  {
    title: 'Two processes on one PostgreSQL',
    clauses: [
      {
        what: 'kill -9 during a job, which is retried within two minutes',
        shownBy: [
          [TWO_INSTANCES, 'kill -9 of a process during a job'],
          ['test/faults/mail-server.test.ts', 'another process takes the job after a minute'],
        ],
      },
      {
        what: 'recurring jobs run once',
        shownBy: [
          [PERIODIC, 'run once at their minute, on any number of instances'],
          [PERIODIC, 'do not pile up while a run takes longer than an hour'],
          [SWEEPS, 'runs on one of two instances; when it dies the other continues once its lease has expired'],
        ],
      },
      {
        what: 'rate limits apply across both',
        shownBy: [
          ['test/attacks/guessing.test.ts', 'a burst of 100 guesses over two instances'],
          ['test/journeys/limits.test.ts', 'limits of browser-flows 14, on two instances'],
        ],
      },
    ],
  },
  {
    title: 'Cleanup',
    clauses: [
      {
        what: 'deletes expired data and nothing else',
        shownBy: [
          [SWEEPS, 'data that cleanup deletes and keeps (operations 6.4)'],
          ['src/features/chat-compat/clean-up.test.ts', 'are deleted a day after expiry, never without an expiry'],
        ],
      },
      {
        what: 'no table grows after a year of traffic',
        shownBy: [['test/long-life/year-of-traffic.test.ts', 'no table grows after the longest retention period']],
      },
    ],
  },
  {
    title: 'Upgrade',
    clauses: [
      {
        what: 'an older version runs alongside this one under load without a failed request',
        shownBy: [
          ['tools/upgrade/run.js', 'one after the other, and no request fails'],
          ['test/long-life/rolling-upgrade.test.ts', 'no request of two instances fails'],
        ],
      },
      {
        what: 'the migration lock is held',
        shownBy: [[MIGRATE, 'exits with code 75 when another process holds the lock beyond the timeout']],
      },
      {
        what: 'a modified migration is rejected',
        shownBy: [[MIGRATE, 'fails with exit code 1 when the text of an applied migration was changed']],
      },
      {
        what: 'a database of a version before the first release keeps every row',
        shownBy: [
          ['test/long-life/pre-release.test.ts', 'brings a database of commit b3ce986 to the current schema'],
          ['test/long-life/interrupted-migrations.test.ts', 'a database of a version before the first release'],
        ],
      },
    ],
  },
  {
    title: 'Stop and reload',
    clauses: [
      {
        what: 'SIGTERM under load: no request fails, exit 0',
        shownBy: [
          [STOP, 'a SIGTERM under load: every started response is complete'],
          [TWO_INSTANCES, 'a rolling restart by SIGTERM under load: no request fails'],
          ['tools/faults/rows/f-05-rolling-restart.js'],
        ],
      },
      { what: 'a second signal: exit 1', shownBy: [[TWO_INSTANCES, 'a second SIGTERM cuts an unfinished request']] },
      {
        what: 'SIGHUP with a broken file changes nothing',
        shownBy: [['test/faults/reload.test.ts', 'an invalid file changes nothing']],
      },
    ],
  },
  {
    title: 'Overload',
    clauses: [
      {
        what: 'at twice its capacity, it serves most of its peak and rejects the rest immediately',
        shownBy: [
          ['bench/overload.js'],
          [
            'src/platform/http/limits.test.ts',
            'rejects requests beyond max_in_flight with 503 and a Retry-After of 1 to 5 seconds',
          ],
        ],
      },
      {
        what: '2,000 slow connections do not affect others',
        shownBy: [['test/attacks/slow-connections.test.ts', '2,000 slow connections']],
      },
    ],
  },
  {
    title: 'Backup',
    clauses: [
      {
        what: 'while others write',
        shownBy: [
          [BACKUP, 'is a consistent snapshot during writes: no row without the other one of its transaction'],
          ['test/faults/restore.test.ts', 'changes acknowledged before a backup under load'],
        ],
      },
      {
        what: 'restored to a new directory, with identical rows',
        shownBy: [[BACKUP, 'into a new directory: the same rows']],
      },
      { what: 'restored to a PostgreSQL server', shownBy: [[BACKUP, 'into an empty PostgreSQL: the same rows']] },
    ],
  },
  {
    title: 'No secrets in output',
    clauses: [
      {
        what: 'in the log',
        shownBy: [
          [SECRETS, 'no secret appears in the log, errors, metrics, traces'],
          [
            'src/features/token/token-endpoint.test.ts',
            'logs no token, code or secret that the endpoint received or issued',
          ],
          ['test/attacks/database-dump.test.ts', 'a dump after every flow'],
        ],
      },
      {
        what: 'in errors',
        shownBy: [
          [SECRETS, 'no secret appears in the log, errors, metrics, traces'],
          [
            'src/platform/http/responses-over-http.test.ts',
            'an internal error shows a reference that is in the log, and nothing of its cause',
          ],
          ['src/config/load.test.ts', 'never shows a value that is or could contain a secret'],
        ],
      },
      { what: 'in metrics', shownBy: [['test/monitoring/metrics.test.ts', 'contain nothing from a request']] },
      { what: 'in traces', shownBy: [['test/telemetry/tracing.test.ts', 'a sign-in leaves no secret in its spans']] },
      {
        what: 'in config dump',
        shownBy: [['src/cli/config.test.ts', 'prints the values of the sources without any secret']],
      },
      { what: 'in doctor', shownBy: [[SECRETS, 'or command output']] },
      {
        what: 'in the output of jobs',
        shownBy: [['src/cli/jobs.test.ts', 'shows the known fields without possible secrets']],
      },
    ],
  },
];
