import type { VNode } from 'preact';
import { Button } from '../../../components/button.tsx';
import { useClient } from '../../api/context.ts';
import { useChange } from '../../api/use-change.ts';
import { saveFile } from '../../components/download.ts';
import { ProblemNotice } from '../../components/loaded.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { useTexts } from '../../i18n/translations.ts';

/** Downloads what is stored about a user. */
export function ExportButton({ id, username }: { id: string; username: string }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const download = async (): Promise<void> => {
    const response = await send(() => client.file('POST', `users/${id}/data-export`, 'application/zip'));
    if (!response.ok) return;
    saveFile(`${username}.zip`, response.data);
    announce(t('admin.user.exported', { username }));
  };
  return (
    <>
      <Button kind="secondary" isPending={isPending} onClick={() => void download()}>
        {t('admin.user.export')}
      </Button>
      {problem !== undefined && <ProblemNotice problem={problem} />}
    </>
  );
}
