import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { QrCode } from '#browser/components/qr-code.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { ShownTotpSecret } from '#domain/records/totp-secret.ts';

interface SetupPageProps {
  readonly translations: Translations;
  readonly path: string;
  readonly csrf: string;
}

/** Asks the user to set up an authenticator app, because a second factor is required. */
export function SetupPage({
  translations,
  path,
  csrf,
  serviceName,
  shown,
  problems,
  isOver,
  startAgainPath,
}: SetupPageProps & {
  readonly serviceName: string;
  readonly shown: ShownTotpSecret;
  readonly problems: readonly FormProblem[];
  /** No more codes are accepted. */
  readonly isOver: boolean;
  readonly startAgainPath: string;
}): VNode {
  const t = translations.t.bind(translations);
  return (
    <>
      <Heading title={t('second_factor.setup.title')}>
        {isOver ? undefined : t('second_factor.setup.text', { service: serviceName })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      {!isOver && (
        <>
          <QrCode text={shown.otpauthUrl} label={t('second_factor.setup.qr')} />
          <p>
            {t('second_factor.setup.secret')}
            <br />
            <code dir="ltr">{inGroups(shown.secret)}</code>
          </p>
          <Form action={path} csrf={csrf}>
            <TextField
              name="code"
              label={t('second_factor.totp.label')}
              hint={t('second_factor.totp.hint')}
              autocomplete="one-time-code"
              isCode
              keyboard="numeric"
              value=""
              problems={problems}
            />
            <Button>{t('second_factor.button')}</Button>
          </Form>
        </>
      )}
      <Alternative>
        <a href={startAgainPath}>{t('second_factor.start_again')}</a>
      </Alternative>
    </>
  );
}

/** Groups the secret by four characters for easier typing. Apps ignore the spaces. */
function inGroups(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, '$& ');
}

/** Shows the recovery codes after an app was set up. The user is signed in when they continue. */
export function RecoveryCodesPage({
  translations,
  path,
  csrf,
  codes,
  problems,
}: SetupPageProps & { readonly codes: readonly string[]; readonly problems: readonly FormProblem[] }): VNode {
  const t = translations.t.bind(translations);
  return (
    <>
      <Heading title={t('second_factor.codes.title')}>{t('second_factor.codes.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <ul class="recovery-codes" aria-label={t('second_factor.codes.list')}>
        {codes.map((code) => (
          <li>
            <code dir="ltr">{code}</code>
          </li>
        ))}
      </ul>
      <Form action={path} csrf={csrf}>
        <HiddenFields fields={[['step', 'done']]} />
        <Button>{t('second_factor.codes.button')}</Button>
      </Form>
    </>
  );
}
