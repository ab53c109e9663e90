import type { VNode } from 'preact';
import type { ClientTest } from '../../api/documents.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

/** Texts of the codes of the API. Others show what the API says. */
const TEXTS: Readonly<Record<string, AdminKey>> = {
  address_not_allowed: 'admin.apps.finding.address_not_allowed',
  busy: 'admin.apps.finding.busy',
  client_disabled: 'admin.apps.finding.client_disabled',
  keys_missing: 'admin.apps.finding.keys_missing',
  logo_not_image: 'admin.apps.finding.logo_not_image',
  logos_off: 'admin.apps.finding.logos_off',
  logout_refused: 'admin.apps.finding.logout_refused',
  logout_unchecked: 'admin.apps.finding.logout_unchecked',
  name_unknown: 'admin.apps.finding.name_unknown',
  not_reachable: 'admin.apps.finding.not_reachable',
  ok: 'admin.apps.finding.ok',
  redirect_uri_insecure: 'admin.apps.finding.redirect_uri_insecure',
  redirect_uri_native: 'admin.apps.finding.redirect_uri_native',
  redirect_uri_of_service: 'admin.apps.finding.redirect_uri_of_service',
  redirect_uri_with_secret: 'admin.apps.finding.redirect_uri_with_secret',
  redirect_uris_missing: 'admin.apps.finding.redirect_uris_missing',
  redirected: 'admin.apps.finding.redirected',
  sector_incomplete: 'admin.apps.finding.sector_incomplete',
  timeout: 'admin.apps.finding.timeout',
  too_large: 'admin.apps.finding.too_large',
  unreadable: 'admin.apps.finding.unreadable',
  url_not_allowed: 'admin.apps.finding.url_not_allowed',
  wrong_status: 'admin.apps.finding.wrong_status',
};

const MEMBERS: Readonly<Record<string, AdminKey>> = {
  disabled_at: 'admin.apps.status',
  redirect_uris: 'admin.apps.connect.redirect_uri',
  jwks_uri: 'admin.apps.field.keys',
  logo_uri: 'admin.apps.field.logo',
  backchannel_logout_uri: 'admin.apps.field.backchannel',
};

const STATES = {
  ok: { badge: 'badge', text: 'admin.apps.finding.state.ok' },
  warning: { badge: 'badge badge-warning', text: 'admin.apps.finding.state.warning' },
  error: { badge: 'badge badge-danger', text: 'admin.apps.finding.state.error' },
} as const;

/** The result of one check. */
export function Finding({ finding }: { finding: ClientTest['findings'][number] }): VNode {
  const { t } = useTexts();
  const { code, member, message, remedy, status, url } = finding;
  const key = TEXTS[code];
  const memberKey = MEMBERS[member];
  const { badge, text } = STATES[status];
  return (
    <li class="row">
      <span>
        <span class={badge}>{t(text)}</span> <strong>{memberKey === undefined ? member : t(memberKey)}</strong>
      </span>
      {url !== null && (
        <code dir="ltr" class="break-all">
          {url}
        </code>
      )}
      <span>{key === undefined ? `${message} ${remedy}` : t(key)}</span>
    </li>
  );
}
