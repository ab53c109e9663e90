import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { AccountCard } from '#browser/components/decision.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { Icon } from '#browser/components/icon.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

export interface PasskeyOfferProps {
  readonly translations: Translations;
  readonly path: string;
  /** Where the script gets the parameters of the new passkey. */
  readonly optionsPath: string;
  readonly csrf: string;
  readonly account: { readonly displayName: string | undefined; readonly identifier: string };
  readonly problems: readonly FormProblem[];
}

/** Offers to add a passkey. The button needs `add-passkey.js`; without it, the user can only continue. */
export function PasskeyOfferPage({
  translations,
  path,
  optionsPath,
  csrf,
  account,
  problems,
}: PasskeyOfferProps): VNode {
  const t = translations.t.bind(translations);
  return (
    <>
      <Heading title={t('passkey_offer.title')}>{t('passkey_offer.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <AccountCard displayName={account.displayName} identifier={account.identifier} />
      <form class="form" method="post" action={path} hidden data-passkey-creation={optionsPath}>
        <HiddenFields
          fields={[
            ['csrf', csrf],
            ['action', 'add'],
            ['challenge', ''],
            ['credential', ''],
          ]}
        />
        <Button>
          <Icon name="key" />
          <span>{t('passkey_offer.add')}</span>
        </Button>
        <p class="field-error" role="alert" hidden data-passkey-failed>
          {t('passkey_offer.failed')}
        </p>
      </form>
      <p data-passkey-missing>{t('passkey.no_script')}</p>
      <Form action={path} csrf={csrf}>
        <div class="buttons">
          <Button kind="secondary" name="action" value="later">
            {t('passkey_offer.later')}
          </Button>
          <Button kind="secondary" name="action" value="never">
            {t('passkey_offer.never')}
          </Button>
        </div>
      </Form>
    </>
  );
}

export type PasskeyOfferProblem = 'csrf_expired' | 'passkey_failed';

export function passkeyOfferProblem(translations: Translations, code: PasskeyOfferProblem): FormProblem {
  const message = translations.t(code === 'csrf_expired' ? 'form.csrf_expired' : 'passkey_offer.failed');
  return { code, message };
}
