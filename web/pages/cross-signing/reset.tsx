import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { useConfig, usePathTo } from '../../frame/config-context.ts';
import { CurrentViewer } from '../../frame/frame.generated.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { NotFoundContent } from '../not-found.tsx';
import { AllowCrossSigningReset } from './cross-signing.generated.ts';

const NONE = {};

/**
 * Allows a chat client to replace the user's cross-signing keys. Clients send users here (`?deepLink=true`) who have
 * lost their keys.
 */
export function CrossSigningReset(): VNode {
  const { hasCrossSigning } = useConfig();
  const query = usePageQuery(CurrentViewer, NONE, !hasCrossSigning);
  return (
    <PlainPage>
      {hasCrossSigning ? (
        <Loaded query={query}>{({ viewer }) => viewer.__typename === 'User' && <Question userId={viewer.id} />}</Loaded>
      ) : (
        <NotFoundContent />
      )}
    </PlainPage>
  );
}

function Question({ userId }: { userId: string }): VNode {
  const { t } = useTranslations();
  const { url, route } = useLocation();
  const pathTo = usePathTo();
  const { run, isPending, problem } = useAction(AllowCrossSigningReset);
  const [isGone, setGone] = useState(false);
  const isDeepLink = new URL(url, location.origin).searchParams.get('deepLink') === 'true';
  const allow = async () => {
    const data = await run({ userId });
    if (data === undefined) return;
    if (data.allowUserCrossSigningReset.user === null) setGone(true);
    else route(pathTo('reset-cross-signing/success'), true);
  };
  return (
    <>
      <PageTitle title={t('account.reset.title')} />
      <p>{t('account.reset.text')}</p>
      <ul>
        <li>{t('account.reset.kept')}</li>
        <li>{t('account.reset.lost_history')}</li>
        <li>{t('account.reset.lost_trust')}</li>
      </ul>
      <Notice kind="warning">{t('account.reset.advice')}</Notice>
      <ProblemNotice problem={problem} />
      {isGone && (
        <div role="alert">
          <Notice kind="danger">{t('account.problem.general')}</Notice>
        </div>
      )}
      <Button kind="danger" isPending={isPending} onClick={() => void allow()}>
        {t('account.reset.button')}
      </Button>
      <Button
        kind="secondary"
        isDisabled={isPending}
        onClick={() => route(pathTo(isDeepLink ? 'reset-cross-signing/cancelled' : ''), true)}
      >
        {t('account.cancel')}
      </Button>
    </>
  );
}
