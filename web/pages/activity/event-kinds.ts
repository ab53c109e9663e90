import type { AreaKey } from '../../i18n/translations.ts';
import type { SecurityEventListData } from './activity.generated.ts';

type User = Extract<SecurityEventListData['viewer'], { __typename: 'User' }>;
export type SecurityEvent = User['securityEvents']['nodes'][number];
export type EventKind = SecurityEvent['kind'];

/** Filters of the list, in display order. There are too many kinds of events for one filter each. */
export const GROUPS = ['sign_ins', 'methods', 'applications', 'profile', 'account'] as const;
export type EventGroup = (typeof GROUPS)[number];

const KINDS: Readonly<Record<EventKind, { readonly group: EventGroup; readonly text: AreaKey }>> = {
  LOGIN: { group: 'sign_ins', text: 'account.activity.kind.login' },
  LOGIN_FAILED: { group: 'sign_ins', text: 'account.activity.kind.login_failed' },
  LOGOUT: { group: 'sign_ins', text: 'account.activity.kind.logout' },
  REAUTHENTICATED: { group: 'sign_ins', text: 'account.activity.kind.reauthenticated' },
  SESSIONS_ENDED: { group: 'sign_ins', text: 'account.activity.kind.sessions_ended' },
  PASSWORD_CHANGED: { group: 'methods', text: 'account.activity.kind.password_changed' },
  PASSWORD_RECOVERED: { group: 'methods', text: 'account.activity.kind.password_recovered' },
  RECOVERY_STARTED: { group: 'methods', text: 'account.activity.kind.recovery_started' },
  PASSKEY_ADDED: { group: 'methods', text: 'account.activity.kind.passkey_added' },
  PASSKEY_REMOVED: { group: 'methods', text: 'account.activity.kind.passkey_removed' },
  TOTP_ADDED: { group: 'methods', text: 'account.activity.kind.totp_added' },
  TOTP_REMOVED: { group: 'methods', text: 'account.activity.kind.totp_removed' },
  RECOVERY_CODES_GENERATED: { group: 'methods', text: 'account.activity.kind.recovery_codes_generated' },
  RECOVERY_CODE_USED: { group: 'methods', text: 'account.activity.kind.recovery_code_used' },
  UPSTREAM_LINKED: { group: 'methods', text: 'account.activity.kind.upstream_linked' },
  UPSTREAM_UNLINKED: { group: 'methods', text: 'account.activity.kind.upstream_unlinked' },
  SESSION_STARTED: { group: 'applications', text: 'account.activity.kind.session_started' },
  SESSION_ENDED: { group: 'applications', text: 'account.activity.kind.session_ended' },
  APPLICATION_REVOKED: { group: 'applications', text: 'account.activity.kind.application_revoked' },
  CONSENT_GIVEN: { group: 'applications', text: 'account.activity.kind.consent_given' },
  CONSENT_REVOKED: { group: 'applications', text: 'account.activity.kind.consent_revoked' },
  CROSS_SIGNING_RESET_ALLOWED: {
    group: 'applications',
    text: 'account.activity.kind.cross_signing_reset_allowed',
  },
  EMAIL_ADDED: { group: 'profile', text: 'account.activity.kind.email_added' },
  EMAIL_REMOVED: { group: 'profile', text: 'account.activity.kind.email_removed' },
  PRIMARY_EMAIL_CHANGED: { group: 'profile', text: 'account.activity.kind.primary_email_changed' },
  DISPLAY_NAME_CHANGED: { group: 'profile', text: 'account.activity.kind.display_name_changed' },
  PROFILE_CHANGED: { group: 'profile', text: 'account.activity.kind.profile_changed' },
  REGISTERED: { group: 'account', text: 'account.activity.kind.registered' },
  DATA_EXPORTED: { group: 'account', text: 'account.activity.kind.data_exported' },
  ACCOUNT_LOCKED: { group: 'account', text: 'account.activity.kind.account_locked' },
  ACCOUNT_UNLOCKED: { group: 'account', text: 'account.activity.kind.account_unlocked' },
  ACCOUNT_DEACTIVATED: { group: 'account', text: 'account.activity.kind.account_deactivated' },
};

/** Returns the text key of an event. A later server version may send unknown kinds. */
export function textOf(kind: string): AreaKey {
  return isKind(kind) ? KINDS[kind].text : 'account.activity.kind.other';
}

/**
 * Returns true if the event is about its client. For other events, the client is the one that an administrator used.
 */
export function isAboutApplication(kind: string): boolean {
  return isKind(kind) && KINDS[kind].group === 'applications';
}

/** Returns the group of an event; undefined for a kind of a later server version. */
export function groupOf(kind: string): EventGroup | undefined {
  return isKind(kind) ? KINDS[kind].group : undefined;
}

const ICONS = {
  sign_ins: 'sign-in',
  methods: 'key',
  applications: 'apps',
  profile: 'person',
  account: 'shield',
} as const satisfies Record<EventGroup, string>;

/** Returns the name of the icon that shows what an event is about. */
export function iconOf({ kind, outcome }: Pick<SecurityEvent, 'kind' | 'outcome'>): string {
  if (outcome === 'FAILURE') return 'warning';
  if (kind === 'LOGOUT' || kind === 'SESSIONS_ENDED') return 'sign-out';
  return ICONS[groupOf(kind) ?? 'account'];
}

export function kindsOf(group: EventGroup): readonly EventKind[] {
  return Object.keys(KINDS)
    .filter(isKind)
    .filter((kind) => KINDS[kind].group === group);
}

/** @param name from the URL */
export function groupNamed(name: string | null): EventGroup | undefined {
  return GROUPS.find((group) => group === name);
}

function isKind(name: string): name is EventKind {
  return Object.hasOwn(KINDS, name);
}
