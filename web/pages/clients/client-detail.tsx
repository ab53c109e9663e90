import type { VNode } from 'preact';
import { Notice } from '../../../src/browser/components/text.tsx';
import { usePageQuery } from '../../api/page-query.ts';
import { ClientMark, nameOfClient, publisherOf } from '../../components/client-mark.tsx';
import { FactList, FactRow } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { usePathRest } from '../../frame/path-rest.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { NotFoundContent } from '../not-found.tsx';
import { OAuth2Client, type OAuth2ClientData } from './client.generated.ts';

/** Metadata that a client published about itself. */
export function ClientDetail(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const query = usePageQuery(OAuth2Client, { id: usePathRest('clients') });
  const isMalformed = query.problem?.kind === 'refused' && query.problem.code === 'BAD_USER_INPUT';
  return (
    <PlainPage>
      <p>
        <a href={pathTo('sessions')}>{t('account.sessions.back')}</a>
      </p>
      {isMalformed ? (
        <NotFoundContent />
      ) : (
        <Loaded query={query} title={t('account.session.application')}>
          {({ oauth2Client }) => (oauth2Client === null ? <NotFoundContent /> : <Detail client={oauth2Client} />)}
        </Loaded>
      )}
    </PlainPage>
  );
}

function Detail({ client }: { client: NonNullable<OAuth2ClientData['oauth2Client']> }): VNode {
  const { t, rich } = useTranslations();
  const publisher = publisherOf(client.clientId);
  return (
    <>
      <div class="session-head">
        <ClientMark client={client} />
        <PageTitle title={nameOfClient(client)} />
      </div>
      {!client.isVerified && (
        <Notice kind="warning">
          {publisher === undefined
            ? t('account.client.unverified')
            : rich('account.client.published', { host: <bdi class="name">{publisher}</bdi> })}
        </Notice>
      )}
      <FactList>
        <FactRow name={t('account.client.id')}>
          <code>{client.clientId}</code>
        </FactRow>
        {client.clientUri !== null && (
          <FactRow name={t('account.client.website')}>
            <a href={client.clientUri} rel="noreferrer">
              <bdi>{new URL(client.clientUri).host}</bdi>
            </a>
          </FactRow>
        )}
        {client.policyUri !== null && (
          <FactRow name={t('account.client.policy')}>
            <a href={client.policyUri} rel="noreferrer">
              {t('footer.privacy')}
            </a>
          </FactRow>
        )}
        {client.tosUri !== null && (
          <FactRow name={t('account.client.terms')}>
            <a href={client.tosUri} rel="noreferrer">
              {t('footer.terms')}
            </a>
          </FactRow>
        )}
      </FactList>
    </>
  );
}
