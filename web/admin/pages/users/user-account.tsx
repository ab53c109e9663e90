import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { LinesField } from '../../../components/choice-fields.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { TextField } from '../../../components/fields.tsx';
import { type TestResponse, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type {
  List,
  Single,
  UpstreamLink,
  UpstreamProvider,
  User,
  UserClaims,
  UserDetails,
  UserEmail,
  UserGroups,
} from '../../api/documents.ts';
import { type ReadResource, Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';

/** What is stored about an account: profile, sign-in, addresses, groups, linked accounts and claims. */
export function UserAccount({
  id,
  user,
  details,
}: {
  id: string;
  user: User;
  details: ReadResource<Single<UserDetails>>;
}): VNode {
  const isUsable = user.deactivated_at === null;
  return (
    <>
      <Profile id={id} user={user} details={details.data?.data.attributes} />
      <SignIn id={id} details={details} />
      <Emails id={id} isUsable={isUsable} />
      <Groups id={id} isUsable={isUsable} />
      <Links id={id} />
      <Claims id={id} isUsable={isUsable} />
    </>
  );
}

function Profile({ id, user, details }: { id: string; user: User; details: UserDetails | undefined }): VNode {
  const { t } = useTexts();
  return (
    <section class="card section">
      <h2>{t('admin.user.profile')}</h2>
      <FactList>
        <FactRow name={t('admin.users.username')}>
          <bdi>{user.username}</bdi>
        </FactRow>
        <FactRow name={t('admin.users.display_name')}>
          <bdi>{user.display_name ?? '–'}</bdi>
        </FactRow>
        <TextRow name={t('admin.user.given_name')} text={details?.given_name} />
        <TextRow name={t('admin.user.family_name')} text={details?.family_name} />
        <TextRow name={t('admin.user.language')} text={details?.language} />
        <TextRow name={t('admin.user.time_zone')} text={details?.time_zone} />
        <FactRow name={t('admin.user.id')}>
          <code>{id}</code>
        </FactRow>
        <FactRow name={t('admin.users.right')}>
          {t(user.admin ? 'admin.users.administrator' : 'admin.users.user')}
        </FactRow>
        <TimeRow name={t('admin.users.created')} at={user.created_at} />
        <TimeRow name={t('admin.user.last_active')} at={details?.last_active_at ?? null} />
        <TimeRow name={t('admin.user.locked_at')} at={user.locked_at} />
        <TimeRow name={t('admin.user.deactivated_at')} at={user.deactivated_at} />
      </FactList>
    </section>
  );
}

/** Shown if the user has entered the text. */
function TextRow({ name, text }: { name: string; text: string | null | undefined }): VNode | null {
  if (text === null || text === undefined) return null;
  return (
    <FactRow name={name}>
      <bdi>{text}</bdi>
    </FactRow>
  );
}

function TimeRow({ name, at }: { name: string; at: string | null }): VNode | null {
  if (at === null) return null;
  return (
    <FactRow name={name}>
      <Time at={at} />
    </FactRow>
  );
}

function SignIn({ id, details }: { id: string; details: ReadResource<Single<UserDetails>> }): VNode {
  const { t } = useTexts();
  return (
    <section class="card section">
      <h2>{t('admin.user.sign_in')}</h2>
      <Loaded resource={details}>
        {({ data: { attributes } }) => (
          <>
            <FactList>
              <FactRow name={t('admin.user.password')}>
                {t(attributes.has_password ? 'admin.user.is_set' : 'admin.user.is_not_set')}
              </FactRow>
              <FactRow name={t('admin.user.authenticator')}>
                {attributes.authenticator_app === null ? (
                  t('admin.user.is_not_set')
                ) : (
                  <Time at={attributes.authenticator_app.created_at} />
                )}
              </FactRow>
              <FactRow name={t('admin.user.recovery_codes')}>
                {attributes.recovery_codes.total === 0
                  ? t('admin.user.is_not_set')
                  : t('admin.user.codes', attributes.recovery_codes)}
              </FactRow>
            </FactList>
            <h3>{t('admin.user.passkeys')}</h3>
            <Passkeys id={id} details={attributes} reload={details.reload} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Passkeys({ id, details, reload }: { id: string; details: UserDetails; reload: () => void }): VNode {
  const { t, language } = useTexts();
  const client = useClient();
  const { has_password, linked_accounts, passkeys } = details;
  const isOnlyWay = !has_password && linked_accounts === 0 && passkeys.length === 1;
  const created = (at: string) => new Date(at).toLocaleDateString(language, { dateStyle: 'medium' });
  return (
    <Items
      title={t('admin.user.passkeys')}
      none={t('admin.user.no_passkeys')}
      removal={t(isOnlyWay ? 'admin.user.remove_only_passkey_text' : 'admin.user.remove_passkey_text')}
      reload={reload}
      items={passkeys.map((passkey) => ({
        key: passkey.id,
        text: passkey.name,
        detail: t('admin.user.passkey_added', { date: created(passkey.created_at) }),
        remove: () => client.delete(`users/${id}/passkeys/${passkey.id}`),
      }))}
    />
  );
}

interface Item {
  readonly key: string;
  readonly text: string;
  readonly detail?: string | undefined;
  /** Removes the item; undefined if this is not possible. */
  readonly remove?: (() => Promise<TestResponse<unknown>>) | undefined;
}

/** What belongs to an account, with a button that removes each item. */
function Items({
  title,
  none,
  items,
  removal,
  reload,
  children,
}: {
  title: string;
  /** Shown instead of an empty list. */
  none: string;
  items: readonly Item[];
  /** Consequence of a removal. */
  removal: string;
  reload: () => void;
  /** Adds an item. */
  children?: ComponentChildren;
}): VNode {
  const { t } = useTexts();
  const [removed, setRemoved] = useState<Item | undefined>();
  return (
    <>
      {items.length === 0 ? (
        <p class="meta">{none}</p>
      ) : (
        <ul class="rows" aria-label={title}>
          {items.map((item) => (
            <li key={item.key} class="row">
              <span>
                <bdi>{item.text}</bdi> {item.detail !== undefined && <span class="meta">{item.detail}</span>}
              </span>
              {item.remove !== undefined && (
                <Button
                  kind="quiet"
                  label={t('admin.user.remove_item', { name: item.text })}
                  onClick={() => setRemoved(item)}
                >
                  {t('admin.user.remove')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {children}
      {removed?.remove !== undefined && (
        <Confirm
          title={t('admin.user.remove_title', { name: removed.text })}
          action={t('admin.user.remove')}
          kind="danger"
          done={t('admin.user.removed', { name: removed.text })}
          onConfirm={removed.remove}
          onDone={reload}
          onClose={() => setRemoved(undefined)}
        >
          {removal}
        </Confirm>
      )}
    </>
  );
}

const EMAILS = new Responses<List<UserEmail>>();

function Emails({ id, isUsable }: { id: string; isUsable: boolean }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [isAdding, setAdding] = useState(false);
  const emails = useResource(
    EMAILS,
    withParameters('user-emails', { 'filter[user]': id, 'page[first]': '100', count: 'false' }),
  );
  return (
    <section class="card section">
      <h2>{t('admin.user.emails')}</h2>
      <Loaded resource={emails}>
        {({ data }) => (
          <Items
            title={t('admin.user.emails')}
            none={t('admin.user.no_emails')}
            removal={t('admin.user.remove_email_text')}
            reload={emails.reload}
            items={data.map(({ id: emailId, attributes: { email, primary } }) => ({
              key: emailId,
              text: email,
              detail: primary && data.length > 1 ? t('admin.user.primary_email') : undefined,
              remove: () => client.delete(`user-emails/${emailId}`),
            }))}
          >
            {isUsable && (
              <Button kind="secondary" onClick={() => setAdding(true)}>
                {t('admin.user.add_email')}
              </Button>
            )}
          </Items>
        )}
      </Loaded>
      {isAdding && <AddEmail id={id} onDone={emails.reload} onClose={() => setAdding(false)} />}
    </section>
  );
}

interface Adding {
  readonly id: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function AddEmail({ id, ...handlers }: Adding): VNode {
  const { t } = useTexts();
  const client = useClient();
  const form = useDraftForm('email', { email: '' });
  const { email } = form.values;
  return (
    <FormDialog
      title={t('admin.user.add_email')}
      action={t('admin.user.add')}
      form={form}
      done={t('admin.user.added', { name: email.trim() })}
      onSubmit={() => client.post('user-emails', { user_id: id, email: email.trim() })}
      {...handlers}
    >
      <p>{t('admin.user.add_email_text')}</p>
      <TextField
        name="email"
        label={t('admin.user.email')}
        keyboard="email"
        autocomplete="off"
        value={email}
        error={form.errors.email}
        onInput={(value) => form.set('email', value)}
      />
    </FormDialog>
  );
}

const GROUPS = new Responses<Single<UserGroups>>();

function Groups({ id, isUsable }: { id: string; isUsable: boolean }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [isAdding, setAdding] = useState(false);
  const path = `users/${id}/groups`;
  const groups = useResource(GROUPS, path);
  return (
    <section class="card section">
      <h2>{t('admin.user.groups')}</h2>
      <Loaded resource={groups}>
        {({ data: { attributes } }) => (
          <>
            <Items
              title={t('admin.user.groups')}
              none={t('admin.user.no_groups')}
              removal={t('admin.user.remove_group_text')}
              reload={groups.reload}
              items={[
                ...attributes.groups.map((name) => ({
                  key: name,
                  text: name,
                  remove: () => client.put(path, { groups: attributes.groups.filter((other) => other !== name) }),
                })),
                ...attributes.upstream.flatMap((source) =>
                  source.groups.map((name) => ({
                    key: `${source.provider_id} ${name}`,
                    text: name,
                    detail: t('admin.user.group_of_provider'),
                  })),
                ),
              ]}
            >
              {isUsable && (
                <Button kind="secondary" onClick={() => setAdding(true)}>
                  {t('admin.user.add_group')}
                </Button>
              )}
            </Items>
            {isAdding && (
              <AddGroup id={id} groups={attributes.groups} onDone={groups.reload} onClose={() => setAdding(false)} />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function AddGroup({ id, groups, ...handlers }: Adding & { groups: readonly string[] }): VNode {
  const { t } = useTexts();
  const client = useClient();
  // The name of the member that the API names in its errors.
  const form = useDraftForm('group', { groups: '' });
  const name = form.values.groups.trim();
  return (
    <FormDialog
      title={t('admin.user.add_group')}
      action={t('admin.user.add')}
      form={form}
      done={t('admin.user.added', { name })}
      onSubmit={() => client.put(`users/${id}/groups`, { groups: [...groups, name] })}
      {...handlers}
    >
      <p>{t('admin.user.add_group_text')}</p>
      <TextField
        name="groups"
        label={t('admin.user.group')}
        autocomplete="off"
        maxLength={255}
        value={form.values.groups}
        error={form.errors.groups}
        onInput={(value) => form.set('groups', value)}
      />
    </FormDialog>
  );
}

const LINKS = new Responses<List<UpstreamLink>>();
const PROVIDERS = new Responses<List<UpstreamProvider>>();

function Links({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const links = useResource(
    LINKS,
    withParameters('upstream-oauth-links', { 'filter[user]': id, 'page[first]': '100', count: 'false' }),
  );
  const providers = useResource(
    PROVIDERS,
    withParameters('upstream-oauth-providers', { 'page[first]': '100', count: 'false' }),
  );
  const nameOf = (providerId: string): string => {
    const attributes = providers.data?.data.find((provider) => provider.id === providerId)?.attributes;
    return attributes?.human_name ?? attributes?.issuer ?? providerId;
  };
  return (
    <section class="card section">
      <h2>{t('admin.user.links')}</h2>
      <Loaded resource={links}>
        {({ data }) => (
          <Items
            title={t('admin.user.links')}
            none={t('admin.user.no_links')}
            removal={t('admin.user.remove_link_text')}
            reload={links.reload}
            items={data.map(({ id: linkId, attributes: { provider_id, human_account_name, subject } }) => ({
              key: linkId,
              text: human_account_name ?? subject,
              detail: nameOf(provider_id),
              remove: () => client.delete(`upstream-oauth-links/${linkId}`),
            }))}
          />
        )}
      </Loaded>
    </section>
  );
}

const CLAIMS = new Responses<Single<UserClaims>>();

function Claims({ id, isUsable }: { id: string; isUsable: boolean }): VNode {
  const { t } = useTexts();
  const [isEditing, setEditing] = useState(false);
  const claims = useResource(CLAIMS, `users/${id}/claims`);
  return (
    <section class="card section">
      <h2>{t('admin.user.claims')}</h2>
      <Loaded resource={claims}>
        {({ data: { attributes } }) => {
          const text = JSON.stringify(attributes.claims, null, 2);
          return (
            <>
              {text === '{}' ? (
                <p class="meta">{t('admin.user.no_claims')}</p>
              ) : (
                <pre class="json" dir="ltr">
                  {text}
                </pre>
              )}
              {isUsable && (
                <Button kind="secondary" onClick={() => setEditing(true)}>
                  {t('admin.user.edit_claims')}
                </Button>
              )}
              {isEditing && <EditClaims id={id} text={text} onDone={claims.reload} onClose={() => setEditing(false)} />}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function EditClaims({ id, text, ...handlers }: Adding & { text: string }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const form = useDraftForm('claims', { claims: text });
  return (
    <FormDialog
      title={t('admin.user.edit_claims')}
      action={t('admin.save')}
      form={form}
      done={t('admin.user.claims_saved')}
      onSubmit={() => {
        try {
          return client.put(`users/${id}/claims`, { claims: JSON.parse(form.values.claims) });
        } catch {
          form.reject({ claims: t('admin.user.claims_invalid') });
          return undefined;
        }
      }}
      {...handlers}
    >
      <p>{t('admin.user.claims_text')}</p>
      <LinesField
        name="claims"
        label={t('admin.user.claims_json')}
        rows={8}
        value={form.values.claims}
        error={form.errors.claims}
        onInput={(value) => form.set('claims', value)}
      />
    </FormDialog>
  );
}
