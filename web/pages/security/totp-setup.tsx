import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { QrCode } from '../../../src/browser/components/qr-code.tsx';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/facts.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import {
  CompleteTotpEnrolment,
  type CompleteTotpEnrolmentData,
  StartTotpEnrolment,
  TotpStatus,
} from './one-time-codes.generated.ts';
import { RecoveryCodeList } from './recovery-code-list.tsx';

const NONE = {};
const DIGITS = /^[0-9]{6}$/;
/** Includes spaces and hyphens that users type or paste. */
const MAX_CHARACTERS = 20;

interface Enrolment {
  readonly id: string;
  /** Encoded in base32. */
  readonly secret: string;
  readonly otpauthUrl: string;
  readonly expiresAt: string;
}

/** Sets up an authenticator app: a QR code, a code from the app, and the recovery codes. */
export function TotpSetup(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const query = usePageQuery(TotpStatus, NONE);
  return (
    <PlainPage>
      <p>
        <a href={pathTo('security')}>{t('account.totp.back')}</a>
      </p>
      <PageTitle title={t('account.totp.title')} />
      <Loaded query={query}>
        {({ viewer, siteConfig }) =>
          viewer.__typename === 'User' && (
            <Steps username={viewer.username} hasApp={viewer.totp !== null} isAllowed={siteConfig.totpEnabled} />
          )
        }
      </Loaded>
    </PlainPage>
  );
}

function Steps({ username, hasApp, isAllowed }: { username: string; hasApp: boolean; isAllowed: boolean }): VNode {
  const { t } = useTranslations();
  const { route } = useLocation();
  const pathTo = usePathTo();
  const [enrolment, setEnrolment] = useState<Enrolment | undefined>();
  const [ended, setEnded] = useState<AreaKey | undefined>();
  const [codes, setCodes] = useState<readonly string[] | undefined>();
  if (codes !== undefined) {
    return (
      <>
        <div role="status">
          <Notice kind="success">{t('account.totp.done')}</Notice>
        </div>
        <h2>{t('account.codes.title')}</h2>
        <RecoveryCodeList codes={codes} username={username} onSaved={() => route(pathTo('security'))} />
      </>
    );
  }
  if (hasApp) return <p>{t('account.totp.already')}</p>;
  if (!isAllowed) return <p>{t('account.problem.forbidden')}</p>;
  if (enrolment !== undefined) {
    return (
      <ConfirmApp
        key={enrolment.id}
        enrolment={enrolment}
        onEnrolled={setCodes}
        onEnded={(why) => {
          setEnded(why);
          setEnrolment(undefined);
        }}
      />
    );
  }
  return <Introduction ended={ended} onStarted={setEnrolment} />;
}

/** The setup starts only on request, because it may require a reauthentication. */
function Introduction({
  ended,
  onStarted,
}: {
  /** Why a previous attempt failed. */
  ended: AreaKey | undefined;
  onStarted: (enrolment: Enrolment) => void;
}): VNode {
  const { t } = useTranslations();
  const { run, isPending, problem } = useAction(StartTotpEnrolment);
  const [trouble, setTrouble] = useState(ended);
  const start = async () => {
    setTrouble(undefined);
    const response = (await run(NONE))?.startTotpEnrolment;
    if (response === undefined) return;
    const { status, enrolmentId: id, secret, otpauthUrl, expiresAt } = response;
    if (id !== null && secret !== null && otpauthUrl !== null && expiresAt !== null)
      onStarted({ id, secret, otpauthUrl, expiresAt });
    else if (status === 'ALREADY_ENROLLED') setTrouble('account.totp.already');
    else setTrouble(status === 'DISABLED' ? 'account.problem.forbidden' : 'account.problem.general');
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      {trouble !== undefined && (
        <div role="alert">
          <Notice kind="danger">{t(trouble)}</Notice>
        </div>
      )}
      <p>{t('account.totp.intro')}</p>
      <Button isPending={isPending} onClick={() => void start()}>
        {t('account.totp.begin')}
      </Button>
    </>
  );
}

type Refusal = Exclude<CompleteTotpEnrolmentData['completeTotpEnrolment']['status'], 'ENROLLED' | 'INVALID_CODE'>;

/** Results after which the user has to start over. */
const ENDED: Readonly<Record<Refusal, AreaKey>> = {
  EXPIRED: 'account.totp.expired',
  RATE_LIMITED: 'account.totp.too_many',
};

function ConfirmApp({
  enrolment: { id, secret, otpauthUrl, expiresAt },
  onEnrolled,
  onEnded,
}: {
  enrolment: Enrolment;
  onEnrolled: (codes: readonly string[]) => void;
  onEnded: (why: AreaKey) => void;
}): VNode {
  const { t, rich } = useTranslations();
  const form = useForm({ code: '' });
  const { run, isPending, problem } = useAction(CompleteTotpEnrolment);
  const submit = async () => {
    const code = form.values.code.replace(/[\s-]/g, '');
    if (!DIGITS.test(code)) return form.reject({ code: t('account.totp.code_required') });
    const response = (await run({ enrolmentId: id, code }))?.completeTotpEnrolment;
    if (response === undefined) return;
    if (response.recoveryCodes !== null) return onEnrolled(response.recoveryCodes);
    if (response.status === 'EXPIRED' || response.status === 'RATE_LIMITED') return onEnded(ENDED[response.status]);
    form.reject({ code: t(response.status === 'INVALID_CODE' ? 'account.totp.wrong' : 'account.problem.general') });
  };
  return (
    <>
      <p>{t('account.totp.scan')}</p>
      <QrCode text={otpauthUrl} label={t('account.totp.qr_label')} />
      <p>
        {t('account.totp.type')} <code class="secret-key">{secret.match(/.{1,4}/g)?.join(' ')}</code>
      </p>
      <p>
        <a href={otpauthUrl}>{t('account.totp.open')}</a>
      </p>
      <p class="hint">{rich('account.totp.expires', { when: <Moment at={expiresAt} /> })}</p>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        <TextField
          name="code"
          label={t('account.totp.code')}
          autocomplete="one-time-code"
          keyboard="numeric"
          isCode
          maxLength={MAX_CHARACTERS}
          hint={t('account.totp.code_hint')}
          value={form.values.code}
          error={form.errors.code}
          onInput={(value) => form.set('code', value)}
        />
        <Button isPending={isPending}>{t('account.totp.confirm')}</Button>
      </Form>
    </>
  );
}
