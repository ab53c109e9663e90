import type { VNode } from 'preact';
import { captchaProblem, type ShownCaptcha } from '#browser/captcha.ts';
import { Button } from '#browser/components/buttons.tsx';
import { CaptchaField } from '#browser/components/captcha-field.tsx';
import { PasswordField, TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem } from '#browser/components/form.tsx';
import { PasskeyCapable } from '#browser/components/passkey-capable.tsx';
import { PasskeyForm, type ShownPasskey } from '#browser/components/passkey-form.tsx';
import { ProviderButtons, type ShownProvider } from '#browser/components/provider-buttons.tsx';
import { Alternative, ClientName, Heading, Notice, ProviderName } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { type NoticeCode, NoticeLine } from '#browser/notices.tsx';
import type { SignInOutcome } from '#domain/browser-sessions/sign-in.ts';
import { type PasskeyProblem, passkeyProblem } from './passkey.page.tsx';

export interface LoginForm {
  /** Target of the form: this page with its continuation. */
  readonly path: string;
  readonly csrf: string;
  /** The previously entered value, or a suggestion. */
  readonly username: string | undefined;
  readonly problems: readonly FormProblem[];
  /** Users may enter an email address instead of the username. */
  readonly acceptsEmail: boolean;
  /** The browser says whether its device can create a passkey. */
  readonly asksForDevice: boolean;
  /** Undefined if no CAPTCHA is required. */
  readonly captcha: ShownCaptcha | undefined;
}

/** The sign-in page. It has no form if passwords are disabled. */
export function LoginPage({
  translations,
  serviceName,
  clientName,
  message,
  notice,
  form,
  passkey,
  recoverPath,
  providers,
  linkedProvider,
  registerPath,
}: {
  translations: Translations;
  serviceName: string;
  /** Name of the client that the user continues to. */
  clientName: string | undefined;
  /** The operator's message. */
  message: string | undefined;
  /** Notice about what happened before. */
  notice: NoticeCode | undefined;
  form: LoginForm | undefined;
  /** Undefined if passkeys are disabled. */
  passkey: ShownPasskey | undefined;
  /** Path of password recovery. Undefined if it is not available. */
  recoverPath: string | undefined;
  /** Upstream providers to sign in with. */
  providers: readonly ShownProvider[];
  /** After sign-in, the user links the account to one at this provider. */
  linkedProvider: string | undefined;
  /** Path of the registration page. Undefined if registration is closed. */
  registerPath: string | undefined;
}): VNode {
  const hasForm = form !== undefined;
  return (
    <>
      <Heading title={translations.t('login.title')}>
        {clientName === undefined
          ? undefined
          : translations.rich('login.continue', { client: <ClientName name={clientName} /> })}
      </Heading>
      <NoticeLine translations={translations} code={notice} />
      {message !== undefined && (
        <Notice kind="info">
          <span dir="auto">{message}</span>
        </Notice>
      )}
      {linkedProvider !== undefined && (
        <Notice kind="info">
          {translations.rich('upstream.login_to_link', { provider: <ProviderName name={linkedProvider} /> })}
        </Notice>
      )}
      {form === undefined && passkey === undefined && providers.length === 0 && (
        <p>{translations.t('login.disabled', { service: serviceName })}</p>
      )}
      {form !== undefined && (
        <PasswordForm translations={translations} form={form} hasPasskey={passkey !== undefined} />
      )}
      {recoverPath !== undefined && (
        <Alternative>
          <a href={recoverPath}>{translations.t('login.recover')}</a>
        </Alternative>
      )}
      {hasForm && providers.length > 0 && <p class="or">{translations.t('upstream.or')}</p>}
      {passkey !== undefined && (
        <>
          <PasskeyForm
            translations={translations}
            passkey={passkey}
            isOffered={hasForm}
            isAlternative={hasForm && providers.length === 0}
          />
          {form === undefined && providers.length === 0 && (
            <p data-passkey-missing>{translations.t('passkey.no_script')}</p>
          )}
        </>
      )}
      <ProviderButtons translations={translations} providers={providers} />
      {registerPath !== undefined && (
        <Alternative>
          {translations.rich('login.register', { link: <a href={registerPath}>{translations.t('register.link')}</a> })}
        </Alternative>
      )}
    </>
  );
}

function PasswordForm({
  translations,
  form,
  hasPasskey,
}: {
  translations: Translations;
  form: LoginForm;
  hasPasskey: boolean;
}): VNode {
  return (
    <>
      <ErrorSummary translations={translations} problems={form.problems} />
      <Form action={form.path} csrf={form.csrf}>
        <TextField
          name="username"
          label={translations.t(form.acceptsEmail ? 'login.username_or_email' : 'login.username')}
          autocomplete={hasPasskey ? 'username webauthn' : 'username'}
          value={form.username}
          isFirst={form.username === undefined}
          problems={form.problems}
        />
        <PasswordField
          name="password"
          label={translations.t('login.password')}
          autocomplete="current-password"
          isFirst={form.username !== undefined}
          translations={translations}
          problems={form.problems}
        />
        {form.asksForDevice && <PasskeyCapable />}
        {form.captcha !== undefined && <CaptchaField translations={translations} captcha={form.captcha} />}
        <Button>{translations.t('login.button')}</Button>
      </Form>
    </>
  );
}

export const MAX_USERNAME_CHARACTERS = 255;

/** Why the sign-in form is shown a second time. */
export type LoginProblem =
  | Exclude<SignInOutcome, { readonly ok: true } | { readonly reason: 'locked' | 'deactivated' | 'factor-due' }>
  | PasskeyProblem
  | { readonly reason: 'too-long' };

/** Returns the problem as text, with the codes of browser-flows 3.2.4. */
export function loginProblems(
  translations: Translations,
  problem: LoginProblem,
  options: { readonly acceptsEmail: boolean },
): FormProblem[] {
  const t = translations.t.bind(translations);
  switch (problem.reason) {
    case 'required':
      return problem.fields.map((field) => ({ code: 'required', field, message: t(requiredMessage(field, options)) }));
    case 'too-long': {
      const message = t('form.too_long', { max: MAX_USERNAME_CHARACTERS });
      return [{ code: 'too_long', field: 'username', message }];
    }
    case 'invalid-credentials':
      return [{ code: 'invalid_credentials', message: t('login.invalid_credentials') }];
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return [{ code: 'rate_limit_exceeded', message: t('login.rate_limit_exceeded', { minutes }) }];
    }
    case 'captcha-unsolved':
    case 'captcha-unavailable':
      return [captchaProblem(translations, problem.reason)];
    case 'csrf-expired':
    case 'passkey-failed':
      return [passkeyProblem(translations, problem)];
    case 'overloaded':
      return [{ code: 'overloaded', message: t('login.overloaded') }];
  }
}

function requiredMessage(field: 'username' | 'password', { acceptsEmail }: { readonly acceptsEmail: boolean }) {
  if (field === 'password') return 'login.password_required';
  return acceptsEmail ? 'login.username_or_email_required' : 'login.username_required';
}
