import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { NEWEST, type Part, ShortList } from '../../components/short-list.tsx';
import { Loaded, ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { restoredValues } from '../../reauthentication/stored-form.ts';
import { ADD_FORM, AddEmailDialog } from './add-email.tsx';
import { SetPrimaryEmail, UserEmailList, type UserEmailListData } from './emails.generated.ts';
import { REMOVE_FORM, RemoveEmailDialog } from './remove-email.tsx';

type Email = Extract<UserEmailListData['viewer'], { __typename: 'User' }>['emails']['nodes'][number];

/** The user's email addresses, newest first, with buttons to add and remove them. */
export function Emails({ mayChange, hasPassword }: { mayChange: boolean; hasPassword: boolean }): VNode {
  const { t } = useTranslations();
  const [part, setPart] = useState(NEWEST);
  const query = usePageQuery(UserEmailList, part);
  const [typed] = useState(() => restoredValues(ADD_FORM)?.['email']);
  const [isAdding, setAdding] = useState(typed !== undefined && mayChange);
  return (
    <section class="section">
      <h2>{t('account.emails.title')}</h2>
      <Loaded query={query}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <List emails={viewer.emails} mayChange={mayChange} hasPassword={hasPassword} onPart={setPart} />
          )
        }
      </Loaded>
      {mayChange && (
        <Button kind="secondary" onClick={() => setAdding(true)}>
          {t('account.emails.add')}
        </Button>
      )}
      {isAdding && <AddEmailDialog hasPassword={hasPassword} typed={typed} onClose={() => setAdding(false)} />}
    </section>
  );
}

function List({
  emails,
  mayChange,
  hasPassword,
  onPart,
}: {
  emails: Extract<UserEmailListData['viewer'], { __typename: 'User' }>['emails'];
  mayChange: boolean;
  hasPassword: boolean;
  onPart: (part: Part) => void;
}): VNode {
  const { t } = useTranslations();
  const { nodes, pageInfo } = emails;
  const [requested] = useState(() => restoredValues(REMOVE_FORM)?.['id']);
  const [removed, setRemoved] = useState<Email | undefined>(() => nodes.find(({ id }) => id === requested));
  const primary = nodes.find(({ isPrimary }) => isPrimary)?.id;
  const shown = useRef(primary);
  useEffect(() => {
    // The focused button was removed.
    if (shown.current !== primary && document.activeElement === document.body) document.querySelector('h1')?.focus();
    shown.current = primary;
  }, [primary]);
  const isOnlyOne = nodes.length < 2 && !pageInfo.hasNextPage && !pageInfo.hasPreviousPage;
  return (
    <>
      {!isOnlyOne && <p>{t('account.emails.primary_text')}</p>}
      <ShortList
        kind="rows"
        list={emails}
        empty={t('account.emails.none')}
        pages={t('account.emails.pages')}
        onPart={onPart}
      >
        {(node) => (
          <li key={node.id} class="row">
            <span>
              <bdi>{node.email}</bdi>{' '}
              {!isOnlyOne && node.isPrimary && <span class="badge">{t('account.emails.primary')}</span>}
            </span>
            {mayChange && !isOnlyOne && !node.isPrimary && <MakePrimary email={node} />}
            {mayChange && !isOnlyOne && (
              <Button
                kind="quiet"
                label={t('account.emails.remove_address', { email: node.email })}
                onClick={() => setRemoved(node)}
              >
                {t('account.emails.remove')}
              </Button>
            )}
          </li>
        )}
      </ShortList>
      {removed !== undefined && (
        <RemoveEmailDialog email={removed} hasPassword={hasPassword} onClose={() => setRemoved(undefined)} />
      )}
    </>
  );
}

function MakePrimary({ email: { id, email } }: { email: Email }): VNode {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const { run, isPending, problem } = useAction(SetPrimaryEmail);
  const [isGone, setGone] = useState(false);
  const choose = async () => {
    const status = (await run({ id }))?.setPrimaryEmail.status;
    if (status === 'SET') announce(rich('account.emails.primary_set', { email: <bdi>{email}</bdi> }));
    else if (status !== undefined) setGone(true);
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      {isGone && <p role="alert">{t('account.emails.gone')}</p>}
      <Button
        kind="quiet"
        isPending={isPending}
        label={t('account.emails.make_address_primary', { email })}
        onClick={() => void choose()}
      >
        {t('account.emails.make_primary')}
      </Button>
    </>
  );
}
