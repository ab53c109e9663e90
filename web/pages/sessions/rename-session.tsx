import type { VNode } from 'preact';
import { useAction } from '../../api/action.ts';
import { RenameDialog } from '../../components/rename-dialog.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SetCompatSessionName, SetOAuth2SessionName } from './sessions.generated.ts';

/** A session that the user can name. */
interface NamedSession {
  readonly __typename: 'CompatSession' | 'Oauth2Session';
  readonly id: string;
  readonly humanName: string | null;
}

/**
 * Asks the user for a session name. The field is empty if the session has no name, whatever title it is displayed
 * under.
 */
export function RenameSessionDialog({ session, onClose }: { session: NamedSession; onClose: () => void }): VNode {
  const { t } = useTranslations();
  return (
    <RenameDialog
      title={t('account.rename.title')}
      name={session.humanName ?? ''}
      hint={t('account.rename.hint')}
      goneText={t('account.end.gone')}
      {...useRename(session)}
      onClose={onClose}
    />
  );
}

function useRename({ __typename, id: sessionId }: NamedSession) {
  const compat = useAction(SetCompatSessionName);
  const oauth2 = useAction(SetOAuth2SessionName);
  const { isPending, problem } = __typename === 'CompatSession' ? compat : oauth2;
  const rename = async (displayName: string) =>
    __typename === 'CompatSession'
      ? (await compat.run({ sessionId, displayName }))?.setCompatSessionName.status
      : (await oauth2.run({ sessionId, displayName }))?.setOauth2SessionName.status;
  return { isPending, problem, rename };
}
