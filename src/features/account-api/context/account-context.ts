import type { Browser } from '#browser/browser.ts';
import { findAccountDetails } from '#domain/accounts/account-details.ts';
import type { EmailAuthenticationId } from '#domain/accounts/email-authentications/email-authentication.ts';
import { findForSession } from '#domain/accounts/email-authentications/find-for-session.ts';
import {
  countUserEmails,
  findUserEmails,
  listUserEmails,
  type UserEmail,
  type UserEmailId,
} from '#domain/accounts/list-user-emails.ts';
import {
  type AccountFilter,
  countAccounts,
  type ListedAccount,
  listAllAccounts,
} from '#domain/administration/all-accounts.ts';
import {
  countSecurityEvents,
  findSecurityEvents,
  listSecurityEvents,
  type SecurityEvent,
  type SecurityEventFilter,
} from '#domain/audit/list-security-events.ts';
import { findLastAuthentications } from '#domain/browser-sessions/last-authentications.ts';
import {
  type BrowserSessionFilter,
  countBrowserSessions,
  findBrowserSessions,
  type ListedBrowserSession,
  listBrowserSessions,
} from '#domain/browser-sessions/list-browser-sessions.ts';
import { findClientPresentations } from '#domain/clients/client-presentations.ts';
import { countConsents, findConsents, type ListedConsent, listConsents } from '#domain/clients/list-consents.ts';
import {
  countSsoLogins,
  findSsoLoginsOfSessions,
  type ListedSsoLogin,
  listSsoLogins,
} from '#domain/compat-sessions/sso-logins/list-sso-logins.ts';
import type { Core } from '#domain/core.ts';
import {
  countDataExports,
  type DataExport,
  findDataExports,
  listDataExports,
} from '#domain/data-exports/list-data-exports.ts';
import {
  type AppSessionFilter,
  type AppSessionList,
  countAppSessions,
  findAppSessions,
  type ListedAppSession,
  listAppSessions,
} from '#domain/oauth-sessions/list-app-sessions.ts';
import {
  type ConnectedClient,
  type Connection,
  countConnectedClients,
  findConnectedClients,
  findConnectionFacts,
  listConnectedClients,
} from '#domain/oauth-sessions/list-connected-applications.ts';
import { countPasskeys, findPasskeys, listPasskeys } from '#domain/passkeys/list-passkeys.ts';
import type { Passkey } from '#domain/passkeys/passkey.ts';
import { findOneTimeCodes, findTotpEnrolments } from '#domain/second-factors/find-one-time-codes.ts';
import { findProviderTimes } from '#domain/upstream/find-providers.ts';
import { countLinks, findLinks, type ListedLink, listLinks } from '#domain/upstream/list-links.ts';
import { findLoginMethods } from '#domain/upstream/login-methods.ts';
import type {
  AuditEventId,
  BrowserSessionId,
  ClientId,
  CompatSessionId,
  ConsentId,
  DataExportId,
  OAuth2SessionId,
  PasskeyId,
  TotpEnrolmentId,
  UpstreamLinkId,
  UpstreamProviderId,
  UserId,
} from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { AnswerSize } from './answer-size.ts';
import { type Readable, readableBy } from './authorization.ts';
import type { Caller } from './caller.ts';
import type { Deadline } from './deadline.ts';
import { ListLoader, loader } from './list-loader.ts';

export interface AccountContextParts {
  readonly core: Core;
  readonly browser: Browser;
  readonly request: RequestContext;
  readonly caller: Caller;
  readonly deadline: Deadline;
  readonly answerSize: AnswerSize;
}

/** State shared by the fields of one request. */
export class AccountContext {
  readonly core: Core;
  readonly browser: Browser;
  readonly request: RequestContext;
  readonly caller: Caller;
  readonly deadline: Deadline;
  readonly answerSize: AnswerSize;
  /** Whose objects the caller may read. Undefined means none. */
  readonly reads: Readable;
  #loaders: Loaders | undefined;

  constructor({ core, browser, request, caller, deadline, answerSize }: AccountContextParts) {
    this.core = core;
    this.browser = browser;
    this.request = request;
    this.caller = caller;
    this.deadline = deadline;
    this.answerSize = answerSize;
    this.reads = readableBy(caller);
  }

  /** Batches and caches what several fields read. */
  get load(): Loaders {
    this.#loaders ??= makeLoaders(this);
    return this.#loaders;
  }

  /** Drops cached values after a change, so that later fields read the new state. */
  forget(): void {
    this.#loaders = undefined;
  }
}

/** For lists without filters. */
type Unfiltered = Readonly<Record<never, never>>;

type Loaders = ReturnType<typeof makeLoaders>;

function makeLoaders({ core, caller, reads }: AccountContext) {
  const { clock, database, enabledMethods, homeserver } = core;
  const self = caller.kind === 'anonymous' ? undefined : caller.user?.id;
  const appSessions = (list: AppSessionList) =>
    new ListLoader<UserId | BrowserSessionId, AppSessionFilter, ListedAppSession>(
      (owners, filter, window) => listAppSessions(database, list, owners, filter, window),
      (owners, filter) => countAppSessions(database, list, owners, filter),
    );
  return {
    accounts: loader((ids: readonly UserId[]) => findAccountDetails(database, ids)),
    everybody: new ListLoader<'everybody', AccountFilter, ListedAccount>(
      (owners, filter, window) => Promise.all(owners.map(() => listAllAccounts(database, filter, window))),
      (owners, filter) => Promise.all(owners.map(() => countAccounts(database, filter))),
    ),
    browserSessions: loader(async (ids: readonly BrowserSessionId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findBrowserSessions(database, ids, reads),
    ),
    appSessions: loader(async (ids: readonly (OAuth2SessionId | CompatSessionId)[]) =>
      reads === undefined ? ids.map(() => undefined) : await findAppSessions(database, ids, reads),
    ),
    homeserverUsers: loader((usernames: readonly string[]) =>
      Promise.all(usernames.map((username) => homeserver.queryUser(username, { kind: 'account' }))),
    ),
    clients: loader((ids: readonly ClientId[]) => findClientPresentations(database, ids)),
    userEmails: loader(async (ids: readonly UserEmailId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findUserEmails(database, ids, reads),
    ),
    emailAuthentications: loader(async (ids: readonly EmailAuthenticationId[]) =>
      caller.kind === 'browser'
        ? await findForSession(database, ids, caller.session.id, clock.now())
        : ids.map(() => undefined),
    ),
    emailsOfUser: new ListLoader<UserId, undefined, UserEmail>(
      (users, _, window) => listUserEmails(database, users, window),
      (users) => countUserEmails(database, users),
    ),
    lastAuthentications: loader((ids: readonly BrowserSessionId[]) => findLastAuthentications(database, ids)),
    browserSessionsOfUser: new ListLoader<UserId, BrowserSessionFilter, ListedBrowserSession>(
      (users, filter, window) => listBrowserSessions(database, users, filter, window),
      (users, filter) => countBrowserSessions(database, users, filter),
    ),
    oauth2SessionsOfUser: appSessions('oauth2-of-user'),
    compatSessionsOfUser: appSessions('compat-of-user'),
    appSessionsOfUser: appSessions('all-of-user'),
    appSessionsOfBrowserSession: appSessions('all-of-browser-session'),
    ssoLogins: loader((ids: readonly CompatSessionId[]) => findSsoLoginsOfSessions(database, ids)),
    ssoLoginsOfUser: new ListLoader<UserId, Unfiltered, ListedSsoLogin>(
      (users, _, window) => listSsoLogins(database, users, window),
      (users) => countSsoLogins(database, users),
    ),
    loginMethods: loader((ids: readonly UserId[]) => findLoginMethods(database, ids, enabledMethods)),
    oneTimeCodes: loader((ids: readonly UserId[]) => findOneTimeCodes(database, ids)),
    totpEnrolments: loader(async (ids: readonly TotpEnrolmentId[]) =>
      caller.kind === 'browser'
        ? await findTotpEnrolments(database, ids, caller.session.id, clock.now())
        : ids.map(() => undefined),
    ),
    connectedClients: loader(async (ids: readonly ClientId[]) =>
      self === undefined ? ids.map(() => undefined) : await findConnectedClients(database, self, ids),
    ),
    connectionFacts: loader((connections: readonly Connection[]) => findConnectionFacts(database, connections)),
    connectedClientsOfUser: new ListLoader<UserId, Unfiltered, ConnectedClient>(
      (users, _, window) => listConnectedClients(database, users, window),
      (users) => countConnectedClients(database, users),
    ),
    consents: loader(async (ids: readonly ConsentId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findConsents(database, ids, reads),
    ),
    consentsOfUser: new ListLoader<UserId, Unfiltered, ListedConsent>(
      (users, _, window) => listConsents(database, users, window),
      (users) => countConsents(database, users),
    ),
    dataExports: loader(async (ids: readonly DataExportId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findDataExports(database, ids, reads, clock.now()),
    ),
    dataExportsOfUser: new ListLoader<UserId, Unfiltered, DataExport>(
      (users, _, window) => listDataExports(database, users, clock.now(), window),
      (users) => countDataExports(database, users, clock.now()),
    ),
    securityEvents: loader(async (ids: readonly AuditEventId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findSecurityEvents(database, ids, reads),
    ),
    securityEventsOfUser: new ListLoader<UserId, SecurityEventFilter, SecurityEvent>(
      (users, filter, window) => listSecurityEvents(database, users, filter, window),
      (users, filter) => countSecurityEvents(database, users, filter),
    ),
    passkeys: loader(async (ids: readonly PasskeyId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findPasskeys(database, ids, reads),
    ),
    passkeysOfUser: new ListLoader<UserId, Unfiltered, Passkey>(
      (users, _, window) => listPasskeys(database, users, window),
      (users) => countPasskeys(database, users),
    ),
    providerTimes: loader((ids: readonly UpstreamProviderId[]) => findProviderTimes(database, ids)),
    links: loader(async (ids: readonly UpstreamLinkId[]) =>
      reads === undefined ? ids.map(() => undefined) : await findLinks(database, ids, reads),
    ),
    linksOfUser: new ListLoader<UserId, Unfiltered, ListedLink>(
      (users, _, window) => listLinks(database, users, window),
      (users) => countLinks(database, users),
    ),
  };
}
