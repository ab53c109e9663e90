import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { LinkButton } from '../../../src/browser/components/buttons.tsx';
import { AccountCard } from '../../../src/browser/components/decision.tsx';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { CheckField, PasswordField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { findNewPasswordErrors, NEW_PASSWORD, NewPasswordFields } from './new-password.tsx';
import { ChangePassword, PasswordChange as PasswordChangeQuery } from './password.generated.ts';

const NONE = {};

/** Asks for the current and a new password. */
export function PasswordChange(): VNode {
  const { t } = useTranslations();
  const query = usePageQuery(PasswordChangeQuery, NONE);
  return (
    <PlainPage>
      <PageTitle title={t('account.password.title')} />
      <Loaded query={query}>
        {({ viewer, siteConfig }) => {
          if (viewer.__typename !== 'User') return undefined;
          if (!siteConfig.passwordChangeAllowed) return <Nothing>{t('account.password.disabled')}</Nothing>;
          if (!viewer.hasPassword) return <Nothing>{t('account.password.none')}</Nothing>;
          return <ChangeForm user={viewer} minimumScore={siteConfig.minimumPasswordComplexity} />;
        }}
      </Loaded>
    </PlainPage>
  );
}

/** Shown if the password cannot be changed here. */
function Nothing({ children }: { children: ComponentChildren }): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <>
      <p>{children}</p>
      <p>
        <a href={pathTo('')}>{t('account.not_found.home')}</a>
      </p>
    </>
  );
}

/** Errors of the form as a whole. */
const REFUSALS: Readonly<Record<string, AreaKey>> = {
  PASSWORD_CHANGES_DISABLED: 'account.password.disabled',
  NO_CURRENT_PASSWORD: 'account.password.none',
};

function ChangeForm({ user, minimumScore }: { user: { id: string; username: string }; minimumScore: number }): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const { route } = useLocation();
  const pathTo = usePathTo();
  const form = useForm({ current_password: '', ...NEW_PASSWORD });
  // By default, other browsers are signed out, because others may use them.
  const [endsBrowsers, setEndsBrowsers] = useState(true);
  const [endsApplications, setEndsApplications] = useState(false);
  const [refusal, setRefusal] = useState<AreaKey | undefined>();
  const { run, isPending, problem } = useAction(ChangePassword);
  const { current_password: oldPassword, new_password: newPassword } = form.values;
  const submit = async () => {
    setRefusal(undefined);
    const current = oldPassword === '' ? { current_password: t('account.password.current_required') } : {};
    const errors = { ...current, ...findNewPasswordErrors(form.values, translations) };
    form.reject(errors);
    if (Object.keys(errors).length > 0) return;
    const data = await run({
      userId: user.id,
      oldPassword,
      newPassword,
      keepOtherSessions: !endsBrowsers,
      endApplicationSessions: endsApplications,
    });
    const { status, suggestions } = data?.setPassword ?? {};
    if (status === undefined) return;
    if (status === 'ALLOWED') route(pathTo('password/change/success'), true);
    else if (status === 'WRONG_PASSWORD') form.reject({ current_password: t('account.password.wrong') });
    else if (status === 'INVALID_NEW_PASSWORD') form.reject({ new_password: (suggestions ?? []).join(' ') });
    else setRefusal(REFUSALS[status] ?? 'account.problem.general');
  };
  return (
    <>
      <AccountCard displayName={undefined} identifier={user.username} />
      <ProblemNotice problem={problem} />
      {refusal !== undefined && (
        <div role="alert">
          <Notice kind="danger">{t(refusal)}</Notice>
        </div>
      )}
      <Form isPending={isPending} onSubmit={submit}>
        <PasswordField
          name="current_password"
          label={t('account.password.current')}
          autocomplete="current-password"
          value={form.values.current_password}
          error={form.errors.current_password}
          onInput={(value) => form.set('current_password', value)}
        />
        <NewPasswordFields form={form} username={user.username} minimumScore={minimumScore} />
        <CheckField
          name="end_other_browsers"
          label={t('account.password.end_other_browsers')}
          isChecked={endsBrowsers}
          onChange={setEndsBrowsers}
        />
        <CheckField
          name="end_applications"
          label={t('account.password.end_applications')}
          isChecked={endsApplications}
          onChange={setEndsApplications}
        />
        <Button isPending={isPending}>{t('account.password.button')}</Button>
        <LinkButton href={pathTo('')}>{t('account.cancel')}</LinkButton>
      </Form>
    </>
  );
}
