import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { DEFAULT_HEIGHT, framedHeight } from './framed-height.ts';
import { PlanManagementTab } from './plan.generated.ts';

const NONE = {};

/** Embeds the operator's page where users view and change their plan. */
export function Plan(): VNode {
  const { t } = useTranslations();
  const query = usePageQuery(PlanManagementTab, NONE);
  return (
    <TabsPage tab="plan">
      <PageTitle title={t('account.plan.title')} />
      <Loaded query={query}>
        {({ siteConfig: { planManagementIframeUri: address } }) =>
          address === null ? <GoToProfile /> : <PlanFrame key={address} address={address} />
        }
      </Loaded>
    </TabsPage>
  );
}

function PlanFrame({ address }: { address: string }): VNode {
  const { t } = useTranslations();
  const ref = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(DEFAULT_HEIGHT);
  useEffect(() => {
    const { origin } = new URL(address);
    const listen = (message: MessageEvent<unknown>): void => {
      const requested = framedHeight(message, { origin, window: ref.current?.contentWindow ?? null });
      if (requested !== undefined) setHeight(requested);
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, [address]);
  return <iframe ref={ref} class="plan-frame" src={address} title={t('account.plan.title')} height={height} />;
}

function GoToProfile(): null {
  const { root } = useConfig();
  const { route } = useLocation();
  useEffect(() => route(root, true), [root, route]);
  return null;
}
