import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Form } from '../../../components/form.tsx';
import { useClient } from '../../api/context.ts';
import type { RecoveryLink, User } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { CopyValue } from '../../components/copy-button.tsx';
import { ProblemNotice } from '../../components/loaded.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { useTexts } from '../../i18n/translations.ts';

const DELIVERIES = ['email', 'link'] as const;

/** Sends the user a link to set a password, or shows the link once. */
export function RecoveryLinkDialog({ id, user, onClose }: { id: string; user: User; onClose: () => void }): VNode {
  const { t, language } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { isPending, problem, send } = useChange();
  const { username, email } = user;
  const [delivery, setDelivery] = useState<(typeof DELIVERIES)[number]>(email === null ? 'link' : 'email');
  const [issued, setIssued] = useState<{ readonly url: string; readonly until: string } | undefined>();
  const submit = async (): Promise<void> => {
    const response = await send(() => client.post<RecoveryLink>(`users/${id}/recovery-link`, { delivery }));
    if (!response.ok) return;
    const { url, expires_at } = response.data.meta;
    if (url !== null && expires_at !== null) {
      setIssued({ url, until: new Date(expires_at).toLocaleTimeString(language, { timeStyle: 'short' }) });
      return;
    }
    onClose();
    announce(t('admin.user.link_sent', { email: email ?? '' }));
  };
  if (issued !== undefined) {
    return (
      <Dialog title={t('admin.user.link_title', { username })} onClose={onClose}>
        <p>{t('admin.user.link_text', { time: issued.until })}</p>
        <CopyValue name={t('admin.user.link')} value={issued.url} />
        <div class="dialog-buttons">
          <Button onClick={onClose}>{t('admin.close')}</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('admin.user.reset_title', { username })} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <p>{t('admin.user.reset_text')}</p>
        <fieldset>
          <legend>{t('admin.user.delivery')}</legend>
          {DELIVERIES.map((value) => (
            <div class="check" key={value}>
              <input
                type="radio"
                id={`delivery-${value}`}
                name="delivery"
                checked={delivery === value}
                disabled={value === 'email' && email === null}
                onChange={() => setDelivery(value)}
              />
              <label for={`delivery-${value}`}>
                {value === 'link'
                  ? t('admin.user.delivery_link')
                  : email === null
                    ? t('admin.user.no_emails')
                    : t('admin.user.delivery_email', { email })}
              </label>
            </div>
          ))}
        </fieldset>
        {problem !== undefined && <ProblemNotice problem={problem} />}
        <div class="dialog-buttons">
          <Button isPending={isPending}>{t('admin.user.create_link')}</Button>
          <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
            {t('admin.cancel')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
