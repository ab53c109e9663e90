import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { Disclosure } from '#browser/components/disclosure.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form, type FormProblem, HiddenFields } from '#browser/components/form.tsx';
import { Heading, Notice } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';
import { type NoticeCode, NoticeLine } from '#browser/notices.tsx';

/** What the page says about earlier submissions. */
export interface Shown {
  /** No more codes can be tried for this address. Another code can be sent. */
  readonly isOver: boolean;
  readonly notice: NoticeCode | undefined;
  readonly problems: readonly FormProblem[];
  /** A rejected replacement address. */
  readonly changedTo: string | undefined;
}

/** Asks for the emailed code. Offers to send another code, or to change the address. */
export function VerifyEmailPage({
  translations,
  path,
  csrf,
  email,
  isFixed = false,
  minutes,
  shown,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  /** Recipient of the email. */
  email: string;
  /** The address cannot be changed. */
  isFixed?: boolean;
  /** Lifetime of a code. */
  minutes: number;
  shown: Shown;
}): VNode {
  const { changedTo, isOver, notice, problems } = shown;
  const address = { email: <bdi class="name">{email}</bdi> };
  return (
    <>
      <Heading title={translations.t('verify_email.title')}>
        {isOver ? undefined : translations.rich('verify_email.text', address)}
      </Heading>
      <NoticeLine translations={translations} code={notice} />
      <ErrorSummary translations={translations} problems={problems} />
      {isOver ? (
        <Notice kind="warning">
          <span data-state="over">{translations.rich('verify_email.over', address)}</span>
        </Notice>
      ) : (
        <Form action={path} csrf={csrf}>
          <TextField
            name="code"
            isFirst
            label={translations.t('verify_email.code')}
            autocomplete="one-time-code"
            hint={translations.t('verify_email.hint', { minutes })}
            isCode
            keyboard="numeric"
            value=""
            problems={problems}
          />
          <Button name="action" value="verify">
            {translations.t('verify_email.button')}
          </Button>
        </Form>
      )}
      <Form action={path} csrf={csrf}>
        <Button kind={isOver ? 'primary' : 'secondary'} name="action" value="resend">
          {translations.t('verify_email.resend')}
        </Button>
      </Form>
      {!isFixed && (
        <Disclosure label={translations.t('recover.progress.other')} isOpen={changedTo !== undefined}>
          <Form action={path} csrf={csrf}>
            {/* For users who submit the form with the Enter key. */}
            <HiddenFields fields={[['action', 'change']]} />
            <TextField
              name="email"
              label={translations.t('recover.email')}
              autocomplete="email"
              keyboard="email"
              value={changedTo}
              problems={problems}
            />
            <Button kind="secondary">{translations.t('verify_email.change')}</Button>
          </Form>
        </Disclosure>
      )}
    </>
  );
}
