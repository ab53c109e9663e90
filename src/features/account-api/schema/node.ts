/** Identifiers of objects, and the interfaces that types share (account-graphql 3.2, 3.3). */
import { parseId, type Ulid } from '#platform/base/ids.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { builder } from './builder.ts';

/** What the ULIDs of each type identify. */
interface Kinds {
  readonly Authentication: 'authentication';
  readonly BrowserSession: 'browser-session';
  readonly CompatSession: 'compat-session';
  readonly CompatSsoLogin: 'compat-sso-login';
  readonly ConnectedApplication: 'client';
  readonly Consent: 'consent';
  readonly DataExport: 'data-export';
  readonly Oauth2Client: 'client';
  readonly Oauth2Session: 'oauth2-session';
  readonly Passkey: 'passkey';
  readonly SecurityEvent: 'audit-event';
  readonly TotpEnrolment: 'totp-enrolment';
  readonly UpstreamOAuth2Link: 'upstream-link';
  readonly UpstreamOAuth2Provider: 'upstream-provider';
  readonly User: 'user';
  readonly UserRecoveryTicket: 'recovery-ticket';
  readonly UserEmail: 'user-email';
  readonly UserEmailAuthentication: 'email-authentication';
}

/** The prefix before the ULID in the identifiers of each type. */
const PREFIXES: Readonly<Record<keyof Kinds, string>> = {
  Authentication: 'authentication',
  BrowserSession: 'browser_session',
  CompatSession: 'compat_session',
  CompatSsoLogin: 'compat_sso_login',
  ConnectedApplication: 'connected_application',
  Consent: 'consent',
  DataExport: 'data_export',
  Oauth2Client: 'oauth2_client',
  Oauth2Session: 'oauth2_session',
  Passkey: 'passkey',
  SecurityEvent: 'security_event',
  TotpEnrolment: 'totp_enrolment',
  UpstreamOAuth2Link: 'upstream_oauth2_link',
  UpstreamOAuth2Provider: 'upstream_oauth2_provider',
  User: 'user',
  UserRecoveryTicket: 'user_recovery_ticket',
  UserEmail: 'user_email',
  UserEmailAuthentication: 'user_email_authentication',
};
const TYPES = new Map(Object.entries(PREFIXES).map(([type, prefix]) => [prefix, type]));

/** Types with exactly one object. */
const FIXED_IDS = { Anonymous: 'anonymous', SiteConfig: 'site_config' } as const;

/** What an identifier refers to, whether or not that object exists. */
export type NodeName =
  | { readonly [Type in keyof Kinds]: { readonly type: Type; readonly id: Ulid<Kinds[Type]> } }[keyof Kinds]
  | { readonly type: keyof typeof FIXED_IDS };

export const Node = builder.interfaceRef<NodeName>('Node').implement({
  description: 'Object with a globally unique ID.',
  resolveType: ({ type }) => type,
  fields: (t) => ({ id: t.id({ description: 'Opaque and permanent.', resolve: nodeId }) }),
});

/** An object with a creation time. Times in milliseconds since the epoch. */
interface Created {
  readonly type: string;
  readonly createdAt: number;
}

export const CreationEvent = builder.interfaceRef<Created>('CreationEvent').implement({
  description: 'Object with a creation time.',
  resolveType: ({ type }) => type,
  fields: (t) => ({ createdAt: t.expose('createdAt', { type: 'DateTime' }) }),
});

/** Returns the identifier of an object. */
export function nodeId(name: NodeName): string {
  switch (name.type) {
    case 'Anonymous':
    case 'SiteConfig':
      return FIXED_IDS[name.type];
    default:
      return `${PREFIXES[name.type]}:${name.id}`;
  }
}

/** Parses an identifier of any type. @throws GraphQLError `BAD_USER_INPUT` */
export function parseNodeId(text: string): NodeName {
  if (text === FIXED_IDS.Anonymous) return { type: 'Anonymous' };
  if (text === FIXED_IDS.SiteConfig) return { type: 'SiteConfig' };
  const [prefix = ''] = text.split(':', 1);
  const type = TYPES.get(prefix);
  if (!isType(type)) throw invalidId();
  return { type, id: ulidAfter<never>(prefix, text) };
}

/** Parses an identifier that must be of this type. @throws GraphQLError `BAD_USER_INPUT` */
export function idOf<Type extends keyof Kinds>(type: Type, text: string): Ulid<Kinds[Type]> {
  return ulidAfter(PREFIXES[type], text);
}

/** Parses the ULID after a prefix and a colon. @throws GraphQLError `BAD_USER_INPUT` */
export function ulidAfter<Kind extends string>(prefix: string, text: string): Ulid<Kind> {
  const id = text.startsWith(`${prefix}:`) ? parseId<Kind>(text.slice(prefix.length + 1)) : undefined;
  if (id === undefined) throw invalidId();
  return id;
}

function isType(type: string | undefined): type is keyof Kinds {
  return type !== undefined && type in PREFIXES;
}

function invalidId(): Error {
  return refusal('BAD_USER_INPUT', 'invalid id');
}
