import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { CheckField, PasswordField, TextField } from '#browser/components/fields.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { StrengthMeter, type StrengthRules } from '#browser/components/strength-meter.tsx';
import { Alternative, ClientName, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

export interface RegisterForm {
  /** Where the form posts to: this page with its continuation. */
  readonly path: string;
  readonly csrf: string;
  /** What was typed before, or a proposal. */
  readonly username: string;
  readonly passwordRules: StrengthRules;
  /** Terms to accept; undefined: none. */
  readonly terms: { readonly uri: string; readonly isAccepted: boolean } | undefined;
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
  /** The name of the client that the person continues to. */
  clientName: string | undefined;
  loginPath: string;
  form: RegisterForm;
}): VNode {
  const { problems, terms } = form;
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
          label={translations.t('login.username')}
          autocomplete="username"
          hint={translations.t('username.hint')}
          value={form.username}
          problems={problems}
        />
        <PasswordField
          name="password"
          label={translations.t('login.password')}
          autocomplete="new-password"
          hint={translations.t('register.password_hint', { minimum: form.passwordRules.minimumLength })}
          translations={translations}
          problems={problems}
        >
          <StrengthMeter
            translations={translations}
            passwordName="password"
            usernameName="username"
            rules={form.passwordRules}
          />
        </PasswordField>
        <PasswordField
          name="password_confirm"
          label={translations.t('register.password_confirm')}
          autocomplete="new-password"
          translations={translations}
          problems={problems}
        />
        {terms !== undefined && (
          <CheckField
            name="accept_terms"
            label={translations.rich('register.accept_terms', {
              terms: (
                <a href={terms.uri} rel="noreferrer" target="_blank">
                  {translations.t('register.terms')}
                </a>
              ),
            })}
            isChecked={terms.isAccepted}
            problems={problems}
          />
        )}
        <Button>{translations.t('register.button')}</Button>
      </Form>
      <Alternative>
        {translations.rich('register.sign_in', { link: <a href={loginPath}>{translations.t('index.sign_in')}</a> })}
      </Alternative>
    </>
  );
}
