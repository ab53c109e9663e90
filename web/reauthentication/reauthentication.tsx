import type { ComponentChildren, VNode } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { DialogButtons } from '../components/dialog-buttons.tsx';
import { useTranslations } from '../i18n/translations.ts';
import { type AskAgain, ReauthenticationProvider } from './context.ts';
import { keepForm } from './stored-form.ts';

type Requested = { readonly url: string; readonly form: Parameters<AskAgain>[1] };

/** Explains why a reauthentication is required, and leads there. Entered values are restored on return. */
export function Reauthentication({ children }: { children: ComponentChildren }): VNode {
  const { t } = useTranslations();
  const [requested, setRequested] = useState<Requested | undefined>();
  const askAgain = useCallback<AskAgain>((url, form) => setRequested({ url, form }), []);
  return (
    <ReauthenticationProvider value={askAgain}>
      {children}
      {requested !== undefined && (
        <Dialog title={t('account.reauth.title')} onClose={() => setRequested(undefined)}>
          <p>{t('account.reauth.text')}</p>
          <DialogButtons onClose={() => setRequested(undefined)}>
            <Button
              onClick={() => {
                keepForm(requested.form);
                location.assign(requested.url);
              }}
            >
              {t('account.reauth.button')}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </ReauthenticationProvider>
  );
}
