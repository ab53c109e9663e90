import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { EndBrowserSession, EndCompatSession, EndOAuth2Session } from './sessions.generated.ts';

/** A session that the user can sign out of. */
export type EndableSession =
  | { readonly __typename: 'BrowserSession'; readonly id: string; readonly isCurrent: boolean }
  | { readonly __typename: 'CompatSession' | 'Oauth2Session'; readonly id: string };

const TEXTS = {
  app: 'account.end.text',
  browser: 'account.end.text_browser',
  current: 'account.end.text_current',
} as const;

/**
 * Confirms a sign-out.
 * @param name of the session; undefined for the current one
 */
export function EndSessionDialog({
  session,
  name,
  onClose,
}: {
  session: EndableSession;
  name: string | undefined;
  onClose: () => void;
}): VNode {
  const { t, rich } = useTranslations();
  const announce = useAnnounce();
  const { end, isPending, problem } = useEndSession(session);
  const [isGone, setGone] = useState(false);
  const isCurrent = session.__typename === 'BrowserSession' && session.isCurrent;
  const confirm = async () => {
    const status = await end();
    if (status === undefined) return;
    if (isCurrent) location.reload();
    else if (status === 'ENDED') {
      onClose();
      announce(rich('account.end.done', { name: <bdi>{name}</bdi> }));
    } else setGone(true);
  };
  const title =
    isCurrent || name === undefined
      ? t('account.end.title_current')
      : rich('account.end.title', { name: <bdi>{name}</bdi> });
  return (
    <Dialog title={title} isPending={isPending} onClose={onClose}>
      <p>{t(TEXTS[session.__typename === 'BrowserSession' ? (isCurrent ? 'current' : 'browser') : 'app'])}</p>
      <ProblemNotice problem={problem} />
      {isGone && (
        <div role="alert">
          <Notice kind="warning">{t('account.end.gone')}</Notice>
        </div>
      )}
      <DialogButtons isPending={isPending} isOver={isGone} onClose={onClose}>
        <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
          {t('account.sign_out')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}

function useEndSession(session: EndableSession) {
  const browser = useAction(EndBrowserSession);
  const compat = useAction(EndCompatSession);
  const oauth2 = useAction(EndOAuth2Session);
  const { id } = session;
  switch (session.__typename) {
    case 'BrowserSession':
      return { ...browser, end: async () => (await browser.run({ id }))?.endBrowserSession.status };
    case 'CompatSession':
      return { ...compat, end: async () => (await compat.run({ id }))?.endCompatSession.status };
    case 'Oauth2Session':
      return { ...oauth2, end: async () => (await oauth2.run({ id }))?.endOauth2Session.status };
  }
}
