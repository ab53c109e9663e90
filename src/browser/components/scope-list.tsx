import type { VNode } from 'preact';
import type { MessageKey, Translations } from '../i18n/translations.ts';
import { type Permission, PermissionList } from './decision.tsx';

interface KnownScope {
  readonly text: MessageKey;
  readonly note?: MessageKey;
  readonly isDangerous?: boolean;
}

const ADMIN: KnownScope = { text: 'scope.admin', note: 'scope.admin.note', isDangerous: true };
const ACCOUNT: KnownScope = { text: 'scope.account', note: 'scope.account.note', isDangerous: true };
const HOMESERVER: KnownScope = {
  text: 'scope.homeserver_admin',
  note: 'scope.homeserver_admin.note',
  isDangerous: true,
};

const KNOWN = new Map<string, KnownScope>([
  ['email', { text: 'scope.email' }],
  ['groups', { text: 'scope.groups' }],
  ['offline_access', { text: 'scope.offline_access' }],
  ['profile', { text: 'scope.profile' }],
  ['urn:latchkey:admin', ADMIN],
  ['urn:latchkey:graphql:*', ACCOUNT],
  ['urn:mas:admin', ADMIN],
  ['urn:mas:graphql:*', ACCOUNT],
  ['urn:synapse:admin:*', HOMESERVER],
]);

// Scopes that almost every client requests and that mean little to users. They are shown as one simple entry or not at
// all.
const HARMLESS = /^(?:openid|urn:[a-z0-9]+:(?:org\.[a-z0-9]+\.msc2967\.)?client:(?:api:\*|device:.*))$/;

/**
 * The requested scopes as text, dangerous ones first. Scopes without meaning for users are omitted. A scope of a
 * configured resource is shown as received (browser-flows 9.1).
 */
export function ScopeList({
  translations,
  scopes,
  resources = [],
}: {
  translations: Translations;
  scopes: readonly string[];
  /** Resource servers that the client may use on behalf of the user. */
  resources?: readonly string[];
}): VNode {
  const permissions = scopes
    .filter((scope) => !HARMLESS.test(scope))
    .map((scope): Permission => {
      const known = KNOWN.get(scope);
      if (known === undefined) return { text: scope, isVerbatim: true, isDangerous: false };
      return {
        text: translations.t(known.text),
        isDangerous: known.isDangerous === true,
        ...(known.note !== undefined && { note: translations.t(known.note) }),
      };
    });
  for (const resource of resources) {
    permissions.push({ text: translations.t('scope.resource', { resource }), isDangerous: false });
  }
  if (permissions.length === 0) permissions.push({ text: translations.t('scope.sign_in'), isDangerous: false });
  return <PermissionList permissions={permissions} />;
}
