import type { ComponentChildren, VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { CheckField, TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { IdentifierPreview } from '#browser/components/identifier-preview.tsx';
import { type NameSuggestions, SuggestionButtons, SuggestionForm } from '#browser/components/name-suggestions.tsx';
import type { ShownProvider } from '#browser/components/provider-buttons.tsx';
import { ProviderMark } from '#browser/components/provider-mark.tsx';
import { type AcceptedTerms, TermsField } from '#browser/components/terms-field.tsx';
import { Alternative, Heading, ProviderName } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { Imported } from '#domain/upstream/import-claims.ts';

/** `isTaken`: the user accepts the value. */
type Offered = Imported<string> & { readonly isTaken: boolean };

/** Creates an account for a user who signed in at a provider. */
export function UpstreamRegisterPage({
  translations,
  provider,
  path,
  csrf,
  problems,
  username,
  suggestions,
  email,
  displayName,
  serverName,
  terms,
  linkPath,
}: {
  translations: Translations;
  provider: Pick<ShownProvider, 'name' | 'brand'> & {
    /** Name of the user's account at the provider. */
    readonly accountName: string | undefined;
  };
  /** Target of the form. */
  path: string;
  csrf: string;
  problems: readonly FormProblem[];
  /** Fixed by the provider, or else entered before or suggested. */
  username: { readonly isFixed: boolean; readonly value: string };
  /** Undefined unless the entered username is taken. */
  suggestions: NameSuggestions | undefined;
  email: Offered | undefined;
  displayName: Offered | undefined;
  /** Domain part of chat identifiers. Undefined without a homeserver. */
  serverName: string | undefined;
  terms: AcceptedTerms | undefined;
  /** Path of the sign-in page for linking an existing account. Undefined if linking is not allowed. */
  linkPath: string | undefined;
}): VNode {
  const { isFixed } = username;
  return (
    <>
      <Heading title={translations.t('register.title')}>
        {translations.rich(isFixed ? 'upstream.register.text_fixed' : 'upstream.register.text', {
          provider: <ProviderName name={provider.name} />,
        })}
      </Heading>
      <div class="account">
        <ProviderMark brand={provider.brand ?? provider.name} />
        <div class="account-name">
          <bdi class="name">{provider.name}</bdi>
          {provider.accountName !== undefined && <bdi class="meta">{provider.accountName}</bdi>}
        </div>
      </div>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <HiddenFields fields={[['action', 'register']]} />
        {isFixed ? (
          <ImportedFact
            name={translations.t('login.username')}
            value={serverName === undefined ? username.value : `@${username.value}:${serverName}`}
          />
        ) : (
          <>
            <TextField
              name="username"
              label={translations.t('login.username')}
              autocomplete="username"
              hint={translations.t('username.hint')}
              value={username.value}
              problems={problems}
            >
              {suggestions && <SuggestionButtons translations={translations} suggestions={suggestions} />}
            </TextField>
            {serverName !== undefined && (
              <IdentifierPreview translations={translations} of="username" serverName={serverName} />
            )}
          </>
        )}
        {email !== undefined && (
          <ImportedFact name={translations.t('recover.email')} value={email.value}>
            {!email.isFixed && (
              <CheckField
                name="import_email"
                label={translations.t('upstream.register.take_email')}
                isChecked={email.isTaken}
                isRequired={false}
                problems={problems}
              />
            )}
          </ImportedFact>
        )}
        {displayName !== undefined && (
          <ImportedFact name={translations.t('display_name.label')} value={displayName.value}>
            {!displayName.isFixed && (
              <CheckField
                name="import_display_name"
                label={translations.t('upstream.register.take_display_name')}
                isChecked={displayName.isTaken}
                isRequired={false}
                problems={problems}
              />
            )}
          </ImportedFact>
        )}
        {terms !== undefined && <TermsField translations={translations} terms={terms} problems={problems} />}
        <Button>{translations.t('register.button')}</Button>
      </Form>
      {suggestions && (
        <SuggestionForm
          suggestions={suggestions}
          action={path}
          csrf={csrf}
          fields={[
            ['action', 'register'],
            ...(email?.isTaken === true ? [['import_email', 'on'] as const] : []),
            ...(displayName?.isTaken === true ? [['import_display_name', 'on'] as const] : []),
            ...(terms?.isAccepted === true ? [['accept_terms', 'on'] as const] : []),
          ]}
        />
      )}
      {linkPath !== undefined && (
        <Alternative>
          <a href={linkPath}>{translations.t('upstream.register.link')}</a>
        </Alternative>
      )}
    </>
  );
}

/** A value from the provider, which cannot be changed here. `children`: whether to use it. */
function ImportedFact({ name, value, children }: { name: string; value: string; children?: ComponentChildren }): VNode {
  return (
    <div class="imported">
      <span class="meta">{name}</span>
      <bdi class="name">{value}</bdi>
      {children}
    </div>
  );
}
