import type { Browser } from '#browser/browser.ts';
import { findAccountDetails } from '#domain/accounts/account-details.ts';
import type { EmailAuthenticationId } from '#domain/accounts/email-authentications/email-authentication.ts';
import { findForSession } from '#domain/accounts/email-authentications/find-for-session.ts';
import { userEmails } from '#domain/accounts/list-user-emails.ts';
import {
  type AccountFilter,
  countAccounts,
  type ListedAccount,
  listAllAccounts,
} from '#domain/administration/all-accounts.ts';
import {
  type SecurityEvent,
  type SecurityEventFilter,
  securityEventFilter,
  securityEvents,
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
import { consents } from '#domain/clients/list-consents.ts';
import {
  countSsoLogins,
  findSsoLoginsOfSessions,
  type ListedSsoLogin,
  listSsoLogins,
} from '#domain/compat-sessions/sso-logins/list-sso-logins.ts';
import type { Core } from '#domain/core.ts';
import { type DataExport, dataExports } from '#domain/data-exports/list-data-exports.ts';
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
import { passkeys } from '#domain/passkeys/list-passkeys.ts';
import { findOneTimeCodes, findTotpEnrolments } from '#domain/second-factors/find-one-time-codes.ts';
import { findProviderTimes } from '#domain/upstream/find-providers.ts';
import { links } from '#domain/upstream/list-links.ts';
import { findLoginMethods } from '#domain/upstream/login-methods.ts';
import type { Ulid } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { OwnedList } from '#platform/postgres/owned-list.ts';
import type { Owner } from '#platform/postgres/owned-rows.ts';
import type {
  BrowserSessionId,
  ClientId,
  CompatSessionId,
  DataExportId,
  OAuth2SessionId,
  TotpEnrolmentId,
  UpstreamProviderId,
  UserId,
} from '#vocabulary/ids.ts';
import { type Readable, readableBy } from './authorization.ts';
import type { Caller } from './caller.ts';
import type { Deadline } from './deadline.ts';
import { ListLoader, type Load, loader } from './list-loader.ts';
import type { ResponseSize } from './response-size.ts';

export interface AccountContextParts {
  readonly core: Core;
  readonly browser: Browser;
  readonly request: RequestContext;
  readonly caller: Caller;
  readonly deadline: Deadline;
  readonly answerSize: ResponseSize;
}

/** State shared by the fields of one request. */
export class AccountContext {
  readonly core: Core;
  readonly browser: Browser;
  readonly request: RequestContext;
  readonly caller: Caller;
  readonly deadline: Deadline;
  readonly answerSize: ResponseSize;
  /** Whose objects the caller may read. Undefined means none. */
  readonly reads: Readable;
  #loaders: Loaders | undefined;

  constructor({ core, browser, request, caller, deadline, answerSize: responseSize }: AccountContextParts) {
    this.core = core;
    this.browser = browser;
    this.request = request;
    this.caller = caller;
    this.deadline = deadline;
    this.answerSize = responseSize;
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
  const { clock, database, homeserver, signIn } = core;
  const self = caller.kind === 'anonymous' ? undefined : caller.user?.id;
  /** Finds objects that the caller may read. */
  const readable = <Id, Item>(
    find: (ids: readonly Id[], owner: Owner) => Promise<readonly (Item | undefined)[]>,
  ): Load<Id, Item | undefined> =>
    loader(async (ids) => (reads === undefined ? ids.map(() => undefined) : await find(ids, reads)));
  const own = <Item extends { readonly id: Ulid }>(list: Pick<OwnedList<Item>, 'find'>) =>
    readable((ids: readonly Item['id'][], owner) => list.find(database, ids, owner, {}));
  const ofUser = <Item extends { readonly id: Ulid }>(list: OwnedList<Item>) =>
    new ListLoader<UserId, Unfiltered, Item>(
      (users, filters, window) => list.pages(database, users, filters, window),
      (users, filters) => list.count(database, users, filters),
    );
  const now = () => ({ now: new Date(clock.now()) });
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
    browserSessions: readable((ids: readonly BrowserSessionId[], owner) => findBrowserSessions(database, ids, owner)),
    appSessions: readable((ids: readonly (OAuth2SessionId | CompatSessionId)[], owner) =>
      findAppSessions(database, ids, owner),
    ),
    homeserverUsers: loader((usernames: readonly string[]) =>
      Promise.all(usernames.map((username) => homeserver.queryUser(username, { kind: 'account' }))),
    ),
    clients: loader((ids: readonly ClientId[]) => findClientPresentations(database, ids)),
    userEmails: own(userEmails),
    emailAuthentications: loader(async (ids: readonly EmailAuthenticationId[]) =>
      caller.kind === 'browser'
        ? await findForSession(database, ids, caller.session.id, clock.now())
        : ids.map(() => undefined),
    ),
    emailsOfUser: ofUser(userEmails),
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
    loginMethods: loader((ids: readonly UserId[]) => findLoginMethods(database, ids, signIn.methods)),
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
    consents: own(consents),
    consentsOfUser: ofUser(consents),
    dataExports: readable((ids: readonly DataExportId[], owner) => dataExports.find(database, ids, owner, now())),
    dataExportsOfUser: new ListLoader<UserId, Unfiltered, DataExport>(
      (users, _, window) => dataExports.pages(database, users, now(), window),
      (users) => dataExports.count(database, users, now()),
    ),
    securityEvents: own(securityEvents),
    securityEventsOfUser: new ListLoader<UserId, SecurityEventFilter, SecurityEvent>(
      (users, filter, window) => securityEvents.pages(database, users, securityEventFilter(filter), window),
      (users, filter) => securityEvents.count(database, users, securityEventFilter(filter)),
    ),
    passkeys: own(passkeys),
    passkeysOfUser: ofUser(passkeys),
    providerTimes: loader((ids: readonly UpstreamProviderId[]) => findProviderTimes(database, ids)),
    links: own(links),
    linksOfUser: ofUser(links),
  };
}
