import type { VNode } from 'preact';
import type { UpstreamProvider } from '../../api/documents.ts';
import { Time } from '../../components/time.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

const STATES: Readonly<Record<UpstreamProvider['state'], { readonly text: AdminKey; readonly style?: string }>> = {
  working: { text: 'admin.providers.working' },
  failing: { text: 'admin.providers.failing', style: 'badge badge-danger' },
  unknown: { text: 'admin.providers.unknown' },
  disabled: { text: 'admin.providers.disabled', style: 'meta' },
  removed: { text: 'admin.providers.removed', style: 'meta' },
};

/** Texts of the codes of the API. Others show what the API says. */
const ERRORS: Readonly<Record<string, AdminKey>> = {
  client_rejected: 'admin.providers.error.client_rejected',
  discovery_invalid: 'admin.providers.error.discovery_invalid',
  discovery_timeout: 'admin.providers.error.discovery_timeout',
  discovery_unreachable: 'admin.providers.error.discovery_unreachable',
  discovery_wrong_issuer: 'admin.providers.error.discovery_wrong_issuer',
  discovery_wrong_status: 'admin.providers.error.discovery_wrong_status',
  id_token_invalid: 'admin.providers.error.id_token_invalid',
  keys_invalid: 'admin.providers.error.keys_invalid',
  keys_missing: 'admin.providers.error.keys_missing',
  keys_timeout: 'admin.providers.error.keys_timeout',
  keys_unreachable: 'admin.providers.error.keys_unreachable',
  token_invalid: 'admin.providers.error.token_invalid',
  token_unavailable: 'admin.providers.error.token_unavailable',
  userinfo_failed: 'admin.providers.error.userinfo_failed',
};

export function providerName(id: string, { human_name, issuer }: UpstreamProvider): string {
  return human_name ?? issuer ?? id;
}

export function ProviderState({ state }: { state: UpstreamProvider['state'] }): VNode {
  const { t } = useTexts();
  const { text, style } = STATES[state];
  return <span class={style}>{t(text)}</span>;
}

/** What failed last, when, and what to do about it. */
export function LastError({ error }: { error: UpstreamProvider['last_error'] }): VNode {
  const { t } = useTexts();
  if (error === null) return <span class="meta">{t('admin.providers.no_error')}</span>;
  const key = ERRORS[error.code];
  return (
    <span>
      <Time at={error.at} /> {!error.is_current && <span class="meta">{t('admin.providers.resolved')}</span>}
      <span class="reason">{key === undefined ? `${error.message} ${error.remedy}` : t(key)}</span>
    </span>
  );
}

export function TimeOrNever({ at }: { at: string | null }): VNode {
  const { t } = useTexts();
  return at === null ? <span class="meta">{t('admin.providers.never')}</span> : <Time at={at} />;
}

/** When the discovery document was fetched last. */
export function Discovery({ discovery: { url, fetched_at } }: { discovery: UpstreamProvider['discovery'] }): VNode {
  const { t } = useTexts();
  return url === null ? <span class="meta">{t('admin.providers.not_used')}</span> : <TimeOrNever at={fetched_at} />;
}

/** When the keys were fetched last, and of which types they are. */
export function Keys({ keys: { needed, fetched_at, types } }: { keys: UpstreamProvider['keys'] }): VNode {
  const { t } = useTexts();
  if (!needed) return <span class="meta">{t('admin.providers.not_used')}</span>;
  return (
    <span>
      <TimeOrNever at={fetched_at} />
      {types.length > 0 && (
        <bdi class="reason meta">
          {types.map(({ type, count }) => (count === 1 ? type : `${count} × ${type}`)).join(', ')}
        </bdi>
      )}
    </span>
  );
}

/** The API counts up to this number. */
const MAX_COUNTED = 10_000;

export function LinkedUsers({ count }: { count: number }): VNode {
  const { language } = useTexts();
  return <span>{`${count.toLocaleString(language)}${count >= MAX_COUNTED ? '+' : ''}`}</span>;
}
