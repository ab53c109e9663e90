import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { QrCode } from '#browser/components/qr-code.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import type { ShownTotpSecret } from '#domain/one-time-codes/totp-secret.ts';

interface SetupPageProps {
  readonly translations: Translations;
  readonly path: string;
  readonly csrf: string;
}

/** Asks a person who has to have a second factor to set up an authenticator app. */
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
  /** No code can be given any more. */
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

/** Four by four, so that it can be typed; apps leave the blanks out. */
function inGroups(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, '$& ');
}

/** Shows the recovery codes of a person who has just set up an app. They are signed in when they go on. */
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
