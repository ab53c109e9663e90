import type { VNode } from 'preact';
import type { ShownCaptcha } from '#browser/captcha.ts';
import { Button, LinkButton } from '#browser/components/buttons.tsx';
import { CaptchaField } from '#browser/components/captcha-field.tsx';
import { TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { IdentifierPreview } from '#browser/components/identifier-preview.tsx';
import { type NameSuggestions, SuggestionButtons, SuggestionForm } from '#browser/components/name-suggestions.tsx';
import { NewPasswordField } from '#browser/components/new-password-field.tsx';
import { ProviderButtons, type ShownProvider } from '#browser/components/provider-buttons.tsx';
import type { StrengthRules } from '#browser/components/strength-meter.tsx';
import { type AcceptedTerms, TermsField } from '#browser/components/terms-field.tsx';
import { Alternative, ClientName, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

export interface RegisterForm {
  /** Target of the form: this page with its continuation. */
  readonly path: string;
  readonly csrf: string;
  /** The previously entered value, or a suggestion. */
  readonly username: string;
  /** Undefined unless the entered username is taken. */
  readonly suggestions: NameSuggestions | undefined;
  /** Like `username`; an invitation can fix it. Undefined if no email address is required. */
  readonly email: { readonly value: string; readonly isFixed: boolean } | undefined;
  readonly passwordRules: StrengthRules;
  /** Terms to accept, if any. */
  readonly terms: AcceptedTerms | undefined;
  /** Undefined if no CAPTCHA is required. */
  readonly captcha: ShownCaptcha | undefined;
  readonly problems: readonly FormProblem[];
}

/** The form that starts a registration. */
export function RegisterPage({
  translations,
  clientName,
  loginPath,
  form,
}: {
  translations: Translations;
  /** Name of the client that the user continues to. */
  clientName: string | undefined;
  loginPath: string;
  form: RegisterForm;
}): VNode {
  const { captcha, problems, suggestions, terms } = form;
  return (
    <>
      <Heading title={translations.t('register.title')}>
        {clientName === undefined
          ? undefined
          : translations.rich('login.continue', { client: <ClientName name={clientName} /> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={form.path} csrf={form.csrf}>
        <TextField
          name="username"
          isFirst
          label={translations.t('login.username')}
          autocomplete="username"
          hint={translations.t('username.hint')}
          value={form.username}
          problems={problems}
        >
          {suggestions && <SuggestionButtons translations={translations} suggestions={suggestions} />}
        </TextField>
        {form.email !== undefined && (
          <TextField
            name="email"
            label={translations.t('recover.email')}
            autocomplete="email"
            keyboard="email"
            hint={translations.t(form.email.isFixed ? 'register.invited_email' : 'email.hint')}
            value={form.email.value}
            isReadOnly={form.email.isFixed}
            problems={problems}
          />
        )}
        <NewPasswordField translations={translations} rules={form.passwordRules} problems={problems} />
        {terms !== undefined && <TermsField translations={translations} terms={terms} problems={problems} />}
        {captcha !== undefined && <CaptchaField translations={translations} captcha={captcha} />}
        <Button>{translations.t('register.button')}</Button>
      </Form>
      {suggestions && (
        <SuggestionForm
          suggestions={suggestions}
          action={form.path}
          csrf={form.csrf}
          fields={[
            ...(form.email === undefined ? [] : [['email', form.email.value] as const]),
            ...(terms?.isAccepted === true ? [['accept_terms', 'on'] as const] : []),
          ]}
        />
      )}
      <Alternative>
        {translations.rich('register.sign_in', { link: <a href={loginPath}>{translations.t('index.sign_in')}</a> })}
      </Alternative>
    </>
  );
}

/** Asks how to create an account: with a password, or by signing in at an upstream provider. */
export function ChoicePage({
  translations,
  clientName,
  problems,
  form,
  providers,
  loginPath,
}: {
  translations: Translations;
  /** Name of the client that the user continues to. */
  clientName: string | undefined;
  problems: readonly FormProblem[];
  /** Undefined if registration with a password is disabled. */
  form:
    | {
        /** Target of the form: this page with its continuation. */
        readonly path: string;
        readonly csrf: string;
        /** The previously entered value, or a suggestion. */
        readonly username: string;
        /** Domain part of chat identifiers. Undefined without a homeserver. */
        readonly serverName: string | undefined;
      }
    | undefined;
  providers: readonly ShownProvider[];
  loginPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('register.title')}>
        {clientName === undefined
          ? undefined
          : translations.rich('login.continue', { client: <ClientName name={clientName} /> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {form !== undefined && (
        <Form action={form.path} csrf={form.csrf}>
          <TextField
            name="username"
            isFirst
            label={translations.t('login.username')}
            autocomplete="username"
            hint={translations.t('username.hint')}
            value={form.username}
            problems={problems}
          />
          {form.serverName !== undefined && (
            <IdentifierPreview translations={translations} of="username" serverName={form.serverName} />
          )}
          <Button>{translations.t('register.with_password')}</Button>
        </Form>
      )}
      {form !== undefined && providers.length > 0 && <p class="or">{translations.t('upstream.or')}</p>}
      <ProviderButtons translations={translations} providers={providers} />
      <Alternative>
        {translations.rich('register.sign_in', { link: <a href={loginPath}>{translations.t('index.sign_in')}</a> })}
      </Alternative>
    </>
  );
}

/** Says that registration is closed. */
export function ClosedPage({ translations, loginPath }: { translations: Translations; loginPath: string }): VNode {
  return (
    <>
      <Heading title={translations.t('register.closed.title')} />
      <p>{translations.t('register.closed.text')}</p>
      <LinkButton kind="primary" href={loginPath}>
        {translations.t('register.closed.sign_in')}
      </LinkButton>
    </>
  );
}
