import type { VNode } from 'preact';
import { Notice } from '../../../src/browser/components/text.tsx';
import { Button } from '../../components/button.tsx';
import { useTexts } from '../i18n/translations.ts';
import { CopyValue } from './copy-button.tsx';

/** A secret that the API shows only now. It is in the memory of this page only. */
export function SecretOnce({
  name,
  secret,
  onClose,
}: {
  /** What the secret is. */
  name: string;
  secret: string;
  /** The user has stored it. */
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  return (
    <Notice kind="success">
      <p>
        <strong>{name}</strong>
      </p>
      <p>
        <CopyValue name={name} value={secret} />
      </p>
      <p>{t('admin.secret.once')}</p>
      <div class="actions">
        <Button kind="secondary" onClick={onClose}>
          {t('admin.secret.stored')}
        </Button>
      </div>
    </Notice>
  );
}
