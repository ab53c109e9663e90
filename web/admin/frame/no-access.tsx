import type { VNode } from 'preact';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { Refusal } from '../api/access-token.ts';
import { type AdminKey, useTexts } from '../i18n/translations.ts';
import { useConfig } from './config-context.ts';
import { keepPath } from './kept-path.ts';

type Kind = Exclude<Refusal['kind'], 'network'>;

const TEXTS: Record<Kind, { readonly title: AdminKey; readonly text: AdminKey; readonly action: AdminKey }> = {
  'sign-in': {
    title: 'admin.access.sign_in.title',
    text: 'admin.access.sign_in.text',
    action: 'admin.access.sign_in.action',
  },
  'second-factor-missing': {
    title: 'admin.access.factor.title',
    text: 'admin.access.factor.text',
    action: 'admin.access.factor.action',
  },
  'no-right': {
    title: 'admin.access.no_right.title',
    text: 'admin.access.no_right.text',
    action: 'admin.access.no_right.action',
  },
  failed: { title: 'admin.access.failed.title', text: 'admin.access.failed.text', action: 'admin.reload' },
};

/**
 * Explains why the area got no access token, and leads to the remedy. The page below stays as it is: what was typed
 * there can still be read and copied.
 */
export function NoAccess({ kind, onClose }: { kind: Kind; onClose: () => void }): VNode {
  const { t } = useTexts();
  const { base } = useConfig();
  const { title, text, action } = TEXTS[kind];
  return (
    <Dialog title={t(title)} onClose={onClose}>
      <p>{t(text)}</p>
      <div class="dialog-buttons">
        <Button onClick={() => leave(kind, base)}>{t(action)}</Button>
        <Button kind="secondary" onClick={onClose}>
          {t('admin.close')}
        </Button>
      </div>
    </Dialog>
  );
}

function leave(kind: Kind, base: string): void {
  switch (kind) {
    case 'sign-in':
      keepPath();
      location.assign(`${base}reauth?kind=administer`);
      return;
    case 'second-factor-missing':
      location.assign(`${base}account/security`);
      return;
    case 'no-right':
      location.assign(`${base}account/`);
      return;
    case 'failed':
      location.reload();
  }
}
