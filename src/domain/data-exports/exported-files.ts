/**
 * The files of an export (account-graphql 7.5): the stored data about a user that the user may have. Each kind of data
 * is read page by page through the lists that the account area shows. So an export contains only what its owner may
 * read: no hashes, tokens, keys or secrets, and no data of other users.
 */
import { userEmails } from '#domain/accounts/list-user-emails.ts';
import { personalSessions } from '#domain/administration/personal-session-listing.ts';
import { AUDIT_EVENT_KINDS } from '#domain/audit/audit-event.ts';
import { securityEventFilter, securityEvents } from '#domain/audit/list-security-events.ts';
import { listBrowserSessions } from '#domain/browser-sessions/list-browser-sessions.ts';
import type { ClientPresentation } from '#domain/clients/client-presentations.ts';
import { consents } from '#domain/clients/list-consents.ts';
import { type AppSessionList, listAppSessions } from '#domain/oauth-sessions/list-app-sessions.ts';
import { passkeys } from '#domain/passkeys/list-passkeys.ts';
import { findOneTimeCodes } from '#domain/second-factors/find-one-time-codes.ts';
import { listEveryLink } from '#domain/upstream/list-links.ts';
import type { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import { fromUuid, toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { Page, PageWindow } from '#platform/postgres/page.ts';
import type { WritePart } from '#platform/zip/zip-archive.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { readProfile } from './read-profile.ts';

export interface ExportSource {
  readonly database: Queryable;
  readonly upstream: { readonly providers: Pick<UpstreamProviders, 'find'> };
  readonly user: UserId;
  /** Stops reading between two pages. */
  readonly signal: AbortSignal;
}

type WriteFile = (source: ExportSource, write: WritePart) => Promise<void>;

interface ExportedFile {
  readonly name: string;
  /** Description for `README.txt`. */
  readonly holds: string;
  readonly write: WriteFile;
}

const PAGE_SIZE = 100;
/** Includes ended sessions. */
const EVERY_SESSION = { isLive: undefined, activeAfter: undefined, activeBefore: undefined };
const EVERY_EVENT = securityEventFilter({ kinds: AUDIT_EVENT_KINDS, since: undefined, until: undefined });

export const EXPORTED_FILES: readonly ExportedFile[] = [
  { name: 'profile.json', holds: 'your account, and the terms that you accepted', write: writeProfile },
  {
    name: 'emails.json',
    holds: 'your email addresses',
    write: list(
      async ({ database, user }, window) => one(await userEmails.pages(database, [user], {}, window)),
      ({ email, isPrimary, createdAt }) => ({ address: email, is_primary: isPrimary, added_at: time(createdAt) }),
    ),
  },
  {
    name: 'browser-sessions.json',
    holds: 'browsers in which you signed in',
    write: list(
      async ({ database, user }, window) => one(await listBrowserSessions(database, [user], EVERY_SESSION, window)),
      ({ createdAt, finishedAt, userAgent, lastActiveAt, lastActiveAddress }) => ({
        started_at: time(createdAt),
        ended_at: time(finishedAt),
        last_active_at: time(lastActiveAt),
        last_active_address: lastActiveAddress,
        user_agent: userAgent,
      }),
    ),
  },
  {
    name: 'application-sessions.json',
    holds: 'applications with access to your account, and their permissions',
    write: appSessions('oauth2-of-user'),
  },
  {
    name: 'chat-sessions.json',
    holds: 'chat clients that signed in through the chat protocol',
    write: appSessions('compat-of-user'),
  },
  {
    name: 'personal-sessions.json',
    holds: 'programs that act as you with a token issued by an administrator',
    write: list(
      async ({ database, user }, window) => {
        const page = await personalSessions.page(database, { actor: toUuid(user) }, window);
        return { ...page, items: page.items.map((session) => ({ ...session, id: fromUuid(session.id) })) };
      },
      // Omits the owner, which only administrators may see.
      (session) => ({
        name: session.human_name,
        scope: session.scope,
        created_at: time(session.created_at),
        ended_at: time(session.revoked_at ?? undefined),
        expires_at: time(session.expires_at ?? undefined),
        last_active_at: time(session.last_active_at ?? undefined),
        last_active_address: session.last_active_ip ?? undefined,
      }),
    ),
  },
  {
    name: 'consents.json',
    holds: 'permissions that you granted to applications',
    write: list(
      async ({ database, user }, window) => one(await consents.pages(database, [user], {}, window)),
      ({ client, scope, createdAt, updatedAt }) => ({
        application: application(client),
        scope,
        given_at: time(createdAt),
        changed_at: time(updatedAt),
      }),
    ),
  },
  {
    name: 'linked-accounts.json',
    holds: 'linked accounts at other services',
    write: list(
      async ({ database, user }, window) => await listEveryLink(database, user, window),
      ({ providerId, subject, accountName, createdAt, lastUsedAt }, { upstream }) => {
        const provider = upstream.providers.find(providerId);
        return {
          service: provider?.name ?? providerId,
          subject,
          account_name: accountName,
          linked_at: time(createdAt),
          last_used_at: time(lastUsedAt),
        };
      },
    ),
  },
  {
    name: 'passkeys.json',
    holds: 'your passkeys',
    write: list(
      async ({ database, user }, window) => one(await passkeys.pages(database, [user], {}, window)),
      ({ name, createdAt, lastUsedAt }) => ({ name, added_at: time(createdAt), last_used_at: time(lastUsedAt) }),
    ),
  },
  {
    name: 'activity.json',
    holds: 'security events of your account, as long as they are kept',
    write: list(
      async ({ database, user }, window) => one(await securityEvents.pages(database, [user], EVERY_EVENT, window)),
      ({ kind, actor, createdAt, address, userAgent, clientId, subject, count }) => ({
        at: time(createdAt),
        kind,
        by: actor,
        address,
        user_agent: userAgent,
        application_id: clientId,
        subject,
        count,
      }),
    ),
  },
];

async function writeProfile({ database, user }: ExportSource, write: WritePart): Promise<void> {
  const found = await readProfile(database, user);
  if (found === undefined) return;
  const [codes] = await findOneTimeCodes(database, [user]);
  const described = {
    username: found.username,
    display_name: found.displayName,
    given_name: found.givenName,
    family_name: found.familyName,
    time_zone: found.timeZone,
    language: found.language,
    has_password: found.hasPassword,
    authenticator_app: codes?.totp && {
      set_up_at: time(codes.totp.createdAt),
      last_used_at: time(codes.totp.lastUsedAt),
    },
    recovery_codes: codes?.recoveryCodes && {
      made_at: time(codes.recoveryCodes.createdAt),
      made: codes.recoveryCodes.total,
      unused: codes.recoveryCodes.remaining,
    },
    may_use_admin_applications: found.canRequestAdmin,
    created_at: time(found.createdAt),
    locked_at: time(found.lockedAt),
    groups: found.groups,
    further_claims: found.claims,
    accepted_terms: found.acceptedTerms.map(({ uri, at }) => ({ address: uri, accepted_at: time(at) })),
    imported_addresses: found.unsupportedThreepids,
  };
  await write(`${text(described)}\n`);
}

function appSessions(kind: AppSessionList): WriteFile {
  return list(
    async ({ database, user }, window) => one(await listAppSessions(database, kind, [user], EVERY_SESSION, window)),
    (session) => ({
      ...(session.kind === 'oauth2' && { application: application(session.client), scope: session.scope }),
      name: session.humanName,
      device_id: session.deviceId,
      started_at: time(session.createdAt),
      ended_at: time(session.finishedAt),
      last_active_at: time(session.lastActiveAt),
      last_active_address: session.lastActiveAddress,
      user_agent: session.userAgent,
    }),
  );
}

/** Writes a JSON array, one page at a time. */
function list<Item extends { readonly id: Ulid }>(
  read: (source: ExportSource, window: PageWindow) => Promise<Page<Item>>,
  describe: (item: Item, source: ExportSource) => object,
): WriteFile {
  return async (source, write) => {
    let after: Ulid | undefined;
    let page: Page<Item>;
    do {
      source.signal.throwIfAborted();
      page = await read(source, { size: PAGE_SIZE, isFromEnd: false, after, before: undefined });
      const items = page.items.map((item) => text(describe(item, source))).join(',\n');
      if (items !== '') await write(`${after === undefined ? '[\n' : ',\n'}${items}`);
      after = page.items.at(-1)?.id ?? after;
    } while (page.hasNext);
    await write(after === undefined ? '[]\n' : '\n]\n');
  };
}

function one<Item>([page]: readonly Page<Item>[]): Page<Item> {
  return page ?? { items: [], hasPrevious: false, hasNext: false };
}

function application({ id, name, clientUri }: ClientPresentation) {
  return { id, name, address: clientUri };
}

function time(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

function text(value: object): string {
  return JSON.stringify(value, null, 2);
}
