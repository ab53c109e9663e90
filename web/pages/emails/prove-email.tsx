import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded, Skeleton } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { usePathRest } from '../../frame/path-rest.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { NotFoundContent } from '../not-found.tsx';
import { CodeForm } from './code-form.tsx';
import { VerifyEmail, type VerifyEmailData } from './emails.generated.ts';

type Authentication = NonNullable<VerifyEmailData['userEmailAuthentication']>;
type Step = 'verify' | 'in-use';

/** Verifies a new email address: `emails/ID/verify` and, if it belongs to another account, `emails/ID/in-use`. */
export function ProveEmail(): VNode {
  const { t } = useTranslations();
  const [, id, step] = /^([^/]+)\/(verify|in-use)$/.exec(usePathRest('emails')) ?? [];
  const query = usePageQuery(VerifyEmail, { id: id ?? '' }, id === undefined);
  const isMalformed = query.problem?.kind === 'refused' && query.problem.code === 'BAD_USER_INPUT';
  return (
    <PlainPage>
      {id === undefined || isMalformed ? (
        <NotFoundContent />
      ) : (
        <Loaded query={query} title={t('verify_email.title')}>
          {({ viewer, userEmailAuthentication: authentication }) =>
            authentication === null ? (
              <NotFoundContent />
            ) : (
              <Steps
                key={id}
                authentication={authentication}
                isOwn={isAmong(authentication.email, viewer)}
                step={step === 'in-use' ? 'in-use' : 'verify'}
              />
            )
          }
        </Loaded>
      )}
    </PlainPage>
  );
}

/** Returns true if the address already belongs to this account. */
function isAmong(email: string, viewer: VerifyEmailData['viewer']): boolean {
  if (viewer.__typename !== 'User') return false;
  return viewer.emails.nodes.some((own) => own.email.toLowerCase() === email.toLowerCase());
}

function Steps({ authentication, isOwn, step }: { authentication: Authentication; isOwn: boolean; step: Step }): VNode {
  const { id, completedAt } = authentication;
  const { route } = useLocation();
  const { rich } = useTranslations();
  const announce = useAnnounce();
  const pathTo = usePathTo();
  // Set before the refetched query shows that the code was correct.
  const [isInUse, setInUse] = useState(false);
  if (step === 'in-use') {
    if (completedAt === null && !isInUse) return <GoTo path={`emails/${id}/verify`} />;
    if (isOwn) return <GoTo path="" />;
    return <InUse email={authentication.email} />;
  }
  if (completedAt !== null && !isInUse) return <GoTo path="" />;
  return (
    <CodeForm
      authentication={authentication}
      onAdded={() => {
        announce(rich('account.emails.added', { email: <bdi>{authentication.email}</bdi> }), pathTo(''));
        route(pathTo(''), true);
      }}
      onInUse={() => {
        setInUse(true);
        route(pathTo(`emails/${id}/in-use`), true);
      }}
    />
  );
}

/** Redirects, because there is nothing to do at this path. */
function GoTo({ path }: { path: string }): VNode {
  const { route } = useLocation();
  const target = usePathTo()(path);
  useEffect(() => route(target, true), [target, route]);
  return <Skeleton />;
}

function InUse({ email }: { email: string }): VNode {
  const { t, rich } = useTranslations();
  const pathTo = usePathTo();
  return (
    <>
      <PageTitle title={t('account.email_in_use.title')} />
      <p>{rich('account.email_in_use.text', { email: <bdi class="name">{email}</bdi> })}</p>
      <p>{t('account.email_in_use.advice')}</p>
      <p>
        <a href={pathTo('')}>{t('account.not_found.home')}</a>
      </p>
    </>
  );
}
