/** Security events of an account, for its owner (account-graphql 7.4). */
import type { SecurityEvent as ListedSecurityEvent } from '#domain/audit/list-security-events.ts';
import type { AuditEventId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import { connection, connectionType, PAGE_ARGUMENTS } from './connection.ts';
import { findBrowserSession, findClient } from './find-objects.ts';
import { BrowserSession, Oauth2Client, User } from './models.ts';
import { CreationEvent, Node } from './node.ts';
import { parseUserAgent } from './parse-user-agent.ts';
import { UserAgent } from './user-agent.ts';

const KINDS = [
  'LOGIN',
  'LOGIN_FAILED',
  'LOGOUT',
  'REAUTHENTICATED',
  'REGISTERED',
  'PASSWORD_CHANGED',
  'PASSWORD_RECOVERED',
  'RECOVERY_STARTED',
  'EMAIL_ADDED',
  'EMAIL_REMOVED',
  'PRIMARY_EMAIL_CHANGED',
  'DISPLAY_NAME_CHANGED',
  'PROFILE_CHANGED',
  'SESSION_STARTED',
  'SESSION_ENDED',
  'SESSIONS_ENDED',
  'APPLICATION_REVOKED',
  'CONSENT_GIVEN',
  'CONSENT_REVOKED',
  'PASSKEY_ADDED',
  'PASSKEY_REMOVED',
  'TOTP_ADDED',
  'TOTP_REMOVED',
  'RECOVERY_CODES_GENERATED',
  'RECOVERY_CODE_USED',
  'UPSTREAM_LINKED',
  'UPSTREAM_UNLINKED',
  'CROSS_SIGNING_RESET_ALLOWED',
  'DATA_EXPORTED',
  'ACCOUNT_LOCKED',
  'ACCOUNT_UNLOCKED',
  'ACCOUNT_DEACTIVATED',
] as const;
type Kind = (typeof KINDS)[number];

/** Keyed by the names in the table. The table also has events that users do not see. */
const KIND_OF: ReadonlyMap<string, Kind> = new Map([
  ...KINDS.map((kind) => [kind.toLowerCase(), kind] as const),
  // A reactivated account is usable, as after an unlock.
  ['account_reactivated', 'ACCOUNT_UNLOCKED'] as const,
  // For the user, a session that ended.
  ['app_access_lost', 'SESSION_ENDED'] as const,
]);

const SecurityEventKind = builder.enumType('SecurityEventKind', { values: KINDS });
const SecurityEventOutcome = builder.enumType('SecurityEventOutcome', { values: ['SUCCESS', 'FAILURE'] as const });
const SecurityEventActor = builder.enumType('SecurityEventActor', {
  description: 'The user, an administrator, or the system.',
  values: ['SELF', 'ADMIN', 'SYSTEM'] as const,
});
const ACTORS = { self: 'SELF', admin: 'ADMIN', system: 'SYSTEM' } as const;

interface SecurityEventModel extends ListedSecurityEvent {
  readonly type: 'SecurityEvent';
  readonly name: Kind;
}

const SecurityEvent = builder.objectRef<SecurityEventModel>('SecurityEvent');

builder.objectType(SecurityEvent, {
  description: 'Security event of an account.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    kind: t.expose('name', { type: SecurityEventKind }),
    outcome: t.field({
      type: SecurityEventOutcome,
      resolve: ({ name }) => (name === 'LOGIN_FAILED' ? ('FAILURE' as const) : ('SUCCESS' as const)),
    }),
    actor: t.field({ type: SecurityEventActor, resolve: ({ actor }) => ACTORS[actor] }),
    ip: t.exposeString('address', { nullable: true }),
    userAgent: t.field({
      type: UserAgent,
      nullable: true,
      resolve: ({ userAgent }) => (userAgent === undefined ? undefined : parseUserAgent(userAgent)),
    }),
    session: t.field({
      type: BrowserSession,
      nullable: true,
      description: 'Session of the event.',
      resolve: async ({ sessionId }, _, context) =>
        sessionId === undefined ? undefined : await findBrowserSession(sessionId, context),
    }),
    client: t.field({
      type: Oauth2Client,
      nullable: true,
      resolve: async ({ clientId }, _, context) =>
        clientId === undefined ? undefined : await findClient(clientId, context),
    }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: 'Subject of the event: part of an email address, a sign-in provider, or the name of a session.',
    }),
    count: t.exposeInt('count', { description: 'Number of occurrences, grouped into one entry.' }),
  }),
});

const SecurityEventConnection = connectionType('SecurityEvent', SecurityEvent);

builder.objectField(User, 'securityEvents', (t) =>
  t.field({
    type: SecurityEventConnection,
    description: 'Security events of this account, within the retention period.',
    args: {
      kind: t.arg({ type: [SecurityEventKind] }),
      since: t.arg({ type: 'DateTime', description: 'Start of the period, inclusive.' }),
      until: t.arg({ type: 'DateTime', description: 'End of the period, exclusive.' }),
      ...PAGE_ARGUMENTS,
    },
    resolve: ({ id }, given, { core, load }) => {
      // Administrators may keep events for longer than users see them.
      const shownSince = core.clock.now() - core.config.retention.activitySeconds * 1000;
      const filter = {
        kinds: auditKinds(given.kind ?? KINDS),
        since: Math.max(given.since ?? shownSince, shownSince),
        until: given.until ?? undefined,
      };
      return connection('security_event', load.securityEventsOfUser, id, filter, given, listedEventModel);
    },
  }),
);

function auditKinds(kinds: readonly Kind[]): string[] {
  return [...KIND_OF].filter(([, kind]) => kinds.includes(kind)).map(([auditKind]) => auditKind);
}

function listedEventModel(event: ListedSecurityEvent): SecurityEventModel {
  const model = eventModel(event);
  if (model === undefined) throw new TypeError(`unlisted event kind: ${event.kind}`);
  return model;
}

/** Returns undefined for events that users do not see. */
function eventModel(event: ListedSecurityEvent): SecurityEventModel | undefined {
  const name = KIND_OF.get(event.kind);
  return name === undefined ? undefined : { type: 'SecurityEvent', ...event, name };
}

/** Finds an event of the caller, never another user's. */
export async function findSecurityEvent(
  id: AuditEventId,
  { load }: AccountContext,
): Promise<SecurityEventModel | undefined> {
  const found = await load.securityEvents(id);
  return found === undefined ? undefined : eventModel(found);
}
