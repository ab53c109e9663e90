import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/choice-fields.tsx';
import { TextField } from '../../../components/fields.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { List, PersonalSession, PersonalToken, Resource, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { OlderPager } from '../../components/older-pager.tsx';
import { SecretOnce } from '../../components/secret-once.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';

const PAGE_SIZE = 25;
const TOKENS = new Responses<List<PersonalSession>>();
const LIFETIMES_DAYS = [30, 90, 365] as const;
const DAY_SECONDS = 86_400;

/** A token that was just created, until it is stored or the user leaves the tab. */
interface NewToken {
  readonly name: string;
  readonly token: string;
}

/** Personal access tokens that act as an account, newest first. */
export function UserTokens({ id, isUsable }: { id: string; isUsable: boolean }): VNode {
  const { t } = useTexts();
  const { query } = useLocation();
  const list = useResource(
    TOKENS,
    withParameters('personal-sessions', {
      'filter[actor_user]': id,
      // The API lists them in the order of their creation.
      'page[last]': String(PAGE_SIZE),
      'page[before]': query['before'],
      count: 'false',
    }),
  );
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewToken | undefined>();
  return (
    <section class="section">
      <h2>{t('admin.user.personal_sessions')}</h2>
      <p class="meta">{t('admin.user.tokens_text')}</p>
      {created !== undefined && (
        <SecretOnce name={created.name} secret={created.token} onClose={() => setCreated(undefined)} />
      )}
      {isUsable && (
        <div class="actions">
          <Button kind="secondary" onClick={() => setCreating(true)}>
            {t('admin.user.create_token')}
          </Button>
        </div>
      )}
      <Loaded resource={list}>
        {({ data, links }) => (
          <>
            {data.length === 0 ? (
              <p class="meta">{t('admin.user.no_tokens')}</p>
            ) : (
              <TokenTable tokens={data.toReversed()} isLoading={list.isLoading} reload={list.reload} />
            )}
            <OlderPager
              before={links.prev === undefined ? undefined : data[0]?.id}
              filters={{ tab: 'tokens' }}
              label={t('admin.user.token_pages')}
              title={t('admin.pager.older')}
            />
          </>
        )}
      </Loaded>
      {isCreating && (
        <CreateToken
          id={id}
          onDone={(token) => {
            setCreated(token);
            list.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </section>
  );
}

function TokenTable({
  tokens,
  isLoading,
  reload,
}: {
  tokens: readonly Resource<PersonalSession>[];
  isLoading: boolean;
  reload: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [revoking, setRevoking] = useState<Resource<PersonalSession> | undefined>();
  const name = revoking?.attributes.human_name ?? '';
  return (
    <>
      <DataTable
        label={t('admin.user.personal_sessions')}
        rows={tokens}
        isLoading={isLoading}
        columns={[
          { title: t('admin.user.token_name'), cell: ({ attributes }) => <bdi>{attributes.human_name}</bdi> },
          { title: t('admin.user.token_scope'), cell: ({ attributes }) => <code dir="ltr">{attributes.scope}</code> },
          { title: t('admin.users.created'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
          {
            title: t('admin.user.last_active'),
            cell: ({ attributes: { last_active_at: at, last_active_ip: address } }) => (
              <span>
                {at === null ? '–' : <Time at={at} />}
                {address !== null && <span class="meta"> {address}</span>}
              </span>
            ),
          },
          {
            title: t('admin.user.token_expires'),
            cell: ({ attributes: { expires_at: at } }) =>
              at === null ? t('admin.user.token_never') : <Time at={at} />,
          },
          {
            title: t('admin.users.status'),
            cell: (token) => <TokenStatus token={token} onRevoke={() => setRevoking(token)} />,
          },
        ]}
      />
      {revoking !== undefined && (
        <Confirm
          title={t('admin.user.revoke_token_title', { name })}
          action={t('admin.user.revoke_token')}
          kind="danger"
          done={t('admin.user.token_revoked', { name })}
          onConfirm={() => client.post(`personal-sessions/${revoking.id}/revoke`)}
          onDone={reload}
          onClose={() => setRevoking(undefined)}
        >
          {t('admin.user.revoke_token_text')}
        </Confirm>
      )}
    </>
  );
}

function TokenStatus({
  token: {
    attributes: { revoked_at, expires_at, human_name: name },
  },
  onRevoke,
}: {
  token: Resource<PersonalSession>;
  onRevoke: () => void;
}): VNode {
  const { t } = useTexts();
  if (revoked_at !== null) return <span class="meta">{t('admin.user.token_is_revoked')}</span>;
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now();
  return (
    <span class="actions">
      {isExpired && <span class="meta">{t('admin.user.token_is_expired')}</span>}
      <Button kind="quiet" label={t('admin.user.revoke_token_label', { name })} onClick={onRevoke}>
        {t('admin.user.revoke_token')}
      </Button>
    </span>
  );
}

function CreateToken({
  id,
  onDone,
  onClose,
}: {
  id: string;
  onDone: (token: NewToken) => void;
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const form = useDraftForm('token', { human_name: '', scope: 'openid', expires_in: String(90 * DAY_SECONDS) });
  const name = form.values.human_name.trim();
  const field = (of: 'expires_in' | 'human_name' | 'scope') => ({
    name: of,
    value: form.values[of],
    error: form.errors[of],
    onInput: (value: string) => form.set(of, value),
  });
  return (
    <FormDialog
      title={t('admin.user.create_token')}
      action={t('admin.user.create_token')}
      form={form}
      done={t('admin.user.token_created', { name })}
      onSubmit={() => {
        const { scope, expires_in } = form.values;
        if (name === '') {
          form.reject({ human_name: t('admin.required') });
          return undefined;
        }
        return client.post<Single<PersonalToken>>('personal-sessions', {
          actor_user_id: id,
          human_name: name,
          scope: scope.trim(),
          ...(expires_in !== '' && { expires_in: Number(expires_in) }),
        });
      }}
      onDone={({ data: { attributes } }) => onDone({ name: attributes.human_name, token: attributes.access_token })}
      onClose={onClose}
    >
      <p>{t('admin.user.create_token_text')}</p>
      <TextField
        {...field('human_name')}
        label={t('admin.user.token_name')}
        hint={t('admin.user.token_name_hint')}
        autocomplete="off"
        maxLength={100}
      />
      <TextField
        {...field('scope')}
        label={t('admin.user.token_scope')}
        hint={t('admin.user.token_scope_hint')}
        autocomplete="off"
      />
      <SelectField
        {...field('expires_in')}
        label={t('admin.user.token_lifetime')}
        options={[
          ...LIFETIMES_DAYS.map((days) => ({
            value: String(days * DAY_SECONDS),
            text: t('admin.user.token_days', { days }),
          })),
          { value: '', text: t('admin.user.token_never') },
        ]}
      />
    </FormDialog>
  );
}
