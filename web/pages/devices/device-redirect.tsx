import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usePageQuery } from '../../api/page-query.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { CurrentViewer } from '../../frame/frame.generated.ts';
import { usePathRest } from '../../frame/path-rest.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SessionNotFound } from '../not-found.tsx';
import { DeviceRedirect as DeviceRedirectQuery } from './device.generated.ts';

const NONE = {};

/** Redirects from a device ID, which chat clients know, to the session of the device. */
export function DeviceRedirect(): VNode {
  const { t } = useTranslations();
  const deviceId = usePathRest('devices');
  const viewer = usePageQuery(CurrentViewer, NONE);
  return (
    <PlainPage>
      {deviceId === '' ? (
        <SessionNotFound />
      ) : (
        <Loaded query={viewer} title={t('account.session.title')}>
          {({ viewer }) =>
            viewer.__typename === 'User' && <Device key={deviceId} userId={viewer.id} deviceId={deviceId} />
          }
        </Loaded>
      )}
    </PlainPage>
  );
}

function Device({ userId, deviceId }: { userId: string; deviceId: string }): VNode {
  const { t, rich } = useTranslations();
  const query = usePageQuery(DeviceRedirectQuery, { userId, deviceId });
  return (
    <Loaded query={query} title={t('account.session.title')}>
      {({ session }) =>
        session === null ? (
          <SessionNotFound>{rich('account.device_not_found', { id: <code>{deviceId}</code> })}</SessionNotFound>
        ) : (
          <GoToSession id={session.id} />
        )
      }
    </Loaded>
  );
}

function GoToSession({ id }: { id: string }): VNode {
  const { t } = useTranslations();
  const { url, route } = useLocation();
  const pathTo = usePathTo();
  const target = pathTo(`sessions/${id}${new URL(url, location.origin).search}`);
  useEffect(() => route(target, true), [target, route]);
  return <PageTitle title={t('account.session.title')} />;
}
