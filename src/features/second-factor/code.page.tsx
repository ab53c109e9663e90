import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { CheckField, TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem } from '#browser/components/form.tsx';
import { PasskeyCapable } from '#browser/components/passkey-capable.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { CodeKind, CodeRefusal } from '#domain/login-completion/try-code.ts';

export interface CodePageProps {
  readonly translations: Translations;
  readonly kind: CodeKind;
  readonly serviceName: string;
  /** Path of this page. Undefined if no more codes are accepted. */
  readonly path: string | undefined;
  readonly csrf: string;
  readonly problems: readonly FormProblem[];
  /** How long this browser can be trusted. 0 if trusting is disabled. */
  readonly trustDays: number;
  readonly isTrustRequested: boolean;
  /** The browser says whether its device can create a passkey. */
  readonly asksForDevice: boolean;
  /** Path of the page for the other kind of code. */
  readonly otherPath: string;
  /** Path of the passkey page. Undefined if the user has no passkey, or if the session is renewed. */
  readonly passkeyPath: string | undefined;
  readonly startAgainPath: string;
}

/** Asks for a code after the first factor. */
export function CodePage(props: CodePageProps): VNode {
  const { translations, kind, path, problems } = props;
  const t = translations.t.bind(translations);
  const isApp = kind === 'totp';
  return (
    <>
      <Heading title={t('second_factor.title')}>
        {path === undefined
          ? undefined
          : t(isApp ? 'second_factor.totp.text' : 'second_factor.recovery.text', { service: props.serviceName })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {path !== undefined && (
        <Form action={path} csrf={props.csrf}>
          <TextField
            name="code"
            isFirst
            label={t(isApp ? 'second_factor.totp.label' : 'second_factor.recovery.label')}
            hint={t(isApp ? 'second_factor.totp.hint' : 'second_factor.recovery.hint')}
            autocomplete={isApp ? 'one-time-code' : 'off'}
            {...(isApp && { isCode: true, keyboard: 'numeric' as const })}
            value=""
            problems={problems}
          />
          {props.trustDays > 0 && (
            <CheckField
              name="trust_browser"
              label={t('second_factor.trust', { days: props.trustDays })}
              isChecked={props.isTrustRequested}
              isRequired={false}
              problems={problems}
            />
          )}
          {props.asksForDevice && <PasskeyCapable />}
          <Button>{t('second_factor.button')}</Button>
        </Form>
      )}
      {path !== undefined && (
        <Alternative>
          <a href={props.otherPath}>{t(isApp ? 'second_factor.use_recovery' : 'second_factor.use_totp')}</a>
        </Alternative>
      )}
      {path !== undefined && props.passkeyPath !== undefined && (
        <Alternative>
          <a href={props.passkeyPath}>{t('passkey.use')}</a>
        </Alternative>
      )}
      <Alternative>
        <a href={props.startAgainPath}>{t('second_factor.start_again')}</a>
      </Alternative>
    </>
  );
}

/** Why a code page is shown a second time. */
export type CodeProblem = CodeRefusal | { readonly reason: 'csrf-expired' };

export function codeProblem(translations: Translations, kind: CodeKind, problem: CodeProblem): FormProblem {
  const t = translations.t.bind(translations);
  switch (problem.reason) {
    case 'required':
      return { code: 'required', field: 'code', message: t('second_factor.code_required') };
    case 'invalid-code': {
      const text = kind === 'totp' ? 'second_factor.invalid_code' : 'second_factor.invalid_recovery_code';
      return { code: 'invalid_code', field: 'code', message: t(text) };
    }
    case 'too-many-attempts':
      return { code: 'too_many_attempts', message: t('second_factor.too_many_attempts') };
    case 'rate-limited': {
      const minutes = Math.max(1, Math.ceil(problem.retryAfterSeconds / 60));
      return { code: 'rate_limit_exceeded', message: t('login.rate_limit_exceeded', { minutes }) };
    }
    case 'csrf-expired':
      return { code: 'csrf_expired', message: t('form.csrf_expired') };
  }
}
