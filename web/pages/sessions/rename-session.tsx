import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SetCompatSessionName, SetOAuth2SessionName } from './sessions.generated.ts';

/** A session that a person may name. */
interface NamedSession {
  readonly __typename: 'CompatSession' | 'Oauth2Session';
  readonly id: string;
  readonly humanName: string | null;
}

/** A homeserver takes no longer one for a device. */
const MAX_CHARACTERS = 100;

/** Asks what a person wants to call a session: without a name until now, whatever it is shown under. */
export function RenameSessionDialog({ session, onClose }: { session: NamedSession; onClose: () => void }): VNode {
  const { t } = useTranslations();
  const form = useForm({ session_name: session.humanName ?? '' });
  const { rename, isPending, problem } = useRename(session);
  const [isGone, setGone] = useState(false);
  const submit = async () => {
    const typed = form.values.session_name.trim();
    if (typed === '') return form.reject({ session_name: t('account.rename.required') });
    if (/\p{Cc}/u.test(typed)) return form.reject({ session_name: t('account.display_name.invalid') });
    const status = await rename(typed);
    if (status === 'UPDATED') onClose();
    else if (status === 'NOT_FOUND') setGone(true);
    else if (status !== undefined) form.reject({ session_name: t('account.problem.general') });
  };
  return (
    <Dialog title={t('account.rename.title')} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {isGone && (
          <div role="alert">
            <Notice kind="warning">{t('account.end.gone')}</Notice>
          </div>
        )}
        <TextField
          name="session_name"
          label={t('account.rename.name')}
          autocomplete="off"
          maxLength={MAX_CHARACTERS}
          hint={t('account.rename.hint')}
          value={form.values.session_name}
          error={form.errors.session_name}
          onInput={(value) => form.set('session_name', value)}
        />
        <div class="dialog-buttons">
          <Button isPending={isPending}>{t('account.save')}</Button>
          <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
            {t('account.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function useRename({ __typename, id: sessionId }: NamedSession) {
  const compat = useAction(SetCompatSessionName);
  const oauth2 = useAction(SetOAuth2SessionName);
  switch (__typename) {
    case 'CompatSession':
      return {
        ...compat,
        rename: async (displayName: string) =>
          (await compat.run({ sessionId, displayName }))?.setCompatSessionName.status,
      };
    case 'Oauth2Session':
      return {
        ...oauth2,
        rename: async (displayName: string) =>
          (await oauth2.run({ sessionId, displayName }))?.setOauth2SessionName.status,
      };
  }
}
