import type { VNode } from 'preact';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary } from '#browser/components/form.tsx';
import { PasskeyForm, type ShownPasskey } from '#browser/components/passkey-form.tsx';
import { Alternative, Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

export interface PasskeyPageProps {
  readonly translations: Translations;
  readonly serviceName: string;
  readonly passkey: ShownPasskey;
  readonly problems: readonly FormProblem[];
  /** Path of the page for authenticator codes. Undefined if the user has no authenticator app. */
  readonly totpPath: string | undefined;
  readonly startAgainPath: string;
}

/** Asks for a passkey after the first factor. */
export function PasskeyPage({ translations, serviceName, passkey, problems, ...paths }: PasskeyPageProps): VNode {
  const t = translations.t.bind(translations);
  return (
    <>
      <Heading title={t('second_factor.title')}>{t('passkey.text', { service: serviceName })}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <PasskeyForm translations={translations} passkey={passkey} kind="primary" />
      <p data-passkey-missing>{t('passkey.no_script')}</p>
      {paths.totpPath !== undefined && (
        <Alternative>
          <a href={paths.totpPath}>{t('second_factor.use_totp')}</a>
        </Alternative>
      )}
      <Alternative>
        <a href={paths.startAgainPath}>{t('second_factor.start_again')}</a>
      </Alternative>
    </>
  );
}

export type PasskeyProblem = { readonly reason: 'passkey-failed' | 'csrf-expired' };

export function passkeyProblem(translations: Translations, { reason }: PasskeyProblem): FormProblem {
  return reason === 'csrf-expired'
    ? { code: 'csrf_expired', message: translations.t('form.csrf_expired') }
    : { code: 'passkey_failed', message: translations.t('passkey.failed') };
}
