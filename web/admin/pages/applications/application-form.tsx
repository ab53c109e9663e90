import type { VNode } from 'preact';
import { SelectField } from '../../../components/choice-fields.tsx';
import { CheckField, TextField } from '../../../components/fields.tsx';
import type { ClientDetails } from '../../api/documents.ts';
import type { DraftForm } from '../../components/form-dialog.tsx';
import { linesOf, UriList } from '../../components/uri-list.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

/** Properties that the form shows, in its order. Their names are those of the API. */
const TEXTS = ['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'scope', 'jwks_uri'] as const;
const LISTS = ['redirect_uris', 'post_logout_redirect_uris'] as const;
const GRANTS = [
  { grant: 'authorization_code', label: 'admin.apps.grant.code' },
  { grant: 'refresh_token', label: 'admin.apps.grant.refresh' },
  { grant: 'urn:ietf:params:oauth:grant-type:device_code', label: 'admin.apps.grant.device' },
  { grant: 'client_credentials', label: 'admin.apps.grant.client' },
] as const satisfies readonly { readonly grant: string; readonly label: AdminKey }[];
const METHODS = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'] as const;

export const FIELDS = [
  'client_name',
  'redirect_uris',
  'client_auth_method',
  'application_type',
  'grant_types',
  'scope',
  'allowed_groups',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
  'client_uri',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'jwks_uri',
  'first_party',
] as const;

/** Fields that most applications do not need. */
const MORE = FIELDS.slice(FIELDS.indexOf('post_logout_redirect_uris'));

export type Field = (typeof FIELDS)[number];
export type FieldValues = Readonly<Record<Field, string>>;

export const FIELD_LABELS: Readonly<Record<Field, AdminKey>> = {
  client_name: 'admin.apps.name',
  redirect_uris: 'admin.apps.field.redirect_uris',
  client_auth_method: 'admin.apps.field.auth_method',
  application_type: 'admin.apps.field.type',
  grant_types: 'admin.apps.field.grants',
  scope: 'admin.apps.field.scope',
  allowed_groups: 'admin.apps.field.groups',
  post_logout_redirect_uris: 'admin.apps.field.logout_uris',
  backchannel_logout_uri: 'admin.apps.field.backchannel',
  client_uri: 'admin.apps.field.home',
  logo_uri: 'admin.apps.field.logo',
  policy_uri: 'admin.apps.field.policy',
  tos_uri: 'admin.apps.field.terms',
  jwks_uri: 'admin.apps.field.keys',
  first_party: 'admin.apps.field.first_party',
};

const EMPTY: FieldValues = {
  client_name: '',
  redirect_uris: '',
  client_auth_method: 'client_secret_basic',
  application_type: '',
  grant_types: '',
  scope: '',
  allowed_groups: '',
  post_logout_redirect_uris: '',
  backchannel_logout_uri: '',
  client_uri: '',
  logo_uri: '',
  policy_uri: '',
  tos_uri: '',
  jwks_uri: '',
  first_party: '',
};

/** Returns the values of a new application. */
export function valuesWith(values: Partial<FieldValues>): FieldValues {
  return { ...EMPTY, ...values };
}

/** Returns the values of a client as the fields show them. */
export function valuesOf(client: ClientDetails): FieldValues {
  const read = { ...EMPTY };
  for (const name of FIELDS) read[name] = textOf(client[name]);
  return read;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('\n');
  return value === undefined || value === null || value === false ? '' : String(value);
}

/** Returns the members of a merge patch for the fields that differ. Null restores the default. */
export function patchOf(before: FieldValues, after: FieldValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    FIELDS.filter((name) => before[name] !== after[name]).map((name) => [name, memberOf(name, after[name])]),
  );
}

/** Returns the body of a new client. */
export function bodyOf(values: FieldValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    FIELDS.map((name) => [name, memberOf(name, values[name])] as const).filter(([, value]) => value !== null),
  );
}

function memberOf(name: Field, text: string): unknown {
  if (name === 'first_party') return text === 'true';
  // An empty list of groups would keep an application closed whose groups were deleted.
  if (name === 'grant_types' || name === 'allowed_groups') return linesOf(text).length === 0 ? null : linesOf(text);
  if (LISTS.some((list) => list === name)) return linesOf(text);
  return text.trim() === '' ? null : text.trim();
}

/** The fields of a managed application. */
export function ApplicationFields({ form }: { form: DraftForm<Field> }): VNode {
  const { t } = useTexts();
  const { values, errors, set } = form;
  const field = (name: Field) => ({
    name,
    label: t(FIELD_LABELS[name]),
    value: values[name],
    error: errors[name],
    onInput: (value: string) => set(name, value),
  });
  const text = (name: (typeof TEXTS)[number] | 'backchannel_logout_uri', hint?: AdminKey) => (
    <TextField {...field(name)} autocomplete="off" {...(hint !== undefined && { hint: t(hint) })} />
  );
  const grants = linesOf(values.grant_types);
  return (
    <>
      {text('client_name', 'admin.apps.hint.name')}
      <UriList {...field('redirect_uris')} hint={t('admin.apps.hint.redirect_uris')} />
      <SelectField
        {...field('client_auth_method')}
        hint={t('admin.apps.hint.auth_method')}
        options={METHODS.map((value) => ({ value, text: value === 'none' ? t('admin.apps.public') : value }))}
      />
      <SelectField
        {...field('application_type')}
        options={[
          { value: '', text: t('admin.apps.type.any') },
          { value: 'web', text: t('admin.apps.type.web') },
          { value: 'native', text: t('admin.apps.type.native') },
        ]}
      />
      <fieldset class="field" id="grant_types" tabIndex={-1}>
        <legend>{t('admin.apps.field.grants')}</legend>
        {GRANTS.map(({ grant, label }) => (
          <CheckField
            key={grant}
            name={`grant-${grant}`}
            label={t(label)}
            isChecked={grants.includes(grant)}
            onChange={(isChecked) => {
              const others = grants.filter((one) => one !== grant);
              set('grant_types', [...others, ...(isChecked ? [grant] : [])].join('\n'));
            }}
          />
        ))}
        {errors.grant_types !== undefined && (
          <div class="field-error" role="alert">
            <p>{errors.grant_types}</p>
          </div>
        )}
      </fieldset>
      {text('scope', 'admin.apps.hint.scope')}
      <UriList {...field('allowed_groups')} hint={t('admin.apps.hint.groups')} />
      {/* A field with an error must be visible. */}
      <details class="more" open={MORE.some((name) => errors[name] !== undefined)}>
        <summary>{t('admin.apps.more')}</summary>
        <div class="form">
          <UriList {...field('post_logout_redirect_uris')} />
          {text('backchannel_logout_uri', 'admin.apps.hint.backchannel')}
          {text('client_uri')}
          {text('logo_uri')}
          {text('policy_uri')}
          {text('tos_uri')}
          {text('jwks_uri', 'admin.apps.hint.keys')}
          <CheckField
            name="first_party"
            label={t('admin.apps.field.first_party')}
            isChecked={values.first_party === 'true'}
            onChange={(isChecked) => set('first_party', isChecked ? 'true' : '')}
          />
        </div>
      </details>
    </>
  );
}
