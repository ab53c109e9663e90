import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/choice-fields.tsx';
import { useClient } from '../../api/context.ts';
import type { Client, ClientDetails, ClientSecret, WithSecret } from '../../api/documents.ts';
import { Confirm } from '../../components/confirm.tsx';
import { SecretOnce } from '../../components/secret-once.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';
import { nameOf } from './application-name.tsx';
import { dropSecret, findSecret, keepSecret } from './new-secrets.ts';

const GRACE_SECONDS = [0, 3600, 86_400, 604_800] as const;

/** The secrets of an application without their values, their rotation, and a new secret once. */
export function Secrets({
  id,
  client,
  reload,
}: {
  id: string;
  client: ClientDetails;
  reload: () => void;
}): VNode | null {
  const { t } = useTexts();
  const api = useClient();
  const [isAsking, setAsking] = useState(false);
  const [grace, setGrace] = useState('86400');
  if (client.secrets.length === 0) return null;
  const graceText = (seconds: number) =>
    seconds === 0 ? t('admin.apps.secret.grace_none') : t('admin.apps.secret.grace_hours', { hours: seconds / 3600 });
  return (
    <section class="card section">
      <h2>{t('admin.apps.secrets')}</h2>
      <NewSecret id={id} />
      <ul class="rows">
        {client.secrets.map((secret) => (
          <SecretRow key={String(secret.current)} secret={secret} />
        ))}
      </ul>
      <div class="actions">
        <Button kind="secondary" onClick={() => setAsking(true)}>
          {t('admin.apps.secret.rotate')}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={t('admin.apps.secret.rotate_title', { name: nameOf(client) })}
          action={t('admin.apps.secret.rotate')}
          kind="primary"
          done={t('admin.apps.secret.rotated')}
          fields={
            <SelectField
              name="grace"
              label={t('admin.apps.secret.grace')}
              value={grace}
              onInput={setGrace}
              options={GRACE_SECONDS.map((seconds) => ({ value: String(seconds), text: graceText(seconds) }))}
            />
          }
          onConfirm={async () => {
            const body = { grace_seconds: Number(grace) };
            const response = await api.post<WithSecret<Client>>(`oauth2-clients/${id}/rotate-secret`, body);
            if (response.ok && response.data.meta?.client_secret !== undefined)
              keepSecret(id, response.data.meta.client_secret);
            return response;
          }}
          onDone={reload}
          onClose={() => setAsking(false)}
        >
          {t('admin.apps.secret.rotate_text')}
        </Confirm>
      )}
    </section>
  );
}

/** A secret that was just generated, until the user has stored it or leaves the area. */
export function NewSecret({ id }: { id: string }): VNode | null {
  const { t } = useTexts();
  const [, setStored] = useState(false);
  const secret = findSecret(id);
  if (secret === undefined) return null;
  return (
    <SecretOnce
      name={t('admin.apps.secret.name')}
      secret={secret}
      onClose={() => {
        dropSecret(id);
        setStored(true);
      }}
    />
  );
}

function SecretRow({ secret }: { secret: ClientSecret }): VNode {
  const { t } = useTexts();
  const { created_at, current, expires_at, last_used_at } = secret;
  return (
    <li class="row">
      <strong>{t(current ? 'admin.apps.secret.current' : 'admin.apps.secret.former')}</strong>
      {created_at !== null && (
        <span class="meta">
          {t('admin.apps.created')} <Time at={created_at} />
        </span>
      )}
      <span class="meta">
        {t('admin.apps.last_used')} {last_used_at === null ? t('admin.apps.never') : <Time at={last_used_at} />}
      </span>
      {expires_at !== null && (
        <span class="meta">
          {t('admin.apps.secret.expires')} <Time at={expires_at} />
        </span>
      )}
    </li>
  );
}
