import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../src/browser/components/text.tsx';
import type { PageQuery } from '../api/page-query.ts';
import type { Problem } from '../api/problem.ts';
import { useReportContentShown } from '../frame/content-shown.ts';
import { useRestoredScroll } from '../frame/scroll.ts';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';
import { PageTitle } from './page-title.tsx';

const PATIENCE_MS = 200;

/** Shapes in place of content that is loading. Says so after a delay, for screen readers. */
export function Skeleton(): VNode {
  const { t } = useTranslations();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      <span class="skeleton" aria-hidden="true" />
      <span class="skeleton" aria-hidden="true" />
      <span class="skeleton" aria-hidden="true" />
      {isShown && <span class="visually-hidden">{t('account.loading')}</span>}
    </div>
  );
}

/** Shows the data of a response. Until then, shows a loading indicator or the problem. */
export function Loaded<Data>({
  query,
  title,
  children,
}: {
  query: PageQuery<Data>;
  /** Page title until the response provides one. */
  title?: string;
  children: (data: Data) => ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  const { data, problem, isLoading } = query;
  return (
    <>
      {title !== undefined && (data === undefined || data === null) && <PageTitle title={title} />}
      {problem !== undefined && (
        <ProblemNotice problem={problem}>
          <Button kind="secondary" onClick={query.reload} isPending={isLoading}>
            {t('account.retry')}
          </Button>
        </ProblemNotice>
      )}
      {data !== undefined && data !== null ? <Shown>{children(data)}</Shown> : problem === undefined && <Skeleton />}
    </>
  );
}

function Shown({ children }: { children: ComponentChildren }): VNode {
  useReportContentShown();
  useRestoredScroll();
  return <>{children}</>;
}

/** Explains a problem and what to do about it. */
export function ProblemNotice({
  problem,
  children,
}: {
  problem: Problem | undefined;
  /** An action, such as a button. */
  children?: ComponentChildren;
}): VNode | null {
  const text = useProblemText(problem);
  if (text === undefined) return null;
  return (
    <div role="alert">
      <Notice kind="danger">
        <p>{text}</p>
        {children}
      </Notice>
    </div>
  );
}

function useProblemText(problem: Problem | undefined): string | undefined {
  const { t } = useTranslations();
  switch (problem?.kind) {
    case undefined:
    case 'reauthentication':
      return undefined;
    case 'network':
      return t('account.problem.network');
    case 'rate-limited':
      if (problem.retryAfterSeconds === undefined) return t('account.problem.rate_limited');
      return t('account.problem.rate_limited_until', { minutes: Math.ceil(problem.retryAfterSeconds / 60) });
    case 'refused':
      if (problem.code === 'HOMESERVER_UNAVAILABLE') return t('account.problem.homeserver');
      if (problem.code === 'LAST_EMAIL') return t('account.emails.last');
      if (problem.code === 'FORBIDDEN' || problem.code === 'FEATURE_DISABLED') return t('account.problem.forbidden');
      if (problem.requestId === undefined) return t('account.problem.general');
      return t('account.problem.general_with_id', { request: problem.requestId });
  }
}
