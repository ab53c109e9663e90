import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { Button } from '../../components/button.tsx';
import type { Problem } from '../api/admin-client.ts';
import type { ReadResource } from '../api/use-resource.ts';
import { type AdminKey, useTexts } from '../i18n/translations.ts';

const PATIENCE_MS = 200;

/** Shows the data of a response. Until then, shows a loading indicator or the problem. */
export function Loaded<Data>({
  resource: { data, problem, isLoading, reload },
  children,
}: {
  resource: ReadResource<Data>;
  children: (data: Data) => ComponentChildren;
}): VNode {
  const { t } = useTexts();
  return (
    <>
      {problem !== undefined && (
        <ProblemNotice problem={problem}>
          <Button kind="secondary" onClick={reload} isPending={isLoading}>
            {t('admin.retry')}
          </Button>
        </ProblemNotice>
      )}
      {data !== undefined ? children(data) : problem === undefined && <Spinner />}
    </>
  );
}

/** A loading indicator, shown after a delay. */
function Spinner(): VNode {
  const { t } = useTexts();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      {isShown && (
        <>
          <span class="spinner" aria-hidden="true" />
          {t('admin.loading')}
        </>
      )}
    </div>
  );
}

/** Explains a problem and what to do about it. */
export function ProblemNotice({
  problem,
  children,
}: {
  problem: Problem;
  /** An action, such as a button. */
  children?: ComponentChildren;
}): VNode {
  const textOf = useProblemText();
  return (
    <div role="alert">
      <Notice kind="danger">
        <p>{textOf(problem)}</p>
        {children}
      </Notice>
    </div>
  );
}

/** Returns a function that explains a problem in the user's language. */
export function useProblemText(): (problem: Problem) => string {
  const { t } = useTexts();
  return (problem) => {
    switch (problem.kind) {
      case 'network':
        return t('admin.problem.network');
      case 'no-access':
        return t('admin.problem.no_access');
      case 'refused': {
        const { code, detail, requestId } = problem;
        const key = TEXTS[code];
        if (key !== undefined) return t(key);
        return t('admin.problem.general', { detail: detail ?? code, request: requestId ?? '–' });
      }
    }
  };
}

/** Texts of error codes. Others show what the API says. */
const TEXTS: Readonly<Record<string, AdminKey>> = {
  account_not_usable: 'admin.problem.account_not_usable',
  client_exists: 'admin.problem.client_exists',
  email_in_use: 'admin.problem.email_in_use',
  group_exists: 'admin.problem.group_exists',
  group_in_use: 'admin.problem.group_in_use',
  group_is_configured: 'admin.group.configured_text',
  group_is_external: 'admin.group.external_text',
  group_is_pending: 'admin.problem.group_is_pending',
  invalid_email: 'admin.problem.invalid_email',
  invalid_username: 'admin.problem.invalid_username',
  mail_not_configured: 'admin.problem.mail_not_configured',
  no_email: 'admin.problem.no_email',
  not_found: 'admin.problem.not_found',
  not_your_own_account: 'admin.problem.not_your_own_account',
  password_auth_disabled: 'admin.problem.password_auth_disabled',
  user_exists: 'admin.problem.user_exists',
  username_reserved: 'admin.problem.username_reserved',
  rate_limited: 'admin.problem.rate_limited',
  already_finished: 'admin.problem.already_finished',
  job_not_dead: 'admin.problem.job_changed',
  job_running: 'admin.problem.job_running',
  job_superseded: 'admin.problem.job_superseded',
};
