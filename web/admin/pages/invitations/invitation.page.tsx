import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { QrCode } from '../../../../src/browser/components/qr-code.tsx';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Invitation, List, Single, User } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CopyValue } from '../../components/copy-button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { nameOf } from './invitation.ts';
import { StatusText, Uses } from './invitation-status.tsx';

const INVITATIONS = new Responses<Single<Invitation>>();
const USERS = new Responses<Single<User>>();
const USED_BY = new Responses<List<User>>();
const MAX_USERS = 100;

/** One invitation: its link, what it does, and who used it. */
export function InvitationView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const invitation = useResource(INVITATIONS, `user-registration-tokens/${encodeURIComponent(id)}`);
  const shown = invitation.data?.data.attributes;
  return (
    <>
      <p>
        <a href={`${root}invitations`}>{t('admin.invitations.back')}</a>
      </p>
      <PageTitle title={shown === undefined ? t('admin.invitations.one') : nameOf(shown)} />
      <Loaded resource={invitation}>
        {({ data }) => (
          <>
            {data.attributes.valid && <Link url={data.attributes.url} isPersonal={data.attributes.email !== null} />}
            <Facts id={data.id} invitation={data.attributes} reload={invitation.reload} />
            <UsedBy id={data.id} timesUsed={data.attributes.times_used} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Link({ url, isPersonal }: { url: string; isPersonal: boolean }): VNode {
  const { t } = useTexts();
  return (
    <section class="card section">
      <h2>{t('admin.invitations.link')}</h2>
      <p>{t(isPersonal ? 'admin.invitations.link_personal' : 'admin.invitations.link_text')}</p>
      <p>
        <CopyValue name={t('admin.invitations.link')} value={url} />
      </p>
      <QrCode text={url} label={t('admin.invitations.qr')} />
    </section>
  );
}

type Action = 'send' | 'revoke' | 'unrevoke';

function Facts({ id, invitation, reload }: { id: string; invitation: Invitation; reload: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const [requested, setRequested] = useState<Action | undefined>();
  const { email, groups, note, created_at, created_by, expires_at, revoked_at, valid } = invitation;
  const name = nameOf(invitation);
  const texts = { name, email: email ?? '' };
  return (
    <section class="card section">
      <h2>{t('admin.invitations.one')}</h2>
      <FactList>
        <FactRow name={t('admin.invitations.status')}>
          <StatusText invitation={invitation} />
        </FactRow>
        <FactRow name={t('admin.invitations.accounts')}>
          <Uses invitation={invitation} />
        </FactRow>
        {email !== null && (
          <FactRow name={t('admin.invitations.email')}>
            <bdi>{email}</bdi>
          </FactRow>
        )}
        {email !== null && (
          <FactRow name={t('admin.invitations.mail')}>
            <MailState invitation={invitation} />
          </FactRow>
        )}
        <FactRow name={t('admin.invitations.groups')}>
          {groups.length === 0 ? t('admin.invitations.no_groups') : <bdi>{groups.join(', ')}</bdi>}
        </FactRow>
        {note !== null && (
          <FactRow name={t('admin.invitations.note')}>
            <bdi>{note}</bdi>
          </FactRow>
        )}
        <FactRow name={t('admin.invitations.created')}>
          <Time at={created_at} />
        </FactRow>
        {created_by !== null && (
          <FactRow name={t('admin.invitations.created_by')}>
            <UserLink id={created_by} />
          </FactRow>
        )}
        <FactRow name={t('admin.invitations.expires')}>
          {expires_at === null ? t('admin.invitations.never') : <Time at={expires_at} />}
        </FactRow>
        {revoked_at !== null && (
          <FactRow name={t('admin.invitations.revoked_at')}>
            <Time at={revoked_at} />
          </FactRow>
        )}
      </FactList>
      <div class="actions">
        {email !== null && valid && (
          <Button kind="secondary" onClick={() => setRequested('send')}>
            {t(invitation.mail_queued_at === null ? 'admin.invitations.send' : 'admin.invitations.send_again')}
          </Button>
        )}
        {revoked_at === null ? (
          valid && (
            <Button kind="danger" onClick={() => setRequested('revoke')}>
              {t('admin.invitations.revoke')}
            </Button>
          )
        ) : (
          <Button kind="secondary" onClick={() => setRequested('unrevoke')}>
            {t('admin.invitations.unrevoke')}
          </Button>
        )}
      </div>
      {requested !== undefined && (
        <Confirm
          title={t(`admin.invitations.${requested}_title`, texts)}
          action={t(`admin.invitations.${requested}`)}
          kind={requested === 'revoke' ? 'danger' : 'primary'}
          done={t(`admin.invitations.${requested}_done`, texts)}
          onConfirm={() => client.post(`user-registration-tokens/${id}/${requested}`)}
          onDone={reload}
          onClose={() => setRequested(undefined)}
        >
          {t(`admin.invitations.${requested}_text`, texts)}
        </Confirm>
      )}
    </section>
  );
}

function MailState({ invitation: { mail_queued_at, mail_sent_at } }: { invitation: Invitation }): VNode {
  const { t } = useTexts();
  if (mail_queued_at === null) return <span>{t('admin.invitations.not_sent')}</span>;
  if (mail_sent_at === null || mail_sent_at < mail_queued_at) return <span>{t('admin.invitations.queued')}</span>;
  return <Time at={mail_sent_at} />;
}

function UserLink({ id }: { id: string }): VNode {
  const { root } = useConfig();
  const user = useResource(USERS, `users/${id}`);
  return (
    <a href={`${root}users/${id}`}>
      <bdi>{user.data?.data.attributes.username ?? id}</bdi>
    </a>
  );
}

function UsedBy({ id, timesUsed }: { id: string; timesUsed: number }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const parameters = { 'filter[registration-token]': id, 'page[last]': String(MAX_USERS), count: 'false' };
  const users = useResource(USED_BY, withParameters('users', parameters));
  return (
    <section class="card section">
      <h2>{t('admin.invitations.used_by')}</h2>
      <Loaded resource={users}>
        {({ data }) => (
          <>
            {data.length === 0 && timesUsed === 0 && <p class="meta">{t('admin.invitations.used_by_none')}</p>}
            {data.length > 0 && (
              <ul class="rows">
                {data.toReversed().map((user) => (
                  <li key={user.id} class="row">
                    <a href={`${root}users/${user.id}`}>
                      <bdi>{user.attributes.username}</bdi>
                    </a>
                    <Time at={user.attributes.created_at} />
                  </li>
                ))}
              </ul>
            )}
            {timesUsed > data.length && (
              <p class="meta">{t('admin.invitations.used_by_more', { count: timesUsed - data.length })}</p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
