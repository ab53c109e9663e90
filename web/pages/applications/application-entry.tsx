import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ScopeList } from '../../../src/browser/components/scope-list.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { ClientMark, nameOfClient } from '../../components/client-mark.tsx';
import { Moment } from '../../components/facts.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { LastActive } from '../sessions/session-card.tsx';
import {
  type AllowedClient,
  type ConnectedApplicationFactsData,
  type ConsentListData,
  RevokeApplication,
  RevokeConsent,
} from './applications.generated.ts';
import { RevokeDialog } from './revoke.tsx';

type Facts = Extract<
  ConnectedApplicationFactsData['viewer'],
  { __typename: 'User' }
>['connectedApplications']['nodes'][number];

type Consent = Extract<ConsentListData['viewer'], { __typename: 'User' }>['consents']['nodes'][number];

/** An app with its sessions, the permissions that the user saved for it, or both. */
export interface Application {
  readonly client: AllowedClient;
  /** Undefined: no session. */
  readonly connected: { readonly id: string } | undefined;
  readonly consent: Consent | undefined;
}

/** One app: all its sessions together, what it may do, and a button that removes its access. */
export function ApplicationEntry({
  application: { client, connected, consent },
  facts,
}: {
  application: Application;
  /** Undefined while loading, and without a session. */
  facts: Facts | undefined;
}): VNode {
  const translations = useTranslations();
  const { t, rich } = translations;
  const pathTo = usePathTo();
  const [requested, setRequested] = useState<'access' | 'permissions' | undefined>();
  const name = nameOfClient(client);
  const close = () => setRequested(undefined);
  const scopes = facts?.scopes ?? (connected === undefined ? consent?.scopes : undefined);
  return (
    <li class="session allowed-client">
      <ClientMark client={client} />
      <div class="session-facts">
        <p>
          <a id={`app-${client.id}`} class="session-title" href={pathTo(`clients/${client.id}`)}>
            <bdi>{name}</bdi>
          </a>
        </p>
        <p class="meta facts">
          {connected === undefined && <span>{t('account.applications.not_signed_in')}</span>}
          {facts !== undefined && facts.lastActiveAt !== null && <LastActive at={facts.lastActiveAt} />}
          {facts !== undefined && <span>{t('account.sessions.count', { total: facts.activeSessions })}</span>}
        </p>
      </div>
      <Button
        kind="quiet"
        label={t('account.applications.revoke_from', { name })}
        onClick={() => setRequested('access')}
      >
        {t('account.applications.revoke')}
      </Button>
      {scopes !== undefined && (
        <details class="permissions-of">
          <summary aria-describedby={`app-${client.id}`}>{t('account.applications.permissions')}</summary>
          <ScopeList translations={translations} scopes={scopes} />
          <p class="meta facts">
            {facts !== undefined && (
              <span>{rich('account.applications.since', { when: <Moment at={facts.firstAuthorizedAt} /> })}</span>
            )}
            {consent !== undefined && (
              <span>{rich('account.consents.since', { when: <Moment at={consent.updatedAt} /> })}</span>
            )}
          </p>
          {consent !== undefined && connected !== undefined && (
            <Button
              kind="secondary"
              label={t('account.consents.revoke_from', { name })}
              onClick={() => setRequested('permissions')}
            >
              {t('account.consents.revoke')}
            </Button>
          )}
        </details>
      )}
      {requested === 'access' && connected !== undefined && (
        <RemoveAccess id={connected.id} name={name} isDevice={facts?.scopes.some(isDevice) === true} onClose={close} />
      )}
      {consent !== undefined &&
        (requested === 'permissions' || (requested === 'access' && connected === undefined)) && (
          <ResetPermissions id={consent.id} name={name} isSignedIn={connected !== undefined} onClose={close} />
        )}
    </li>
  );
}

interface Removal {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Ends all sessions of the app and deletes the saved permissions. */
function RemoveAccess({ id, name, isDevice: hasDevice, onClose }: Removal & { isDevice: boolean }): VNode {
  const { t, rich } = useTranslations();
  const action = useAction(RevokeApplication);
  return (
    <RevokeDialog
      title={rich('account.applications.question', { name: <bdi>{name}</bdi> })}
      button={t('account.applications.revoke')}
      action={action}
      revoke={async () => (await action.run({ id }))?.revokeApplication.status}
      done={rich('account.applications.revoked', { name: <bdi>{name}</bdi> })}
      onClose={onClose}
    >
      <p>{t('account.applications.text')}</p>
      {hasDevice && <p>{t('account.applications.lost')}</p>}
    </RevokeDialog>
  );
}

/** Deletes the saved permissions. For an app without a session, this is all that it has. */
function ResetPermissions({ id, name, isSignedIn, onClose }: Removal & { isSignedIn: boolean }): VNode {
  const { t, rich } = useTranslations();
  const action = useAction(RevokeConsent);
  const named = { name: <bdi>{name}</bdi> };
  return (
    <RevokeDialog
      title={rich(isSignedIn ? 'account.consents.question' : 'account.applications.question', named)}
      button={t(isSignedIn ? 'account.consents.revoke' : 'account.applications.revoke')}
      action={action}
      revoke={async () => (await action.run({ id }))?.revokeConsent.status}
      done={rich('account.consents.revoked', named)}
      onClose={onClose}
    >
      <p>{t(isSignedIn ? 'account.consents.question_text' : 'account.applications.permissions_only')}</p>
    </RevokeDialog>
  );
}

/** Device scope of a chat client, which may hold the only copy of encryption keys. */
function isDevice(scope: string): boolean {
  return scope.includes(':device:');
}
