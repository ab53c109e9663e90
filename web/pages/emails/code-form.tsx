import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useConfig, usePathTo } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { DoVerifyEmail, ResendEmailAuthenticationCode } from './emails.generated.ts';

const DIGITS = /^[0-9]{6}$/;
/** Includes spaces and hyphens that users type or paste. */
const MAX_CHARACTERS = 20;

/** Asks for the mailed code, and offers to send a new one. */
export function CodeForm({
  authentication: { id, email },
  onAdded,
  onInUse,
}: {
  authentication: { readonly id: string; readonly email: string };
  onAdded: () => void;
  onInUse: () => void;
}): VNode {
  const { t, rich } = useTranslations();
  const { codeMinutes } = useConfig();
  const pathTo = usePathTo();
  const form = useForm({ code: '' });
  const { run, isPending, problem } = useAction(DoVerifyEmail);
  const submit = async () => {
    const code = form.values.code.replace(/[\s-]/g, '');
    if (!DIGITS.test(code)) return form.reject({ code: t('verify_email.invalid') });
    const status = (await run({ id, code }))?.completeEmailAuthentication.status;
    switch (status) {
      case undefined:
        return;
      case 'COMPLETED':
        return onAdded();
      case 'IN_USE':
        return onInUse();
      case 'INVALID_CODE':
        return form.reject({ code: t('verify_email.invalid_code') });
      case 'CODE_EXPIRED':
        return form.reject({ code: t('account.emails.code_expired') });
      case 'RATE_LIMITED':
        return form.reject({ code: t('account.problem.rate_limited') });
      default:
        return form.reject({ code: t('account.problem.general') });
    }
  };
  return (
    <>
      <p>
        <a href={pathTo('')}>{t('account.emails.back')}</a>
      </p>
      <PageTitle title={t('verify_email.title')} />
      <p role="status">{rich('verify_email.text', { email: <bdi class="name">{email}</bdi> })}</p>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        <TextField
          name="code"
          label={t('verify_email.code')}
          autocomplete="one-time-code"
          keyboard="numeric"
          isCode
          maxLength={MAX_CHARACTERS}
          hint={t('verify_email.hint', { minutes: codeMinutes })}
          value={form.values.code}
          error={form.errors.code}
          onInput={(value) => form.set('code', value)}
        />
        <Button isPending={isPending}>{t('verify_email.button')}</Button>
      </Form>
      <Resend id={id} isDisabled={isPending} />
    </>
  );
}

const RESULTS = {
  RESENT: { kind: 'success', text: 'account.emails.code_sent' },
  COMPLETED: { kind: 'warning', text: 'account.emails.code_over' },
  RATE_LIMITED: { kind: 'warning', text: 'account.emails.code_too_soon' },
} as const;
const UNKNOWN = { kind: 'warning', text: 'account.problem.general' } as const;

function Resend({ id, isDisabled }: { id: string; isDisabled: boolean }): VNode {
  const { t, language } = useTranslations();
  const { run, isPending, problem } = useAction(ResendEmailAuthenticationCode);
  const [result, setResult] = useState<(typeof RESULTS)[keyof typeof RESULTS] | typeof UNKNOWN | undefined>();
  const resend = async () => {
    setResult(undefined);
    const status = (await run({ id, language }))?.resendEmailAuthenticationCode.status;
    if (status !== undefined) setResult(RESULTS[status] ?? UNKNOWN);
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      <div role="status">{result !== undefined && <Notice kind={result.kind}>{t(result.text)}</Notice>}</div>
      <Button kind="secondary" isPending={isPending} isDisabled={isDisabled} onClick={() => void resend()}>
        {t('verify_email.resend')}
      </Button>
    </>
  );
}
