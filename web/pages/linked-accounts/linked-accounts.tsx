import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ProviderMark } from '../../../src/browser/components/provider-mark.tsx';
import { cleanName } from '../../../src/browser/components/text.tsx';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { NEWEST, ShortList } from '../../components/short-list.tsx';
import { Loaded } from '../../components/states.tsx';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { keepForm, restoredValues } from '../../reauthentication/stored-form.ts';
import {
  LinkableProviderList,
  type LinkableProviderListData,
  LinkedAccountList,
  type LinkedAccountListData,
} from './linked-accounts.generated.ts';
import { type RemainingMethods, remainingMethods } from './remaining-methods.ts';
import { UNLINK_FORM, UnlinkDialog } from './unlink.tsx';

type Link = Extract<LinkedAccountListData['viewer'], { __typename: 'User' }>['upstreamOauth2Links']['nodes'][number];

const NONE = {};

/** The user's linked accounts at other services, and services that can be linked. */
export function LinkedAccounts(): VNode {
  const { t } = useTranslations();
  const [part, setPart] = useState(NEWEST);
  const links = usePageQuery(LinkedAccountList, part);
  const providers = usePageQuery(LinkableProviderList, NONE);
  const [requested] = useState(() => restoredValues(UNLINK_FORM)?.['id']);
  return (
    <TabsPage tab="profile">
      <PageTitle title={t('account.linked.title')} />
      <section class="section">
        <p>{t('account.linked.text')}</p>
        <Loaded query={links}>
          {({ viewer }) =>
            viewer.__typename === 'User' && (
              <ShortList
                kind="sessions"
                list={viewer.upstreamOauth2Links}
                empty={t('account.linked.none')}
                pages={t('account.linked.pages')}
                onPart={setPart}
              >
                {(link) => (
                  <LinkCard key={link.id} link={link} isAsked={link.id === requested} left={remainingMethods(viewer)} />
                )}
              </ShortList>
            )
          }
        </Loaded>
      </section>
      <Loaded query={providers}>{(data) => <Offers data={data} />}</Loaded>
    </TabsPage>
  );
}

function LinkCard({
  link,
  isAsked: isRequested,
  left,
}: {
  link: Link;
  isAsked: boolean;
  left: RemainingMethods;
}): VNode {
  const { t, rich } = useTranslations();
  const [isAsking, setAsking] = useState(isRequested);
  const { createdAt, lastUsedAt, humanAccountName, provider } = link;
  const name = cleanName(provider.name);
  const account = cleanName(humanAccountName ?? '');
  return (
    <li class="session">
      <ProviderMark brand={provider.brandName ?? name} />
      <div class="session-facts">
        <p class="event-title">
          <bdi>{name}</bdi>
        </p>
        {account !== '' && (
          <p>
            <bdi>{account}</bdi>
          </p>
        )}
        <p class="meta facts">
          <span>{rich('account.linked.since', { when: <Moment at={createdAt} /> })}</span>
          {lastUsedAt !== null && <span>{rich('account.linked.used', { when: <Moment at={lastUsedAt} /> })}</span>}
        </p>
        {!provider.unlinkingAllowed && <p class="meta">{t('account.linked.managed')}</p>}
      </div>
      {provider.unlinkingAllowed && (
        <Button kind="quiet" label={t('account.linked.unlink_from', { name })} onClick={() => setAsking(true)}>
          {t('account.linked.unlink')}
        </Button>
      )}
      {isAsking && <UnlinkDialog id={link.id} name={name} left={left} onClose={() => setAsking(false)} />}
    </li>
  );
}

/** Services without a link. Signing in there links the account. */
function Offers({ data: { viewer, upstreamOauth2Providers } }: { data: LinkableProviderListData }): VNode | null {
  const { t } = useTranslations();
  const links = viewer.__typename === 'User' ? viewer.upstreamOauth2Links.nodes : [];
  const linked = new Set(links.map(({ provider }) => provider.id));
  const offered = upstreamOauth2Providers.nodes.filter(({ id, linkingAllowed }) => linkingAllowed && !linked.has(id));
  if (offered.length === 0) return null;
  return (
    <section class="section">
      <h2>{t('account.linked.offers')}</h2>
      <p>{t('account.linked.offers_text')}</p>
      <ul class="rows">
        {offered.map(({ id, name, brandName, linkUrl }) => (
          <li key={id}>
            <a
              class="button button-secondary"
              href={`${linkUrl}?kind=manage_account`}
              // Users return to the first page of the area, which redirects to this one.
              onClick={() => keepForm(undefined)}
            >
              <ProviderMark brand={brandName ?? name} />
              {t('account.linked.link', { name: cleanName(name) })}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
